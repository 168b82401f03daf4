import { gatewayEnvironment, ROOT } from './start-gateway';

/** `id`: one of each thing that is served. */
export type Order<T> = ({ readonly do: 'serve' } & T) | { readonly do: 'stop' };

/** What an order came to. */
export interface Report {
  readonly id: number;
  /** Where it is served. */
  readonly address?: string;
  readonly problem?: string;
}

/** Serves what another process orders of this one; ends with it. */
export function takeOrders<T>(serve: (order: T, id: number) => Promise<{ address: string; stop(): Promise<unknown> }>) {
  const serving = new Map<number, () => Promise<unknown>>();
  const follow = async (id: number, order: Order<T>): Promise<Omit<Report, 'id'>> => {
    if (order.do === 'stop') {
      await serving.get(id)?.();
      serving.delete(id);
      return {};
    }
    const { address, stop } = await serve(order, id);
    serving.set(id, stop);
    return { address };
  };
  process.umask(0o077);
  process.on('disconnect', () => process.exit(0));
  process.on('message', async ({ id, order }: { readonly id: number; readonly order: Order<T> }) => {
    const report = await follow(id, order).catch((error) => ({ problem: String(error?.message ?? error) }));
    process.send?.({ id, ...report });
  });
}

const isRunning = ({ exitCode, signalCode }: Bun.Subprocess) => exitCode === null && signalCode === null;

/** One process that serves many things, one after another and side by side. */
export class OrderedProcess<T> {
  private readonly waiting = new Map<number, PromiseWithResolvers<Report>>();
  private readonly lines: string[] = [];
  private nextId = 0;
  private child: Bun.Subprocess<'ignore', 'pipe', 'pipe'> | undefined;

  constructor(private readonly program: string) {}

  /** Serves what is ordered until `stop`. */
  async serve(order: T) {
    const child = this.child !== undefined && isRunning(this.child) ? this.child : this.start();
    const id = ++this.nextId;
    const { address = '' } = await this.ask(child, id, { do: 'serve', ...order });
    return {
      ...{ address, id, pid: child.pid },
      isRunning: () => isRunning(child),
      stop: () => this.ask(child, id, { do: 'stop' }),
    };
  }

  /** Lines that it has printed so far and that contain this text. */
  linesWith(text: string): string {
    return this.lines.filter((line) => line.includes(text)).join('\n');
  }

  private start(): Bun.Subprocess<'ignore', 'pipe', 'pipe'> {
    const child = Bun.spawn([process.execPath, '--no-env-file', this.program], {
      cwd: ROOT,
      env: gatewayEnvironment({}),
      stdio: ['ignore', 'pipe', 'pipe'],
      ipc: (report: Report) => {
        this.waiting.get(report.id)?.resolve(report);
        this.waiting.delete(report.id);
      },
    });
    child.unref();
    for (const stream of [child.stdout, child.stderr]) void this.read(stream);
    void child.exited.then((code) => {
      const problem = `${this.program} ended with ${code}:\n${this.lines.slice(-50).join('\n')}`;
      for (const [id, waiting] of this.waiting) waiting.resolve({ id, problem });
    });
    this.child = child;
    return child;
  }

  private async ask(child: Bun.Subprocess, id: number, order: Order<T>): Promise<Report> {
    const waiting = Promise.withResolvers<Report>();
    this.waiting.set(id, waiting);
    child.send({ id, order });
    const report = await waiting.promise;
    if (report.problem !== undefined) throw new Error(`cannot ${order.do}: ${report.problem}`);
    return report;
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
