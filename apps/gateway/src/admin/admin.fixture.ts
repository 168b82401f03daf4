import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecretVault, type SecretVault } from '@llm0/core/keys/secret-vault';
import { EmbeddedHotStore } from '@llm0/core/limits/embedded/embedded-hot-store';
import { makeTempDir, StoredRows } from '@llm0/core/limits/store-rows.fixture';
import { TurnQueue } from '@llm0/core/limits/turn-queue';
import { createPriceBook } from '@llm0/core/pricing/price-book';
import { Peers } from '@llm0/core/routing/places/peers';
import { createRoutingTables } from '@llm0/core/routing/routing-tables';
import type { TargetStatus } from '@llm0/core/routing/target-health';
import type { Database } from '@llm0/drizzle/client';
import { storeLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { listMcpServers } from '@llm0/drizzle/queries/mcp/servers';
import { listApprovedTools } from '@llm0/drizzle/queries/mcp/tools';
import { listBackends } from '@llm0/drizzle/queries/routing/backends';
import { listKeysToConnect } from '@llm0/drizzle/queries/routing/provider-keys';
import { listProviders } from '@llm0/drizzle/queries/routing/providers';
import { createProviderRegistry } from '@llm0/providers/registry';
import { checkOperatorUrl } from '@llm0/providers/transport/egress/check-operator-url';
import { readEgressAllow } from '@llm0/providers/transport/egress/egress-allow';
import type { TestDatabaseKind } from '@llm0/testing/stores/test-databases';
import type { Hono } from 'hono';
import { pino } from 'pino';
import { BackendAdmin } from '../backends/backend-admin';
import { BackendTable } from '../backends/backend-table';
import { BatchWork } from '../batches/queue/batch-work';
import { openFileStore } from '../files/file-store';
import { createMcp } from '../mcp/create-mcp';
import { McpAdmin } from '../mcp/mcp-admin';
import { createJudge } from '../mcp/servers/judge-tools';
import { ServerTable } from '../mcp/servers/server-table';
import { ProviderConnections } from '../providers/connections';
import { readPresetChains } from '../providers/preset-chains';
import { ProviderAdmin } from '../providers/provider-admin';
import { SlotTable } from '../providers/slot-table';
import { RunBudgets } from '../services/run-budgets';
import { Issuers } from '../sign-on/issuers';
import type { AdminServices } from './admin-services';
import { parseMoneyAsText } from './fields/json-money';
import { buildAdmin } from './index';
import { createStatsReader } from './stats/answer-stats';

export const ENV_TOKEN = 'the-admin-token-of-the-environment';

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever JSON came back
type AnyJson = any;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed; money stays the text it was written as. */
  readonly body: AnyJson;
}

export interface CallOptions {
  readonly body?: unknown;
  /** Sent as it is. */
  readonly rawBody?: string;
  /** null sends none. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly address?: string;
}

export interface AdminUnderTest {
  readonly services: AdminServices & { hotStore: EmbeddedHotStore };
  readonly database: Database;
  /** How often the tables were read again. */
  readonly reloads: () => number;
  readonly notified: readonly string[];
  /** Calls of webhooks, in order. */
  readonly webhooks: readonly { readonly url: string; readonly body: object }[];
  /** State of failing targets. */
  readonly targets: TargetStatus[];
  /** Providers whose targets were said to be well. */
  readonly restored: string[];
  /** Steps the clock of sign-in throttling. */
  advanceClock(ms: number): void;
  /** `path` without `/v1`. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  request: Hono['request'];
  /** A project and its id. */
  createProject(settings?: object): Promise<AnyJson>;
  close(): Promise<void>;
}

export interface AdminOptions {
  readonly vault?: SecretVault;
  /** MCP_STDIO. */
  readonly mayRunServers?: boolean;
  /** Of the backend that the environment defines. */
  readonly backendUrl?: string;
  /** OIDC_* of the environment. */
  readonly signOn?: Partial<AdminServices['config']['signOn']>;
}

/** Providers without anything from the environment; this machine itself may be reached. */
function createDesk({ vault = createSecretVault(new Uint8Array(32).fill(7)), backendUrl }: AdminOptions) {
  const shared = { registry: createProviderRegistry(), vault, egress: readEgressAllow(['127.0.0.1']), fetch };
  const connections = new ProviderConnections({
    ...shared,
    config: { providers: [], demoProvider: false },
    secrets: {
      prepare: async () => {},
      read: () => undefined,
      renew: async () => undefined,
      isAway: () => false,
      problemOf: () => undefined,
    },
    slots: new SlotTable(new Peers(), new TurnQueue()),
    monotonicMs: () => performance.now(),
    log: pino({ level: 'silent' }),
  });
  const servers = new ServerTable(vault, pino({ level: 'silent' }));
  const backends = new BackendTable({
    ...{ settings: [{ name: 'fixed', url: backendUrl ?? 'http://127.0.0.1:9' }], monotonicMs: () => performance.now() },
    ...{ vault, egress: shared.egress, fetch, log: pino({ level: 'silent' }) },
  });
  return {
    connections,
    servers,
    backends,
    backendAdmin: new BackendAdmin({ table: backends, vault }),
    egress: shared.egress,
    vault,
    providerAdmin: new ProviderAdmin({ ...shared, connections, testTimeoutMs: 2000, maxAnswerBytes: 1024 * 1024 }),
  };
}

