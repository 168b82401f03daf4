import { type GatewayProcess, startGateway } from '../stores/start-gateway';

const AGAIN_MS = 250;
const HEALTH_TIMEOUT_MS = 1_000;

/** One gateway, started again whenever it is gone, as a supervisor would. */
export class Replica {
  private gateway: GatewayProcess | undefined;
  private starting: Promise<void> | undefined;
  private ended = false;
  private cutNextStartAfterMs: number | undefined;
  private earlierOutput = '';
  /** Moments of a `kill -9`, epoch ms. */
  killedAtMs = 0;
  /** False from a kill or stop until the next `ready`. */
  isUp = false;
  /** Ends that nobody asked for. */
  crashes = 0;

  constructor(
    readonly name: string,
    private readonly options: { readonly dataDir: string; readonly env: Readonly<Record<string, string>> },
  ) {}

  get process(): GatewayProcess | undefined {
    return this.isUp ? this.gateway : undefined;
  }

  /** Resolves once it is ready, however often that takes. */
  start(): Promise<void> {
    this.starting ??= this.keepStarting().finally(() => {
      this.starting = undefined;
    });
    return this.starting;
  }

  /** SIGKILL, and at once a new process on the same data. */
  async kill(): Promise<void> {
    this.isUp = false;
    this.killedAtMs = Date.now();
    await this.gateway?.kill();
    this.killedAtMs = Date.now();
    await this.start();
  }

  /** SIGKILL, and another one so many milliseconds into the start after it. */
  async killAlsoWhileStarting(afterMs: number): Promise<void> {
    this.cutNextStartAfterMs = afterMs;
    await this.kill();
  }

  /** SIGTERM, a drain to its end, and a new process; returns how the old one ended. */
  async terminate(): Promise<number> {
    const old = this.gateway;
    this.isUp = false;
    const code = (await old?.stop()) ?? 0;
    await this.start();
    return code;
  }

  /** Does it decide right now? */
  async isDeciding(): Promise<boolean> {
    const gateway = this.process;
    if (gateway === undefined) return false;
    try {
      const response = await fetch(`${gateway.url}/healthz`, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
      const health = (await response.json()) as { backends: { hot_store: { ok: boolean } } };
      return health.backends.hot_store.ok;
    } catch {
      return false;
    }
  }

  /** Everything its processes have printed. */
  output(): string {
    return this.earlierOutput + (this.gateway?.output() ?? '');
  }

  async dispose(): Promise<void> {
    this.ended = true;
    await this.starting?.catch(() => {});
    this.isUp = false;
    await this.gateway?.kill();
  }

  /** A process that ends by itself is a bug; it is started again all the same. */
  private watch(gateway: GatewayProcess): void {
    void gateway.exited.then(() => {
      if (!this.isUp || this.gateway !== gateway || this.ended) return;
      this.crashes++;
      this.isUp = false;
      void this.start();
    });
  }

  private takeCut(): AbortSignal | undefined {
    const afterMs = this.cutNextStartAfterMs;
    this.cutNextStartAfterMs = undefined;
    return afterMs === undefined ? undefined : AbortSignal.timeout(afterMs);
  }

  private async keepStarting(): Promise<void> {
    while (!this.ended) {
      this.earlierOutput += this.gateway?.output() ?? '';
      this.gateway = undefined;
      try {
        this.gateway = await startGateway({ ...this.options, signal: this.takeCut() });
        this.isUp = true;
        this.watch(this.gateway);
        return;
      } catch (error) {
        this.earlierOutput += `${error instanceof Error ? error.message : String(error)}\n`;
        await Bun.sleep(AGAIN_MS);
      }
    }
  }
}
