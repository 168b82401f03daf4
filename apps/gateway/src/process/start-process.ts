import { type Config, ConfigError, readConfig } from '../config/config';
import { guessEntropyBits } from '../config/guess-entropy';
import { createLogger } from '../observe/logger';
import { printStart } from './print-start';
import { runWorker } from './run-worker';
import { serveGateway } from './serve-gateway';
import { type HangUps, onShutdown } from './signals';
import { WorkerSupervisor } from './supervise-workers';
import { probePorts } from './take-port';

const ENOUGH_BITS = 128;

type Env = Readonly<Record<string, string | undefined>>;

export interface ProcessParts {
  readonly env: Env;
  /** Path of the program, for workers. */
  readonly program: string;
  /** Taken already, where they don't end the process. */
  readonly hangUps: HangUps;
}

/** Starts what the environment says: a gateway, one of its workers, or their supervisor. Ends the process if it can't. */
export async function startProcess(parts: ProcessParts): Promise<void> {
  try {
    await start(parts);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    if (parts.env.LOG_LEVEL === 'debug') console.error(error);
    process.exit(1);
  }
}

async function start(parts: ProcessParts): Promise<void> {
  // Before any file: everything that this process writes is private to its user.
  process.umask(0o077);
  const config = readConfigOrExit(parts.env);
  const log = createLogger(config, process.stderr.isTTY === true);
  if (config.workerIndex !== undefined) {
    const worker = await runWorker(config, log);
    // The supervisor passes a SIGHUP on to one worker.
    onShutdown((signal) => worker.shutdown(signal), shutdownOptions(config));
    return;
  }
  if (config.ignoredNames.length > 0) {
    log.warn({ names: config.ignoredNames }, 'these settings of the Go project have no effect here');
  }
  for (const { name, meant } of config.misspeltNames) log.warn(`${name} is not known: is ${meant} meant?`);
  for (const warning of config.warnings) log.warn(warning);
  warnOfWeakToken(config, log);
  if (config.workers > 1) return supervise(config, log, parts);
  const gateway = await serveGateway({ config, log, sharedPort: false });
  await gateway.keepSecrets();
  await gateway.applyConfig();
  printStart(config, gateway.ports, gateway.secrets);
  tellStarter();
  onShutdown((signal) => gateway.shutdown(signal), shutdownOptions(config));
  parts.hangUps.answer(() => void gateway.applyConfig());
}

const shutdownOptions = ({ configFile }: Config) => ({ onHangUp: configFile === undefined });

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

async function supervise(config: Config, log: ReturnType<typeof createLogger>, parts: ProcessParts): Promise<void> {
  const supervisor = new WorkerSupervisor({
    workers: config.workers,
    env: parts.env,
    program: parts.program,
    log,
    onReady: (ports, secrets) => {
      printStart(config, ports, secrets);
      tellStarter();
    },
  });
  onShutdown(() => supervisor.stop(), shutdownOptions(config));
  parts.hangUps.answer(() => supervisor.applyConfig());
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

function readConfigOrExit(env: Env): Config {
  try {
    return readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}
