// A worker that dies is started again with back-off; a rolling restart never has fewer workers than configured.
import type { Logger } from 'pino';
import type { FirstSecrets } from './first-credentials';
import type { Ports } from './print-start';

/** Messages from a worker to the supervisor. */
export type WorkerMessage =
  | { readonly type: 'ready'; readonly ports: Ports; readonly secrets: FirstSecrets }
  | { readonly type: 'metrics-wanted'; readonly id: string }
  | { readonly type: 'metrics'; readonly id: string; readonly metrics: unknown };

/** Messages from the supervisor to workers. */
export type SupervisorMessage =
  | { readonly type: 'apply-config' }
  | { readonly type: 'send-metrics'; readonly id: string }
  | { readonly type: 'all-metrics'; readonly id: string; readonly metrics: readonly unknown[] };

export interface SuperviseOptions {
  readonly workers: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Path of the program each worker runs. */
  readonly program: string;
  readonly log: Logger;
  /** Called once, when every worker is ready. */
  readonly onReady: (ports: Ports, secrets: FirstSecrets) => void;
}

interface Worker {
  readonly child: Bun.Subprocess;
  readonly ready: Promise<Extract<WorkerMessage, { type: 'ready' }>>;
  isReady: boolean;
  /** Set before a stop, so that the exit isn't a crash. */
  leaving: boolean;
  readonly startedMs: number;
  /** Its last answer. */
  metrics?: unknown;
}

/** A pending collection of metrics. */
interface Gathering {
  readonly from: Bun.Subprocess;
  readonly wanted: readonly Worker[];
  readonly answered: Set<Worker>;
}

const RESTART_CEILING_MS = 5000;
/** A worker that ran this long starts over with the shortest back-off. */
const SETTLED_MS = 30_000;
/** Scrapers wait ten seconds by default. */
const METRICS_TIMEOUT_MS = 3000;

/** Runs `workers` processes on one port (SO_REUSEPORT); SIGUSR2 restarts them one by one, SIGTERM ends them all. */
export class WorkerSupervisor {
  private readonly slots: Worker[] = [];
  private readonly gathering = new Map<string, Gathering>();
  private ports: Ports | undefined;
  private backOffMs = 100;
  private stopping = false;
  /** Nobody could apply the configuration file yet. */
  private isApplyDue = false;
  private rolling: Promise<void> | undefined;

  constructor(private readonly options: SuperviseOptions) {}

  /** Resolves when all workers are ready; rejects when the first one can't start. */
  async start(): Promise<void> {
    const first = this.spawn(0, undefined);
    const { ports, secrets } = await first.ready;
    this.ports = ports;
    const others = Array.from({ length: this.options.workers - 1 }, (_, index) => this.spawn(index + 1, ports));
    await Promise.all(others.map((worker) => worker.ready));
    this.options.onReady(ports, secrets);
  }

  /** One by one: a new worker is ready before the old one is asked to drain. */
  roll(): Promise<void> {
    this.rolling ??= this.rollAll().finally(() => {
      this.rolling = undefined;
    });
    return this.rolling;
  }

  private async rollAll(): Promise<void> {
    for (let index = 0; index < this.options.workers && !this.stopping; index++) {
      const old = this.slots[index];
      const fresh = this.spawn(index, this.ports);
      await fresh.ready;
      if (old === undefined) continue;
      old.leaving = true;
      old.child.kill('SIGTERM');
      await old.child.exited;
    }
  }

  async stop(): Promise<void> {
    this.stopping = true;
    for (const worker of this.slots) {
      worker.leaving = true;
      worker.child.kill('SIGTERM');
    }
    await Promise.all(this.slots.map((worker) => worker.child.exited));
  }

  /** Any worker that is ready will do; without one, the next. */
  applyConfig(): void {
    const worker = this.slots.find(({ isReady, leaving }) => isReady && !leaving);
    this.isApplyDue = worker === undefined;
    if (worker !== undefined) send(worker.child, { type: 'apply-config' });
  }

  pids(): readonly number[] {
    return this.slots.map((worker) => worker.child.pid);
  }

  private spawn(index: number, ports: Ports | undefined): Worker {
    const { env, program } = this.options;
    const ready = Promise.withResolvers<Extract<WorkerMessage, { type: 'ready' }>>();
    const child = Bun.spawn([process.execPath, '--no-env-file', program], {
      env: {
        ...{ ...env, LLM0_WORKER: String(index) },
        // Only the first worker shows the created credentials.
        ...(ports === undefined ? { LLM0_FIRST_WORKER: 'true' } : { LLM0_FIRST_WORKER: 'false', ...portsAsSet(ports) }),
      },
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'inherit',
      ipc: (message: WorkerMessage, from) => {
        if (message.type !== 'ready') return this.gather(message, from);
        worker.isReady = true;
        ready.resolve(message);
        if (this.isApplyDue) this.applyConfig();
      },
    });
    const state = { isReady: false, leaving: false, startedMs: performance.now() };
    const worker: Worker = { child, ready: ready.promise, ...state };
    worker.ready.catch(() => {});
    this.slots[index] = worker;
    void child.exited.then((code) => {
      worker.isReady = false;
      ready.reject(new Error(`worker ${index} ended with ${code} before it was ready`));
      if (!worker.leaving && this.ports !== undefined) void this.replace(index, worker, code);
    });
    return worker;
  }

  private async replace(index: number, dead: Worker, code: number): Promise<void> {
    if (performance.now() - dead.startedMs > SETTLED_MS) this.backOffMs = 100;
    this.options.log.error({ worker: index, code, againInMs: this.backOffMs }, 'a worker died and is started again');
    await Bun.sleep(this.backOffMs);
    this.backOffMs = Math.min(RESTART_CEILING_MS, this.backOffMs * 2);
    if (!this.stopping && this.slots[index] === dead) this.spawn(index, this.ports);
  }

  /** Collects all workers' metrics for the worker that received /metrics. */
  private gather(message: Exclude<WorkerMessage, { type: 'ready' }>, from: Bun.Subprocess): void {
    if (message.type === 'metrics-wanted') {
      this.gathering.set(message.id, { from, wanted: [...this.slots], answered: new Set() });
      for (const worker of this.slots) send(worker.child, { type: 'send-metrics', id: message.id });
      setTimeout(() => this.finishGathering(message.id), METRICS_TIMEOUT_MS);
      return;
    }
    const open = this.gathering.get(message.id);
    const worker = open?.wanted.find(({ child }) => child === from);
    if (open === undefined || worker === undefined) return;
    worker.metrics = message.metrics;
    open.answered.add(worker);
    if (open.answered.size >= open.wanted.length) this.finishGathering(message.id);
  }

  /** Last values of a worker too busy to answer: falling counters would look like a restart. */
  private finishGathering(id: string): void {
    const open = this.gathering.get(id);
    if (open === undefined) return;
    this.gathering.delete(id);
    const metrics = open.wanted.flatMap((worker) => (worker.metrics === undefined ? [] : [worker.metrics]));
    send(open.from, { type: 'all-metrics', id, metrics });
  }
}

/** All workers share the first one's ports. */
const portsAsSet = ({ port, adminPort }: Ports) => ({
  PORT: String(port),
  ...(adminPort === undefined ? {} : { ADMIN_PORT: String(adminPort) }),
});

/** A dying worker can't receive messages; that is harmless. */
function send(child: Bun.Subprocess, message: SupervisorMessage): void {
  try {
    child.send(message);
  } catch {
    // The exit handler deals with it.
  }
}
