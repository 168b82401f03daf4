import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream';
import { isAll, KIND_VARIABLE } from '../lane';
import { createMigratedDatabase } from '../stores/create-database';
import { hostGateway } from '../stores/host-gateway';
import { removeFolder, temporaryFolder } from '../stores/server-process';
import { Shared } from '../stores/share';
import { callAdmin, type GatewayOptions, type GatewayProcess, startGateway } from '../stores/start-gateway';
import { startRedis } from '../stores/start-redis';
import { startRedisCluster } from '../stores/start-redis-cluster';

/** Both kinds of stores a gateway can run on; every suite in which stores decide something runs over each. */
export const STORE_KINDS = (['embedded', 'real'] as const).filter(
  (kind) => (process.env[KIND_VARIABLE] ?? kind) === kind,
);
/** For suites in which the store decides nothing, such as formats and names. `--all` takes the kind that the daily lane leaves out. */
export const ON_ONE_KIND: readonly StoreKind[] = [isAll ? 'embedded' : 'real'];
/** For such suites with tests of `testApart`, which both kinds must survive. */
export const ON_ONE_KIND_UNLESS_ALL: readonly StoreKind[] = isAll ? STORE_KINDS : ON_ONE_KIND;
/** `cluster`: a real Postgres, and Redis as a cluster of three. */
export type StoreKind = (typeof STORE_KINDS)[number] | 'cluster';

/** A gateway with its stores and a fake vendor, for one suite. */
export interface TestEnvironment {
  readonly upstream: FakeUpstream;
  readonly gateway: GatewayProcess;
  /** What the gateway was started with: another one with it shares its stores. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends the gateway (`-9`, or cleanly) and starts it again on the same data. */
  restart(how: 'kill' | 'stop'): Promise<void>;
  close(): Promise<void>;
}

export interface EnvironmentOptions {
  readonly kind: StoreKind;
  readonly env?: Readonly<Record<string, string>> | ((upstream: Address) => Readonly<Record<string, string>>);
  /** False: of the vendors whose API the fake one speaks only the first is configured. */
  readonly allVendors?: boolean;
  /** Makes the fake vendor a local model server as well, which lists these. */
  readonly localModels?: readonly string[];
  /**
   * In a process of its own, as an operator runs it: for tests that kill it, signal it, or read what it prints. Shared
   * environments have one process for all unless they say so.
   */
  readonly apart?: boolean;
}

const worlds = new Shared<TestEnvironment>(2, ({ gateway }) => gateway.isRunning());

/**
 * What an earlier file has left with the same settings, else a new one; `close` leaves it to the next, without aliases and
 * MCP servers. Keep to projects and keys of your own, and close what else holds for all (prices, breakers) before you leave.
 */
export async function shareEnvironment(options: EnvironmentOptions): Promise<TestEnvironment> {
  const key = JSON.stringify({ ...options, env: settingsOf(options, NO_UPSTREAM) });
  const world = await worlds.take(key, () => startEnvironment({ apart: false, ...options }));
  world.upstream.control.reset();
  return {
    ...world,
    get gateway() {
      return world.gateway;
    },
    close: async () => {
      if (world.gateway.isRunning()) await removeShared(world.gateway);
      await worlds.giveBack(key, world);
    },
  };
}

async function removeShared(gateway: GatewayProcess): Promise<void> {
  for (const path of ['/aliases', '/mcp/servers']) {
    const { data } = await callAdmin<{ data: { id: string }[] }>(gateway, path);
    for (const { id } of data) await callAdmin(gateway, `${path}/${id}`, { method: 'DELETE' });
  }
}

/** Settings that name the fake vendor match although each has a port of its own. */
const NO_UPSTREAM = { url: 'http://upstream', baseUrl: 'http://upstream/v1', port: 0 };

type Address = Pick<FakeUpstream, 'url' | 'baseUrl' | 'port'>;

const settingsOf = ({ env }: EnvironmentOptions, upstream: Address) =>
  typeof env === 'function' ? env(upstream) : env;

/** Suites are about what is decided, and the machine may be busy; how soon, redis-gone.e2e.measure.nightly.test.ts says. */
const UNHURRIED = { LLM0_TEST_ADMIT_DEADLINE_MS: '10000', LLM0_TEST_LOOK_UP_DEADLINE_MS: '5000' };

/** Starts everything; `real` uses TEST_DATABASE_URL and a Redis of its own, so that suites do not meet. */
export async function startEnvironment(options: EnvironmentOptions): Promise<TestEnvironment> {
  const { apart = true } = options;
  const stops: (() => Promise<unknown>)[] = [];
  const stopAll = async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  };
  // Nobody waits for the drain of one beside others; a failure fails the run all the same.
  const close = async () => {
    const stopped = stopAll();
    if (apart) await stopped;
  };
  try {
    const dataDir = temporaryFolder('e2e');
    stops.push(async () => removeFolder(dataDir));
    const storeEnv = options.kind === 'embedded' ? {} : await startStores(stops, options.kind);
    const upstream = startFakeUpstream({ models: options.localModels });
    stops.push(() => upstream.stop());
    const env = {
      OPENAI_API_KEY: 'sk-fake-upstream-key',
      OPENAI_BASE_URL: upstream.baseUrl,
      ...UNHURRIED,
      // Where the servers that tests start listen.
      EGRESS_ALLOW: '127.0.0.1',
      ...(options.allVendors === false ? {} : otherVendors(upstream)),
      ...(options.localModels === undefined ? {} : { OLLAMA_BASE_URL: upstream.url }),
      ...storeEnv,
      ...settingsOf(options, upstream),
    };
    const start = () => (apart ? startGateway : hostGateway)({ dataDir, env });
    let gateway = await start();
    // Its data goes with it: no need to wait for the drain of a process of its own.
    stops.push(() => (apart ? gateway.kill() : gateway.stop()));
    return {
      upstream,
      env,
      get gateway() {
        return gateway;
      },
      restart: async (how) => {
        if (how === 'kill' && !apart) throw new Error('only what runs apart can be killed');
        await gateway[how]();
        gateway = await start();
      },
      close,
    };
  } catch (error) {
    await stopAll();
    throw error;
  }
}

