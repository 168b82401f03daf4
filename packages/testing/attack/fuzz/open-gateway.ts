import { rmSync } from 'node:fs';
import { createAdmin } from '@llm0/gateway/admin/index';
import { createScim } from '@llm0/gateway/admin/scim/create-scim';
import { createSignOn } from '@llm0/gateway/admin/sign-on/routes';
import { createStatsReader } from '@llm0/gateway/admin/stats/answer-stats';
import { createApp, createHotRoutes, createSendAs } from '@llm0/gateway/app';
import { readConfig } from '@llm0/gateway/config/config';
import { startJobs } from '@llm0/gateway/jobs/run-jobs';
import { loadScimLater } from '@llm0/gateway/process/load-admin';
import { createServices } from '@llm0/gateway/services';
import { pino } from 'pino';
import { copyTemplate } from '../../stores/copy-template';
import { temporaryFolder } from '../../stores/server-process';
import { AdminGrammar, type Description } from './admin-requests';
import type { Credentials } from './make-case';
import { answerAsVendor, MCP_PATH } from './vendor-fetch';

/** A whole gateway on embedded stores, without a process and without a network. */
export interface OpenGateway {
  /** As if it had come in. */
  fetch(request: Request): Promise<Response>;
  /** On a port, for bytes that no client library sends. */
  readonly port: number;
  readonly grammar: AdminGrammar;
  readonly credentials: Credentials;
  /** What it logged as an error, since the last time. */
  takeErrors(): readonly string[];
  close(): Promise<void>;
}

const ADMIN_TOKEN = 'fuzz-admin-token-0123456789abcdef';
/** Nobody is there: the vendor answers within this process. */
const VENDOR = 'http://vendor.test';

export async function openGateway(): Promise<OpenGateway> {
  const dataDir = temporaryFolder('fuzz');
  await copyTemplate(dataDir);
  const realFetch = globalThis.fetch;
  globalThis.fetch = answerAsVendor as typeof globalThis.fetch;
  const errors: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void errors.push(line) });
  const config = readConfig({
    ...{
      DATA_DIR: dataDir,
      ADMIN_TOKEN,
      LOG_BODIES: 'true',
      REQUEST_TIMEOUT: '2s',
      ANSWER_TIMEOUT: '2s',
      STREAM_IDLE_TIMEOUT: '2s',
    },
    ...{ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${VENDOR}/v1`, ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: VENDOR },
    ...{ GEMINI_API_KEY: 'k', GEMINI_BASE_URL: VENDOR, LLM0_TEST_FAILURES_PER_SECOND: '1000000' },
    EGRESS_ALLOW: '127.0.0.1',
  });
  const running = await createServices(config, log, 'fuzz');
  const { services, database, tables, providerAdmin, mcpAdmin, backendAdmin, checkUrl, issuers, guardrailChecks } =
    running;
  await running.firstCredentials.issue();
  const jobs = await startJobs(running);
  const adminServices = {
    ...{
      ...services,
      db: database.db,
      reloadTables: services.refreshTables,
      presetChains: tables.presets,
      providerAdmin,
      mcpAdmin,
      backendAdmin,
      checkUrl,
      issuers,
      guardrailChecks,
      sendAs: createSendAs(services),
    },
    stats: createStatsReader(database.db),
  };
  const scim = loadScimLater(async () => createScim(adminServices));
  const app = createApp(services, { admin: createAdmin(adminServices), auth: createSignOn(adminServices), scim });
  const fetch = async (request: Request) => app.fetch(request);
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', routes: createHotRoutes(services), fetch });
  return {
    ...{ fetch, port: server.port ?? 0, ...(await prepare(fetch)) },
    takeErrors: () => errors.splice(0),
    close: async () => {
      await server.stop(true);
      await jobs.stop();
      await running.close();
      globalThis.fetch = realFetch;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Keys to ask with, and things that may be broken. */
async function prepare(fetch: (request: Request) => Promise<Response>) {
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(
      new Request(`http://gateway.test/admin/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
        body: body === undefined ? undefined : JSON.stringify(body),
      }),
    );
    return (await response.json()) as T;
  };
  const createKey = async (settings: object) => {
    const project = await call<{ id: string }>('POST', '/projects', { name: `fuzz ${Math.random()}`, ...settings });
    const key = { name: 'fuzz', rate_limit_per_minute: null, allowed_tools: ['*'], code_mode: true };
    const made = await call<{ id: string; key: string }>('POST', `/projects/${project.id}/keys`, key);
    return { project: project.id, id: made.id, key: made.key };
  };
  await call('POST', '/mcp/servers', { approve: 'all', alias: 'web', url: `http://127.0.0.1:9${MCP_PATH}` });
  const callers = [await createKey({}), await createKey({ strict_caps: true, monthly_cap_usd: 100_000 })];
  const victims = [await createKey({}), await createKey({})];
  const description = await call<Description>('GET', '/openapi.json');
  return {
    grammar: new AdminGrammar(
      description,
      victims.flatMap(({ project, id }) => [project, id]),
    ),
    credentials: { adminToken: ADMIN_TOKEN, apiKeys: callers.map(({ key }) => key) },
  };
}
