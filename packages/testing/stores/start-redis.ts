import { connect } from 'node:net';
import {
  CannotStartError,
  endProcess,
  freePort,
  installPackages,
  removeFolder,
  type TestServer,
  temporaryFolder,
  waitUntilReady,
} from './server-process';

export interface RedisOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** Keep data here across restarts (`appendonly yes`, fsync always); default: nothing is kept. */
  readonly dataDir?: string;
  /** Further `redis-server` arguments, e.g. `--cluster-enabled yes`. */
  readonly args?: readonly string[];
}

/** A Redis (or Valkey) of one's own on 127.0.0.1, `noeviction`. Throws `CannotStartError` when none can be had. */
export async function startRedis(options: RedisOptions = {}): Promise<TestServer> {
  const binary = await findRedis();
  const port = options.port ?? (await freePort());
  const folder = options.dataDir ?? temporaryFolder('redis');
  const keep =
    options.dataDir === undefined ? ['--appendonly', 'no'] : ['--appendonly', 'yes', '--appendfsync', 'always'];
  const child = Bun.spawn(
    [
      binary,
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--daemonize', 'no'],
      ...['--maxmemory-policy', 'noeviction', '--loglevel', 'warning'],
      ...keep,
      ...(options.args ?? []),
    ],
    { stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' },
  );
  const stop = async () => {
    await endProcess(child, 'SIGTERM');
    if (options.dataDir === undefined) removeFolder(folder);
  };
  try {
    await waitUntilReady('redis-server', child, () => answersPing(port));
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `redis://127.0.0.1:${port}`, port, pid: child.pid, stop };
}

async function findRedis(): Promise<string> {
  const find = () => Bun.which('redis-server') ?? Bun.which('valkey-server');
  const found = find();
  if (found !== null) return found;
  if (await installPackages(['redis-server'])) {
    const installed = find();
    if (installed !== null) return installed;
  }
  throw new CannotStartError('no redis-server here: install Redis or Valkey 7 or later, or set TEST_REDIS_URL');
}

function answersPing(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
  socket.setTimeout(500, () => resolve(false));
  socket.once('data', (data) => resolve(data.toString().startsWith('+PONG')));
  socket.once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}