function otherVendors(upstream: FakeUpstream): Record<string, string> {
  return {
    ANTHROPIC_API_KEY: 'sk-ant-fake-upstream-key',
    ANTHROPIC_BASE_URL: upstream.url,
    GEMINI_API_KEY: 'AIza-fake-upstream-key',
    GEMINI_BASE_URL: upstream.url,
    AWS_ACCESS_KEY_ID: 'AKIAFAKEUPSTREAMKEY0',
    AWS_SECRET_ACCESS_KEY: 'fake-upstream-secret-key',
    BEDROCK_REGION: 'eu-central-1',
    BEDROCK_BASE_URL: upstream.url,
  };
}

/** A gateway on a database and a Redis of its own, which end with it: half the work of embedded stores. */
export async function startOnServers(
  env: Readonly<Record<string, string>> = {},
  options: Pick<GatewayOptions, 'onSpawn'> & Pick<EnvironmentOptions, 'apart'> = {},
): Promise<GatewayProcess> {
  const stops: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  };
  try {
    const gateway = await (options.apart ? startGateway : hostGateway)({
      ...options,
      env: { ...UNHURRIED, ...(await startStores(stops, 'real')), ...env },
    });
    return {
      ...gateway,
      stop: () => gateway.stop().finally(close),
      kill: async () => void (await (options.apart ? gateway.kill() : gateway.stop()).finally(close)),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startStores(
  stops: (() => Promise<unknown>)[],
  kind: 'real' | 'cluster',
): Promise<Record<string, string>> {
  const serverUrl = process.env.TEST_DATABASE_URL;
  if (serverUrl === undefined) throw new Error('TEST_DATABASE_URL is not set: run the tests with `bun run test`');
  const database = await createMigratedDatabase(serverUrl);
  stops.push(() => database.drop());
  const redis = await (kind === 'cluster' ? startRedisCluster() : startRedis());
  stops.push(() => redis.stop());
  return {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    REDIS_CLUSTER: String(kind === 'cluster'),
    ENCRYPTION_KEY: 'ab'.repeat(32),
  };
}

export interface Reconciliation {
  readonly ok: boolean;
  readonly queue_depth: number;
  readonly open_holds: number;
  readonly projects: readonly { project_id: string; counter_usd: number; logs_usd: number; diff_usd: number }[];
}

/** Waits until the queue is empty and no hold is open, then gives the ledger. */
export async function settledLedger(gateway: GatewayProcess, timeoutMs = 30_000): Promise<Reconciliation> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const ledger = await callAdmin<Reconciliation>(gateway, '/reconcile');
    if ((ledger.queue_depth === 0 && ledger.open_holds === 0 && ledger.ok) || performance.now() > endMs) return ledger;
    await Bun.sleep(20);
  }
}

export interface LogRow {
  readonly model: string;
  readonly modality: string;
  readonly request_id: string;
  readonly status: string;
  readonly http_status: number;
  readonly cost_usd: number;
  readonly saved_usd: number;
  readonly error_code: string | null;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly cache_hit: boolean;
  readonly cost_estimated: boolean;
  readonly stream: boolean;
  readonly labels: Record<string, string> | null;
  readonly trace_id: string | null;
}

/** All rows that match, page by page. */
export async function allLogs(gateway: GatewayProcess, query: string): Promise<LogRow[]> {
  const rows: LogRow[] = [];
  let cursor: string | null = null;
  do {
    const path: string = `/logs?limit=1000&${query}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
    const page = await callAdmin<{ data: LogRow[]; next_cursor: string | null }>(gateway, path);
    rows.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return rows;
}

/** Waits until the condition holds; throws after `timeoutMs`. */
export async function waitUntil(condition: () => boolean, timeoutMs = 20_000): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > endMs) throw new Error(`not so within ${timeoutMs} ms: ${condition}`);
    await Bun.sleep(10);
  }
}

/** Waits for the row of one request. */
export async function logRow(gateway: GatewayProcess, requestId: string, timeoutMs = 20_000): Promise<LogRow> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const [row] = (await callAdmin<{ data: LogRow[] }>(gateway, `/logs?request_id=${requestId}`)).data;
    if (row !== undefined) return row;
    if (performance.now() > endMs) throw new Error(`no row for ${requestId} within ${timeoutMs} ms`);
    await Bun.sleep(20);
  }
}

/** One chat request as any client would send it. */
export function postChat(
  gateway: Pick<GatewayProcess, 'url'>,
  apiKey: string,
  body: unknown,
  options: { headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...options.headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
    signal: options.signal,
  });
}

/** A request body with one user message. */
export const ask = (text: string, more: Record<string, unknown> = {}) => ({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: text }],
  ...more,
});
