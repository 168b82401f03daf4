// A thread that breaks fails the text it had; the next text starts another one.
import { Worker } from 'node:worker_threads';
import type { ThreadJob, ThreadReply } from './check-thread';

interface WaitingJob {
  readonly job: ThreadJob;
  readonly signal: AbortSignal;
  settle(reply: ThreadReply): void;
}

const MAX_WAITING = 64;

type ReplyTo<T extends ThreadJob> = Extract<
  ThreadReply,
  { readonly type: T['type'] extends 'schema' ? 'judged' : 'found' }
>;

/** One thread for slow checks, one text at a time; starts on first use. */
export class CheckWorker {
  private worker: Worker | undefined;
  private running: WaitingJob | undefined;
  private readonly waiting: WaitingJob[] = [];

  /** Throws where the thread fails, has too much to do, or `signal` ends. */
  async ask<T extends ThreadJob>(job: T, signal: AbortSignal): Promise<ReplyTo<T>> {
    signal.throwIfAborted();
    if (this.waiting.length >= MAX_WAITING) throw new Error('too many texts wait for this check');
    const { promise, resolve } = Promise.withResolvers<ThreadReply>();
    const waiting: WaitingJob = { job, signal, settle: resolve };
    const onAbort = () => this.giveUp(waiting);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      this.waiting.push(waiting);
      this.next();
      const reply = await promise;
      signal.throwIfAborted();
      if (reply.type === 'failed') throw new Error(reply.message);
      return reply as ReplyTo<T>;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  stop(): void {
    this.end('the thread was stopped');
    for (const { settle } of this.waiting.splice(0)) settle({ type: 'failed', message: 'the thread was stopped' });
  }

  private next(): void {
    if (this.running !== undefined) return;
    this.running = this.waiting.shift();
    if (this.running === undefined) return;
    this.worker ??= this.start();
    this.worker.postMessage(this.running.job);
  }

  private start(): Worker {
    const worker = new Worker(new URL('./check-thread.ts', import.meta.url), { env: {} });
    worker.on('message', (reply: ThreadReply) => {
      if (this.worker !== worker) return;
      this.finish(reply);
    });
    const onBroken = (message: string) => {
      if (this.worker !== worker) return;
      this.end(message);
      this.next();
    };
    worker.on('error', (error: Error) => onBroken(error.message));
    worker.on('exit', () => onBroken('the thread ended'));
    worker.unref();
    return worker;
  }

  private finish(reply: ThreadReply): void {
    const { running } = this;
    this.running = undefined;
    running?.settle(reply);
    this.next();
  }

  private giveUp(given: WaitingJob): void {
    const at = this.waiting.indexOf(given);
    if (at >= 0) this.waiting.splice(at, 1);
    given.settle({ type: 'failed', message: 'given up' });
    if (this.running !== given) return;
    this.end('given up');
    this.next();
  }

  private end(message: string): void {
    const { worker, running } = this;
    this.worker = undefined;
    this.running = undefined;
    void worker?.terminate();
    running?.settle({ type: 'failed', message });
  }
}

/** Thread of this process. */
export const checkThread = new CheckWorker();
