// If the thread fails, waiting callers get the error and the next question starts another.
import { Worker } from 'node:worker_threads';
import type { StatsAnswer, StatsQuestion, StatsReader } from '../admin/stats/answer-stats';
import type { StatsThreadReply, StatsThreadSettings } from './messages';

/** Idle time before the thread and its connections end. */
const IDLE_MS = 5 * 60_000;

export interface StatsThreadOptions extends StatsThreadSettings {
  /** Variables for the Postgres client. */
  readonly env?: Readonly<Record<string, string>>;
  readonly idleMs?: number;
}

type BytesAnswer = StatsAnswer<Uint8Array<ArrayBuffer>>;
type Waiting = PromiseWithResolvers<BytesAnswer>;

/**
 * Answers in a thread of its own, started by the first question: adding up and writing a thousand buckets takes
 * milliseconds that requests would wait for.
 */
export class StatsThread implements StatsReader {
  private worker: Worker | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private nextId = 0;
  private idle: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: StatsThreadOptions) {}

  /** Bytes of JSON. Throws errors of the database with their code. */
  answer(question: StatsQuestion): Promise<BytesAnswer> {
    clearTimeout(this.idle);
    this.worker ??= this.start();
    const id = this.nextId++;
    const waiting: Waiting = Promise.withResolvers();
    this.waiting.set(id, waiting);
    this.worker.postMessage({ id, question });
    return waiting.promise;
  }

  stop(): void {
    this.end(new Error('The gateway is stopping.'));
  }

  private start(): Worker {
    const { databaseUrl, env = {} } = this.options;
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { env });
    worker.on('message', (reply: StatsThreadReply) => this.onReply(reply));
    worker.on('error', (error: Error) => this.onBroken(worker, error));
    worker.on('exit', () => this.onBroken(worker, new Error('the thread for statistics ended')));
    worker.unref();
    const settings: StatsThreadSettings = { databaseUrl };
    worker.postMessage(settings);
    return worker;
  }

  private onReply(reply: StatsThreadReply): void {
    const waiting = this.waiting.get(reply.id);
    this.waiting.delete(reply.id);
    if (this.waiting.size === 0) {
      this.idle = setTimeout(() => this.stop(), this.options.idleMs ?? IDLE_MS);
      this.idle.unref();
    }
    if ('answer' in reply) waiting?.resolve(reply.answer);
    else waiting?.reject(Object.assign(new Error(reply.message), { code: reply.code }));
  }

  private onBroken(worker: Worker, error: Error): void {
    if (this.worker === worker) this.end(error);
  }

  private end(reason: Error): void {
    clearTimeout(this.idle);
    const worker = this.worker;
    this.worker = undefined;
    void worker?.terminate();
    for (const { reject } of this.waiting.values()) reject(reason);
    this.waiting.clear();
  }
}
