import { makeTempDir } from '../store-rows.fixture';

/** A redis-server of one test, with an append-only file, that can be stopped and started again. */
export interface RedisServer {
  readonly url: string;
  start(): Promise<void>;
  /** Stops hard, as a crash would. */
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
  dispose(): Promise<void>;
}

export async function startRedisServer(): Promise<RedisServer> {
  const dir = makeTempDir();
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const { port } = probe;
  probe.stop(true);
  let child: Bun.Subprocess | undefined;
  const server: RedisServer = {
    url: `redis://127.0.0.1:${port}`,
    async start() {
      const flags = [
        '--port',
        String(port),
        '--bind',
        '127.0.0.1',
        '--save',
        '',
        '--appendonly',
        'yes',
        '--appendfsync',
        'always',
      ];
      child = Bun.spawn(['redis-server', ...flags, '--dir', dir.path], { stdout: 'ignore', stderr: 'ignore' });
      await waitForPort(port);
    },
    async kill() {
      child?.kill('SIGKILL');
      await child?.exited;
    },
    freeze: () => child?.kill('SIGSTOP'),
    thaw: () => child?.kill('SIGCONT'),
    async dispose() {
      child?.kill('SIGKILL');
      await child?.exited;
      dir.remove();
    },
  };
  await server.start();
  return server;
}

async function waitForPort(port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    try {
      const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } });
      socket.end();
      return;
    } catch {
      await Bun.sleep(25);
    }
  }
  throw new Error(`redis-server did not start on port ${port}`);
}
