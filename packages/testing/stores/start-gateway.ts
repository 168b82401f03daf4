import { join } from 'node:path';
import { RUNTIME_ENVIRONMENT } from '../../../apps/gateway/bin/runtime-environment';
import { copyTemplate } from './copy-template';
import { removeFolder, temporaryFolder } from './server-process';

/** A gateway in a process of its own, as an operator runs it. */
export interface GatewayProcess {
  readonly url: string;
  readonly pid: number;
  readonly dataDir: string;
  /** Printed at the very first start only (the admin token unless one was given). */
  readonly apiKey: string | undefined;
  readonly adminToken: string;
  isRunning(): boolean;
  /** Everything it has printed so far. */
  output(): string;
  /** SIGTERM and a clean end; the data folder stays unless it was made here. */
  stop(): Promise<number>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Its exit code, once it has ended, whatever the cause. */
  readonly exited: Promise<number>;
}

export interface GatewayOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Absent = a temporary one, removed at `stop`. */
  readonly dataDir?: string;
  /** Where it runs, with the `.env` files there; absent = the repository, whose own are the developer's. */
  readonly folder?: string;
  /** Aborted before it is ready: SIGKILL in the middle of its start. */
  readonly signal?: AbortSignal;
  /** Told its process id before it is ready. */
  readonly onSpawn?: (pid: number) => void;
}

const MAIN = join(import.meta.dir, '../../../apps/gateway/src/main.ts');
export const ROOT = join(import.meta.dir, '../../..');
export const TEST_ADMIN_TOKEN = 'test-admin-token-0123456789';
const START_TIMEOUT_MS = 60_000;

/** Nothing of the caller's own stores or keys. */
export const gatewayEnvironment = (more: Readonly<Record<string, string>>): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  ...RUNTIME_ENVIRONMENT,
  ...switchesOfTests(),
  PORT: '0',
  LOG_LEVEL: 'warn',
  ADMIN_TOKEN: TEST_ADMIN_TOKEN,
  ...more,
});

/** As the test command sets them. */
const switchesOfTests = () =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value = '']) =>
      /^(BUN_JSC_|MIMALLOC_|LLM0_TEST_LINGER_MS$)/.test(name) ? [[name, value]] : [],
    ),
  );

/** Starts `main.ts` on a free port and waits for its `ready` line. */
export async function startGateway(options: GatewayOptions = {}): Promise<GatewayProcess> {
  const dataDir = options.dataDir ?? temporaryFolder('gateway');
  if (options.env?.DATABASE_URL === undefined) await copyTemplate(dataDir);
  const { folder } = options;
  const child = Bun.spawn([process.execPath, ...(folder === undefined ? ['--no-env-file'] : []), MAIN], {
    cwd: folder ?? ROOT,
    env: gatewayEnvironment({ DATA_DIR: dataDir, ...options.env }),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  options.onSpawn?.(child.pid);
  const cut = () => child.kill('SIGKILL');
  options.signal?.addEventListener('abort', cut);
  let output = '';
  const ready = Promise.withResolvers<void>();
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      output += decoder.decode(chunk, { stream: true });
      if (/^ready$/m.test(output)) ready.resolve();
    }
  };
  const printed = Promise.all([read(child.stdout), read(child.stderr)]);
  // Its last words may come after its end; what it started may hold its output open.
  void child.exited.then(async (code) => {
    await Promise.race([printed, Bun.sleep(1000)]);
    ready.reject(new Error(`the gateway ended with ${code}:\n${output}`));
  });
  const timer = setTimeout(() => ready.reject(new Error(`the gateway did not start:\n${output}`)), START_TIMEOUT_MS);
  try {
    await ready.promise;
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', cut);
  }
  const line = (name: string) => new RegExp(`^${name}: (\\S+)$`, 'm').exec(output)?.[1];
  const clean = () => {
    if (options.dataDir === undefined) removeFolder(dataDir);
  };
  return {
    url: line('gateway') ?? '',
    pid: child.pid,
    dataDir,
    apiKey: line('api key'),
    adminToken: line('admin token') ?? options.env?.ADMIN_TOKEN ?? TEST_ADMIN_TOKEN,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    output: () => output,
    exited: child.exited,
    stop: async () => {
      child.kill('SIGTERM');
      const code = await child.exited;
      clean();
      return code;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await child.exited;
    },
  };
}

/** The admin API of a gateway under test; throws for anything but a 2xx answer. */
export async function callAdmin<T>(
  gateway: Pick<GatewayProcess, 'url' | 'adminToken'>,
  path: string,
  options: { method?: string; body?: unknown; headers?: Readonly<Record<string, string>> } = {},
): Promise<T> {
  const response = await fetch(`${gateway.url}/admin/v1${path}`, {
    method: options.method ?? (options.body === undefined ? 'GET' : 'POST'),
    // Statistics as they are now, not as they were kept for a dashboard.
    headers: {
      authorization: `Bearer ${gateway.adminToken}`,
      'content-type': 'application/json',
      'cache-control': 'no-cache',
      ...options.headers,
    },
    body: options.body === undefined ? undefined : JSON.stringify(options.body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${options.method ?? 'GET'} ${path}: ${response.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

/** A project with one key, made through the admin API. */
export async function createTestKey(
  gateway: Pick<GatewayProcess, 'url' | 'adminToken'>,
  settings: { project?: Record<string, unknown>; key?: Record<string, unknown> } = {},
): Promise<{ readonly projectId: string; readonly keyId: string; readonly apiKey: string }> {
  const project = await callAdmin<{ id: string }>(gateway, '/projects', {
    body: { name: `test ${crypto.randomUUID()}`, ...settings.project },
  });
  const key = await callAdmin<{ id: string; key: string }>(gateway, `/projects/${project.id}/keys`, {
    body: { name: 'test', rate_limit_per_minute: null, ...settings.key },
  });
  return { projectId: project.id, keyId: key.id, apiKey: key.key };
}
