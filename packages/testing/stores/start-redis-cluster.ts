import { createConnection } from 'node:net';
import { freePort, runCommand, type TestServer } from './server-process';
import { startRedis } from './start-redis';

const NODES = 3;
const READY_TIMEOUT_MS = 30_000;

export interface RedisCluster {
  /** Of one node: clients learn the others from it. */
  readonly url: string;
  readonly nodes: readonly TestServer[];
  stop(): Promise<void>;
}

/** Three masters on free ports, without replicas. Throws `CannotStartError` when there is no redis-server. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const nodes: TestServer[] = [];
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    for (let index = 0; index < NODES; index++) {
      const [port, bus] = [await freePort(), await freePort()];
      const args = ['--cluster-enabled', 'yes', '--cluster-port', String(bus), '--cluster-node-timeout', '3000'];
      nodes.push(await startRedis({ port, args }));
    }
    const [first] = nodes;
    if (first === undefined) throw new Error('a cluster needs nodes');
    await joinNodes(nodes.map(({ port }) => `127.0.0.1:${port}`));
    await waitForCluster(nodes);
    return { url: first.url, nodes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function joinNodes(addresses: readonly string[]): Promise<void> {
  const cli = Bun.which('redis-cli') ?? Bun.which('valkey-cli') ?? 'redis-cli';
  const { code, stdout, stderr } = await runCommand([cli, '--cluster', 'create', ...addresses, '--cluster-yes']);
  if (code !== 0) throw new Error(`the cluster could not be made: ${stdout}\n${stderr}`);
}

/** Every node knows that all slots are served. */
async function waitForCluster(nodes: readonly TestServer[]): Promise<void> {
  const endMs = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const states = await Promise.all(nodes.map(({ port }) => askNode(port, 'CLUSTER INFO')));
    if (states.every((text) => text.includes('cluster_state:ok'))) return;
    if (performance.now() > endMs) throw new Error('the cluster was not ready in time');
    await Bun.sleep(100);
  }
}

/** One inline command; its raw reply. */
function askNode(port: number, command: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = createConnection(port, '127.0.0.1', () => socket.write(`${command}\r\n`));
  socket.setTimeout(1_000, () => resolve(''));
  socket.once('data', (data) => resolve(data.toString()));
  socket.once('error', () => resolve(''));
  return promise.finally(() => socket.destroy());
}
