// The worker breaks or can't load its model: texts get no vector, and after a pause the next text starts a new one.
import { Worker } from 'node:worker_threads';
import { type EmbedJob, type EmbedReply, type EmbedText, type EmbedWorkerSettings, END } from './embed-messages';
import { type Embedder, type EmbedOutcome, none } from './embedder';
import { type WaitingText, WaitingTexts } from './waiting-texts';

export interface LocalEmbedderOptions extends EmbedWorkerSettings {
  readonly model: string;
  /** Once per broken worker. */
  readonly onBroken: (message: string) => void;
  /** Texts that may wait; the next one is `busy`. */
  readonly maxQueued?: number;
  /** Pause after a broken worker in milliseconds. */
  readonly restartAfterMs?: number;
}

/** Batch of the worker: enough to stay busy, few enough to skip late texts. */
const BATCH = 8;
const RESTART_AFTER_MS = 10_000;

/** A sentence-embedding model in a worker thread, loaded with the first text. */
export class LocalEmbedder implements Embedder {
  readonly model: string;
  private worker: Worker | undefined;
  private readonly queue: WaitingTexts;
  private readonly running = new Map<number, WaitingText>();
  private nextId = 0;
  private brokenAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: LocalEmbedderOptions) {
    this.model = options.model;
    this.queue = new WaitingTexts(options.maxQueued);
  }

  /** Texts that wait or are being embedded. */
  get size(): number {
    return this.queue.size + this.running.size;
  }

  /** `anyLanguage`: also for an English-only model. */
  embed(text: string, deadlineMs: number, anyLanguage = false): Promise<EmbedOutcome> {
    const refused =
      this.queue.refusal(text) ?? (this.worker !== undefined || this.start() ? undefined : none('failed'));
    if (refused !== undefined) return Promise.resolve(refused);
    const outcome = this.queue.add(text, deadlineMs, anyLanguage);
    this.hand();
    return outcome;
  }

  stop(): void {
    this.end();
    this.brokenAtMs = Number.POSITIVE_INFINITY;
  }

  private start(): boolean {
    const { restartAfterMs = RESTART_AFTER_MS, modelPath, englishOnly } = this.options;
    if (performance.now() - this.brokenAtMs < restartAfterMs) return false;
    const worker = new Worker(new URL('./embed-worker.ts', import.meta.url), { env: {} });
    this.worker = worker;
    worker.on('message', (reply: EmbedReply) => this.onReply(reply));
    worker.on('error', (error: Error) => this.onBroken(worker, error.message));
    worker.on('exit', () => this.onBroken(worker, 'the worker ended'));
    worker.unref();
    const settings: EmbedWorkerSettings = { modelPath, englishOnly };
    worker.postMessage(settings);
    return true;
  }

  private onReply(reply: EmbedReply): void {
    if (reply.type === 'ready') return;
    if (reply.type === 'broken') {
      if (this.worker !== undefined) this.onBroken(this.worker, reply.message);
      return;
    }
    const { id, ...outcome } = reply;
    this.running.get(id)?.settle(outcome);
    this.running.delete(id);
    this.hand();
  }

  /** Refills the worker at half of its batch. */
  private hand(): void {
    if (this.queue.size === 0 || this.running.size > BATCH / 2) return;
    const texts = this.queue.take(BATCH - this.running.size).map((waiting): EmbedText => {
      const id = this.nextId++;
      this.running.set(id, waiting);
      return { id, text: waiting.text, anyLanguage: waiting.anyLanguage };
    });
    const job: EmbedJob = { texts };
    this.worker?.postMessage(job);
  }

  private onBroken(worker: Worker, message: string): void {
    if (this.worker !== worker) return;
    this.brokenAtMs = performance.now();
    this.end();
    this.options.onBroken(message);
  }

  private end(): void {
    const worker = this.worker;
    this.worker = undefined;
    // Terminated inside the model, it would take the whole process with it.
    worker?.postMessage(END);
    const waiting = [...this.queue.take(this.queue.size), ...this.running.values()];
    for (const { settle } of waiting) settle(none('failed'));
    this.running.clear();
  }
}
