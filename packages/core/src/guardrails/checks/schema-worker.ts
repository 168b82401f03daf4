// A thread that breaks fails the text it had; the next text starts another one.
import { Worker } from 'node:worker_threads';
import type { SchemaJob, SchemaReply } from './schema-thread';

interface WaitingJob {
  readonly job: SchemaJob;
  readonly signal: AbortSignal;
  settle(reply: SchemaReply): void;
}

const MAX_WAITING = 64;

/** One thread for what may take long, a text at a time; started with the first. */
export class SchemaWorker {
  private worker: Worker | undefined;
  private running: WaitingJob | undefined;
  private readonly waiting: WaitingJob[] = [];

  /** What is wrong, as in `JudgeJson`. Throws where the thread fails, has too much to do, or `signal` ends. */
  async judge(job: SchemaJob, signal: AbortSignal): Promise<string | undefined> {
    signal.throwIfAborted();
    if (this.waiting.length >= MAX_WAITING) throw new Error('too many texts wait for their schema');
    const { promise, resolve } = Promise.withResolvers<SchemaReply>();
    const waiting: WaitingJob = { job, signal, settle: resolve };
    const onAbort = () => this.giveUp(waiting);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      this.waiting.push(waiting);
      this.next();
      const reply = await promise;
      signal.throwIfAborted();
      if (reply.type === 'failed') throw new Error(reply.message);
      return reply.reason;
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
    const worker = new Worker(new URL('./schema-thread.ts', import.meta.url), { env: {} });
    worker.on('message', (reply: SchemaReply) => {
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

  private finish(reply: SchemaReply): void {
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
