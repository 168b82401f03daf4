import { version } from '../package.json';
import { createAdmin } from './admin/index';
import { createApp, createHotRoutes } from './app';
import { bootstrap, type FirstSecrets } from './bootstrap';
import { type Config, ConfigError, readConfig } from './config';
import { startJobs } from './jobs/run-jobs';
import { createLogger } from './logger';
import { createServices, type RunningServices } from './services';

/** Seconds Bun keeps an idle connection: longer than any pause a stream may make. */
const IDLE_TIMEOUT_SECONDS = 255;
const FLUSH_TIMEOUT_MS = 5000;
const READINESS_GRACE_MS = 250;

async function main(): Promise<void> {
  const config = readConfigOrExit();
  const log = createLogger(config, process.stderr.isTTY === true);
  if (config.ignoredNames.length > 0) {
    log.warn({ names: config.ignoredNames }, 'these settings of the Go project have no effect here');
  }
  const running = await createServices(config, log, version);
  const secrets = await bootstrap(running.database.db, { hasAdminToken: config.adminToken !== undefined });
  const jobs = config.backgroundWorkers ? await startJobs(running) : undefined;
  const app = createApp(running.services, createAdmin(adminServices(running)));
  const server = Bun.serve({
    port: config.port,
    hostname: config.host,
    idleTimeout: IDLE_TIMEOUT_SECONDS,
    // The pipeline bounds bodies itself, so that a refusal comes in the envelope and leaves its row.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    tls: config.tls && { cert: Bun.file(config.tls.certFile), key: Bun.file(config.tls.keyFile) },
    routes: createHotRoutes(running.services),
    fetch: app.fetch,
    error: (cause) => {
      log.error({ err: cause }, 'a response could not be sent');
      return new Response(null, { status: 500 });
    },
  });
  printStart(config, server.port ?? config.port, secrets);
  onShutdown(async (signal) => {
    log.info({ signal, open: running.services.activity.count }, 'draining');
    const idle = running.services.activity.drain(config.drainTimeoutMs);
    // Load balancers learn from /readyz first; only then is the listener closed.
    await Bun.sleep(READINESS_GRACE_MS);
    const closed = server.stop(false);
    closed.catch(() => {});
    if (!(await idle)) log.warn({ open: running.services.activity.count }, 'drain timed out, cutting what is left');
    await server.stop(true);
    await running.services.hotStore.flush(FLUSH_TIMEOUT_MS);
    await jobs?.stop();
    await running.close();
    log.info('stopped');
  });
}

function adminServices(running: RunningServices): Parameters<typeof createAdmin>[0] {
  const { services, database, tables } = running;
  return { ...services, db: database.db, reloadTables: () => tables.reload() };
}

function readConfigOrExit(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}

/** The lines an operator (or a script) reads; `ready` is the last. */
function printStart(config: Config, port: number, secrets: FirstSecrets): void {
  const scheme = config.tls === undefined ? 'http' : 'https';
  const host = config.host === '0.0.0.0' || config.host === '::' ? '127.0.0.1' : config.host;
  const url = `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  console.log(`gateway: ${url}`);
  console.log(`dashboard: ${url}/`);
  if (secrets.adminToken !== undefined) console.log(`admin token: ${secrets.adminToken}`);
  if (secrets.apiKey !== undefined) {
    const model = config.demoProvider ? 'demo-chat' : 'gpt-4o-mini';
    console.log(`api key: ${secrets.apiKey}`);
    console.log(`
curl ${url}/v1/chat/completions \\
  -H "Authorization: Bearer ${secrets.apiKey}" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"${model}","messages":[{"role":"user","content":"Hello!"}]}'
`);
  }
  console.log('ready');
}

/** Runs the shutdown once, however many signals come; a second one ends the process at once. */
function onShutdown(shutdown: (signal: string) => Promise<void>): void {
  let stopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(1);
      stopping = true;
      shutdown(signal).then(
        () => process.exit(0),
        (error: unknown) => {
          console.error(error);
          process.exit(1);
        },
      );
    });
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  if (process.env.LOG_LEVEL === 'debug') console.error(error);
  process.exit(1);
});
