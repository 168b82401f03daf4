// If the thread fails, waiting callers get the error and the next question starts another.
import type { Worker } from 'node:worker_threads';

/** Idle time before the thread and its connections end. */
const IDLE_MS = 5 * 60_000;

export interface AskedThreadOptions {
  readonly start: () => Worker;
  /** The thread could not start, or ended by itself. Called once until a thread answers again. */
  readonly onBroken?: (error: Error) => void;
  readonly idleMs?: number;
}

/** For a thread with connections of its own. */
export interface DatabaseThreadOptions extends Partial<AskedThreadOptions> {
  readonly databaseUrl: string;
  /** Variables for the Postgres client. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A question in the thread. */
export interface Asked<Question> {
  readonly id: number;
  readonly question: Question;
}

export type Reply<Answer> =
  | { readonly id: number; readonly answer: Answer }
  /** `code` of the client or SQLSTATE. */
  | { readonly id: number; readonly message: string; readonly code: string | undefined };

/** Answers in a thread of its own, started by the first question. */
export class AskedThread<Question, Answer> {
  private worker: Worker | undefined;
  private readonly waiting = new Map<number, PromiseWithResolvers<Answer>>();
  private nextId = 0;
  private idle: ReturnType<typeof setTimeout> | undefined;
  private isBroken = false;

  constructor(private readonly options: AskedThreadOptions) {}

  /** Throws errors of the database with their code, and an error if the thread fails. */
  async ask(question: Question): Promise<Answer> {
    clearTimeout(this.idle);
    const worker = this.worker ?? this.start();
    const id = this.nextId++;
    const waiting = Promise.withResolvers<Answer>();
    this.waiting.set(id, waiting);
    const asked: Asked<Question> = { id, question };
    worker.postMessage(asked);
    return waiting.promise;
  }

  stop(): void {
    this.end(new Error('The gateway is stopping.'));
  }

  private start(): Worker {
    try {
      const worker = this.options.start();
      worker.on('message', (reply: Reply<Answer>) => this.onReply(reply));
      worker.on('error', (error: Error) => this.onBroken(worker, error));
      worker.on('exit', () => this.onBroken(worker, new Error('the thread ended')));
      worker.unref();
      this.worker = worker;
      return worker;
    } catch (error) {
      this.complain(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
  }

  private onReply(reply: Reply<Answer>): void {
    this.isBroken = false;
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
    if (this.worker !== worker) return;
    this.end(error);
    this.complain(error);
  }

  private complain(error: Error): void {
    if (!this.isBroken) this.options.onBroken?.(error);
    this.isBroken = true;
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