/** The admin API over a real database and the embedded hot store. */
export async function openAdmin(kind: TestDatabaseKind, options: AdminOptions = {}): Promise<AdminUnderTest> {
  const database = await kind.open();
  const { connections, servers, backends, backendAdmin, providerAdmin, ...desk } = createDesk(options);
  const folder = makeTempDir();
  const hotStore = new EmbeddedHotStore({ dataDir: folder.path });
  await hotStore.start(new StoredRows());
  const notified: string[] = [];
  const webhooks: { url: string; body: object }[] = [];
  hotStore.onNotify((topic) => notified.push(topic));
  const targets: TargetStatus[] = [];
  const restored: string[] = [];
  const log = pino({ level: 'silent' });
  const monotonicMs = () => performance.now();
  const mayRunServers = options.mayRunServers ?? false;
  const mcp = createMcp({
    ...{ hotStore, egress: desk.egress, fetch, monotonicMs, log, version: '9.9.9' },
    programs: mayRunServers ? { env: {}, folder: join(tmpdir(), 'llm0-mcp') } : undefined,
    ...{ db: database.db, vault: desk.vault, nowMs: Date.now, publicUrl: 'http://gateway.test' },
    servers: servers.current,
    pinsOf: servers.pinsOf,
    judge: createJudge({ db: database.db, table: servers, monotonicMs, log }),
  });
  let reloads = 0;
  let clockMs = 0;
  const clock = { nowMs: Date.now, monotonicMs: () => clockMs };
  const signOn = { isRequired: false, publicUrl: undefined, reauthAfterMs: 30 * 60_000, ...options.signOn };
  const checkUrl = (url: string) => checkOperatorUrl(url, desk.egress);
  const services = {
    db: database.db,
    // On a busy machine every answer would be slow, and repeated.
    stats: createStatsReader(database.db, Number.POSITIVE_INFINITY),
    hotStore,
    warmCache: { flush: async () => {} },
    semanticCache: { flush: async () => {} },
    log,
    clock,
    issuers: new Issuers({ config: { signOn }, providerAdmin, checkUrl, fetch: globalThis.fetch, clock }),
    createId: () => Bun.randomUUIDv7(),
    config: {
      adminToken: ENV_TOKEN,
      signOn,
      environment: 'local',
      cacheTtlSeconds: 3600,
      cacheMaxBytes: 1000,
      logRetentionDays: 90,
      logBodies: false,
      logBodiesTtlDays: 7,
      requestTimeoutMs: 30_000,
      answerTimeoutMs: 600_000,
      workers: 1,
      trustProxyHops: 1,
      port: 8080,
    },
    fetch: globalThis.fetch,
    postWebhook: async (url: string, body: object) => {
      webhooks.push({ url, body });
    },
    reloadTables: async () => {
      reloads += 1;
      connections.load(await listProviders(database.db), await listKeysToConnect(database.db));
      servers.load(await listMcpServers(database.db), await listApprovedTools(database.db));
      backends.load(await listBackends(database.db));
    },
    connect: () => undefined,
    routing: () => createRoutingTables({ providers: new Map(), prices: createPriceBook([], new Set()) }),
    presetChains: await readPresetChains(),
    providerAdmin,
    backendAdmin,
    checkUrl,
    guardrailChecks: {},
    files: { store: openFileStore({ folder: '/nowhere' }) },
    batches: {
      db: database.db,
      work: new BatchWork({
        nowMs: Date.now,
        database,
        databaseUrl: undefined,
        hotStore,
        log: pino({ level: 'silent' }),
        isEnabled: false,
      }),
    },
    runs: new RunBudgets({ db: database.db, hotStore, clock: { nowMs: Date.now, monotonicMs } }),
    mcpAdmin: new McpAdmin({
      ...desk,
      registry: mcp.registry,
      servers: mcp.servers,
      consents: mcp.oauth.consents,
      mayRunServers,
    }),
    health: { list: () => targets, restore: async (provider: string) => void restored.push(provider) },
    sendAs: {
      chat: async () => Response.json({}),
      images: async () => Response.json({}),
      speech: async () => Response.json({}),
      models: async () => Response.json({}),
      mcp: async () => Response.json({}),
    },
    version: '9.9.9',
  };
  const admin = buildAdmin(services);
  const call = (method: string, path: string, options: CallOptions = {}) => send(admin, method, path, options);
  return {
    services,
    database,
    reloads: () => reloads,
    notified,
    webhooks,
    targets,
    restored,
    advanceClock: (ms) => {
      clockMs += ms;
    },
    call,
    request: admin.request,
    createProject: async (settings = {}) => {
      const answer = await call('POST', '/projects', { body: { name: 'test', ...settings } });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body;
    },
    close: async () => {
      mcp.close();
      await hotStore.close();
      folder.remove();
      await database.close();
    },
  };
}

async function send(admin: Hono, method: string, path: string, options: CallOptions): Promise<Answer> {
  const headers = new Headers(options.headers);
  const token = options.token === undefined ? ENV_TOKEN : options.token;
  if (token !== null) headers.set('authorization', `Bearer ${token}`);
  const body = options.rawBody ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const address = options.address ?? '203.0.113.1';
  const server = { requestIP: () => ({ address }) };
  const response = await admin.request(`/v1${path}`, { method, headers, body }, server);
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? parseMoneyAsText(text) : undefined,
  };
}

/** Writes rows as the log drain does. */
export function storeRecords(admin: AdminUnderTest, records: readonly object[]) {
  return storeLogRecords(
    admin.database.db,
    records.map((record) => JSON.stringify(record)),
  );
}
