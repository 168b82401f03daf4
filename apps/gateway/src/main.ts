import { type Config, ConfigError, readConfig } from './config/config';
import { guessEntropyBits } from './config/guess-entropy';
import { createLogger } from './observe/logger';
import { onShutdown } from './process/on-shutdown';
import { printStart } from './process/print-start';
import { runWorker } from './process/run-worker';
import { serveGateway } from './process/serve-gateway';
import { WorkerSupervisor } from './process/supervise-workers';
import { probePorts } from './process/take-port';

const ENOUGH_BITS = 128;

async function main(): Promise<void> {
  // Before any file: everything that this process writes is private to its user.
  process.umask(0o077);
  const config = readConfigOrExit();
  const log = createLogger(config, process.stderr.isTTY === true);
  if (config.workerIndex !== undefined) {
    const worker = await runWorker(config, log);
    // The supervisor passes a SIGHUP on to one worker.
    onShutdown((signal) => worker.shutdown(signal), config.configFile && (() => {}));
    return;
  }
  if (config.ignoredNames.length > 0) {
    log.warn({ names: config.ignoredNames }, 'these settings of the Go project have no effect here');
  }
  for (const { name, meant } of config.misspeltNames) log.warn(`${name} is not known: is ${meant} meant?`);
  warnOfWeakToken(config, log);
  if (config.workers > 1) return supervise(config, log);
  const gateway = await serveGateway({ config, log, sharedPort: false });
  await gateway.keepSecrets();
  await gateway.applyConfig();
  printStart(config, gateway.ports, gateway.secrets);
  tellStarter();
  onShutdown((signal) => gateway.shutdown(signal), config.configFile && (() => void gateway.applyConfig()));
}

/** `bun start` waits for it with its builds. */
function tellStarter(): void {
  process.send?.('ready');
  process.disconnect?.();
}

/** The admin token must resist offline guessing. */
function warnOfWeakToken({ adminToken }: Config, log: ReturnType<typeof createLogger>): void {
  if (adminToken === undefined) return;
  const bits = Math.floor(guessEntropyBits(adminToken));
  if (bits >= ENOUGH_BITS) return;
  log.warn(`ADMIN_TOKEN may be guessed (about ${bits} bits): take a random one, as "openssl rand -hex 32" makes`);
}

async function supervise(config: Config, log: ReturnType<typeof createLogger>): Promise<void> {
  const supervisor = new WorkerSupervisor({
    workers: config.workers,
    env: process.env,
    program: import.meta.path,
    log,
    onReady: (ports, secrets) => {
      printStart(config, ports, secrets);
      tellStarter();
    },
  });
  onShutdown(() => supervisor.stop(), config.configFile && (() => supervisor.applyConfig()));
  process.on('SIGUSR2', () => {
    supervisor.roll().catch((err: unknown) => log.error({ err }, 'the rolling restart failed'));
  });
  try {
    await probePorts(config);
    await supervisor.start();
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
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

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  if (process.env.LOG_LEVEL === 'debug') console.error(error);
  process.exit(1);
});
