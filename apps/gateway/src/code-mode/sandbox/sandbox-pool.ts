// A sandbox breaks or is terminated: its run fails and a new sandbox replaces it. If none starts, runs end as `busy`
// after a while.
import { SANDBOX_LIMITS, type SandboxLimits } from './sandbox-messages';
import { type SandboxJob, type SandboxOutcome, SandboxWorker } from './sandbox-worker';

export interface SandboxPoolOptions {
  readonly size?: number;
  readonly limits?: Partial<SandboxLimits>;
  /** Wait of a run for a sandbox, in milliseconds. */
  readonly waitMs?: number;
  /** Lifetime of idle sandboxes in milliseconds. */
  readonly idleMs?: number;
}

const SIZE = 8;
const WAIT_MS = 10_000;
const IDLE_MS = 5 * 60_000;
const MAX_WAITING = 64;
/** After a sandbox that was never ready, in milliseconds. */
const RESTART_AFTER_MS = 1000;

interface Waiting {
  readonly job: SandboxJob;
  readonly take: (worker: SandboxWorker | undefined) => void;
}

/** Warm sandboxes, each for one run at a time. The first run starts them; they end when idle. */
export class SandboxPool {
  private readonly limits: SandboxLimits;
  private readonly size: number;
  private readonly all = new Set<SandboxWorker>();
  /** The longest idle one comes first. */
  private readonly ready: SandboxWorker[] = [];
  private readonly known = new WeakSet<SandboxWorker>();
  private readonly waiting: Waiting[] = [];
  private readonly runsOf = new Map<string, number>();
  private module: WebAssembly.Module | undefined;
  private running = 0;
  private idle: ReturnType<typeof setTimeout> | undefined;
  private restart: ReturnType<typeof setTimeout> | undefined;
  private isClosed = false;

  constructor(private readonly options: SandboxPoolOptions = {}) {
    this.limits = { ...SANDBOX_LIMITS, ...options.limits };
    this.size = options.size ?? SIZE;
  }

  /** For tests and gauges. */
  get counts(): { readonly ready: number; readonly running: number; readonly waiting: number } {
    return { ready: this.ready.length, running: this.running, waiting: this.waiting.length };
  }

  /** Never throws. */
  async run(job: SandboxJob): Promise<SandboxOutcome> {
    const startedMs = performance.now();
    clearTimeout(this.idle);
    this.fill();
    const worker = await this.take(job);
    if (worker === undefined) {
      const reason = job.signal.aborted ? 'stopped' : 'busy';
      return { reason, text: '', logs: [], calls: 0, durationMs: performance.now() - startedMs };
    }
    try {
      return await worker.run(job);
    } finally {
      this.leave(job.owner);
    }
  }

  /** Starts the sandboxes before the first request. */
  warm(): void {
    this.fill();
    this.rest();
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.restart);
    this.endAll();
    for (const { take } of this.waiting.splice(0)) take(undefined);
  }

  private take(job: SandboxJob): Promise<SandboxWorker | undefined> {
    if (this.isClosed || job.signal.aborted || this.waiting.length >= MAX_WAITING) return Promise.resolve(undefined);
    const { promise, resolve } = Promise.withResolvers<SandboxWorker | undefined>();
    const waiting: Waiting = { job, take: resolve };
    this.waiting.push(waiting);
    const giveUp = () => {
      const at = this.waiting.indexOf(waiting);
      if (at < 0) return;
      this.waiting.splice(at, 1);
      resolve(undefined);
      this.rest();
    };
    const timer = setTimeout(giveUp, this.options.waitMs ?? WAIT_MS);
    job.signal.addEventListener('abort', giveUp, { once: true });
    this.hand();
    return promise.finally(() => {
      clearTimeout(timer);
      job.signal.removeEventListener('abort', giveUp);
    });
  }

  /** Serves the longest wait first, except owners at their limit. */
  private hand(): void {
    const most = Math.max(1, this.size / 2);
    while (this.ready.length > 0) {
      const at = this.waiting.findIndex(({ job }) => (this.runsOf.get(job.owner) ?? 0) < most);
      if (at < 0) return;
      const [next] = this.waiting.splice(at, 1);
      const worker = this.ready.shift();
      if (next === undefined || worker === undefined) return;
      const { owner } = next.job;
      this.runsOf.set(owner, (this.runsOf.get(owner) ?? 0) + 1);
      this.running++;
      next.take(worker);
    }
  }

  private leave(owner: string): void {
    this.running--;
    const left = (this.runsOf.get(owner) ?? 1) - 1;
    if (left > 0) this.runsOf.set(owner, left);
    else this.runsOf.delete(owner);
    this.hand();
    this.rest();
  }

  private rest(): void {
    clearTimeout(this.idle);
    if (this.running > 0 || this.waiting.length > 0 || this.isClosed) return;
    this.idle = setTimeout(() => this.endAll(), this.options.idleMs ?? IDLE_MS);
    this.idle.unref();
  }

  private endAll(): void {
    clearTimeout(this.idle);
    const all = [...this.all];
    this.all.clear();
    this.ready.length = 0;
    for (const worker of all) worker.end();
  }

  /** The first sandbox compiles QuickJS; others reuse the module. */
  private fill(): void {
    if (this.isClosed || this.restart !== undefined) return;
    const most = this.module === undefined ? 1 : this.size;
    while (this.all.size < most) this.start();
  }

  private start(): void {
    const worker = new SandboxWorker({
      limits: this.limits,
      module: this.module,
      onReady: (ready, module) => this.onReady(ready, module),
      onGone: (gone) => this.onGone(gone),
    });
    this.all.add(worker);
  }

  private onReady(worker: SandboxWorker, module: WebAssembly.Module | undefined): void {
    this.module ??= module;
    if (!this.all.has(worker)) return;
    this.known.add(worker);
    this.ready.push(worker);
    this.hand();
    this.fill();
  }

  private onGone(worker: SandboxWorker): void {
    const at = this.ready.indexOf(worker);
    if (at >= 0) this.ready.splice(at, 1);
    if (!this.all.delete(worker)) return;
    if (this.known.has(worker)) {
      this.fill();
      return;
    }
    this.restart ??= setTimeout(() => {
      this.restart = undefined;
      if (this.waiting.length > 0) this.fill();
    }, RESTART_AFTER_MS);
  }
}
