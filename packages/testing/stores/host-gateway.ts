import { join } from 'node:path';
import { copyTemplate } from './copy-template';
import { GATEWAY_FIELD, type Order, type Report } from './gateway-orders';
import { removeFolder, temporaryFolder } from './server-process';
import { type GatewayOptions, type GatewayProcess, gatewayEnvironment, ROOT, TEST_ADMIN_TOKEN } from './start-gateway';

const PROGRAM = join(import.meta.dir, 'serve-gateways.ts');

type Waiting = PromiseWithResolvers<Report>;

/** One process for all gateways of this one that nobody has to kill or to signal. */
class Host {
  private readonly waiting = new Map<number, Waiting>();
  private readonly lines: string[] = [];
  private nextId = 0;
  private readonly child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>;

  constructor() {
    this.child = Bun.spawn([process.execPath, '--no-env-file', PROGRAM], {
      cwd: ROOT,
      env: gatewayEnvironment({}),
      stdio: ['ignore', 'pipe', 'pipe'],
      ipc: (report: Report) => this.receive(report),
    });
    this.child.unref();
    for (const stream of [this.child.stdout, this.child.stderr]) void this.read(stream);
    void this.child.exited.then((code) => {
      const problem = `the process of shared gateways ended with ${code}:\n${this.lines.join('\n')}`;
      for (const [id, waiting] of this.waiting) waiting.resolve({ id, problem });
    });
  }

  get pid(): number {
    return this.child.pid;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  newId(): number {
    return ++this.nextId;
  }

  async ask(order: Order): Promise<Report> {
    const waiting = Promise.withResolvers<Report>();
    this.waiting.set(order.id, waiting);
    this.child.send(order);
    const report = await waiting.promise;
    if (report.problem !== undefined) throw new Error(`the gateway did not ${order.do}: ${report.problem}`);
    return report;
  }

  /** What the gateway of that id has logged. */
  linesOf(id: number): string {
    const mark = `"${GATEWAY_FIELD}":${id},`;
    return this.lines.filter((line) => line.includes(mark)).join('\n');
  }

  private receive(report: Report): void {
    const waiting = this.waiting.get(report.id);
    this.waiting.delete(report.id);
    waiting?.resolve(report);
  }

  private async read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of stream) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      this.lines.push(...parts);
    }
  }
}

let host: Host | undefined;

/** A gateway as `startGateway` starts it, beside others in one process: half a second less each, and no cold code. */
export async function hostGateway(options: Pick<GatewayOptions, 'env' | 'dataDir'> = {}): Promise<GatewayProcess> {
  const dataDir = options.dataDir ?? temporaryFolder('gateway');
  if (options.env?.DATABASE_URL === undefined) await copyTemplate(dataDir);
  if (host?.isRunning !== true) host = new Host();
  const running = host;
  const id = running.newId();
  const env = gatewayEnvironment({ DATA_DIR: dataDir, ...options.env });
  const { url = '' } = await running.ask({ do: 'serve', id, env });
  const exited = Promise.withResolvers<number>();
  let isServing = true;
  const stop = async () => {
    isServing = false;
    await running.ask({ do: 'stop', id });
    if (options.dataDir === undefined) removeFolder(dataDir);
    exited.resolve(0);
    return 0;
  };
  return {
    url,
    pid: running.pid,
    dataDir,
    apiKey: undefined,
    adminToken: env.ADMIN_TOKEN ?? TEST_ADMIN_TOKEN,
    isRunning: () => isServing && running.isRunning,
    output: () => running.linesOf(id),
    exited: exited.promise,
    stop,
    kill: async () => void (await stop()),
  };
}
