import type { HotStore } from '@llm0/core/limits/hot-store';
import type { Database } from '@llm0/drizzle/client';
import { listOpenBatches, type StoredBatch } from '@llm0/drizzle/queries/batches/batches';
import type { Logger } from 'pino';
import { BatchQueue, type Chunk } from './batch-queue';

/** Lines that one run takes. */
const LINES_A_CHUNK = 200;
/** Tells other processes to look for batches. */
const TOPIC = 'batches';

export interface BatchWorkOptions {
  readonly database: Pick<Database, 'db' | 'client' | 'kind'>;
  readonly databaseUrl: string | undefined;
  readonly hotStore: Pick<HotStore, 'notify' | 'onNotify'>;
  readonly log: Pick<Logger, 'error' | 'warn'>;
  readonly nowMs: () => number;
  /** False: this process runs none. */
  readonly isEnabled: boolean;
}

/** Runs batches in this process. Without any, no queue is loaded or polled. */
export class BatchWork {
  private run: ((chunk: Chunk, signal: AbortSignal) => Promise<void>) | undefined;
  private queue: Promise<BatchQueue> | undefined;
  private readonly stopping = new AbortController();
  private stopListening = () => {};

  constructor(private readonly options: BatchWorkOptions) {}

  /** Takes up open batches, also of processes that are gone, and from now on new ones. */
  async begin(run: (chunk: Chunk, signal: AbortSignal) => Promise<void>): Promise<void> {
    this.run = run;
    const { hotStore, isEnabled, log } = this.options;
    if (!isEnabled) return;
    const open = async () => {
      try {
        (await this.openQueue()).wake();
      } catch (err) {
        log.error({ err }, 'the queue of batches could not be opened');
      }
    };
    this.stopListening = hotStore.onNotify((topic) => {
      if (topic === TOPIC) void open();
    });
    if ((await listOpenBatches(this.options.database.db)).length > 0) void open();
  }

  /** Hands all lines to the queue. */
  async enqueue(batch: StoredBatch): Promise<void> {
    const queue = await this.openQueue();
    await queue.add(chunksOf(batch));
    await this.options.hotStore.notify(TOPIC);
  }

  /** Looks soon whether the batch is at its end. */
  async advance({ id: batchId }: Pick<StoredBatch, 'id'>): Promise<void> {
    await (await this.openQueue()).addAgain({ batchId, from: 0, to: 0 });
    await this.options.hotStore.notify(TOPIC);
  }

  /** Looks for the batch at its vendor in a while. */
  async lookAgain({ id: batchId }: Pick<StoredBatch, 'id'>, waitMs: number): Promise<void> {
    const atMs = this.options.nowMs() + waitMs;
    await (await this.openQueue()).addAgain({ ...LOOK, batchId, atMs });
  }

  /** Runs the chunk in a while. */
  async runAgain(chunk: Chunk, waitMs: number): Promise<void> {
    await (await this.openQueue()).addAgain({ ...chunk, atMs: this.options.nowMs() + waitMs });
  }

  /** Lines under way end; others wait for the next process. */
  async stop(timeoutMs: number): Promise<void> {
    this.stopListening();
    this.stopping.abort();
    const queue = await this.queue?.catch(() => undefined);
    await queue?.close(timeoutMs);
  }

  private openQueue(): Promise<BatchQueue> {
    this.queue ??= this.openNew().catch((error: unknown) => {
      this.queue = undefined;
      throw error;
    });
    return this.queue;
  }

  private async openNew(): Promise<BatchQueue> {
    const { database, databaseUrl, isEnabled, log } = this.options;
    const { signal } = this.stopping;
    const queue = await BatchQueue.open({
      ...{ database, databaseUrl },
      run: isEnabled ? async (chunk) => this.run?.(chunk, signal) : undefined,
      onError: (err) => log.warn({ err }, 'the queue of batches had an error, and goes on'),
    });
    for (const batch of await listOpenBatches(database.db)) await queue.add(chunksOf(batch));
    return queue;
  }
}

/** Not lines, but a look at the vendor. */
const LOOK = { from: -1, to: -1 } as const;

/** All lines, and a look at the end of its time. */
function chunksOf({ id: batchId, total, expiresAtMs, forwarded }: StoredBatch): readonly Chunk[] {
  const chunks: Chunk[] = [{ batchId, from: 0, to: 0, atMs: expiresAtMs }];
  const isAway = forwarded !== null && forwarded.state !== 'taken';
  if (isAway) chunks.push({ ...LOOK, batchId });
  if (isAway && !(forwarded.state === 'sent' && forwarded.hasOwn)) return chunks;
  for (let from = 0; from < total; from += LINES_A_CHUNK) {
    chunks.push({ batchId, from, to: Math.min(from + LINES_A_CHUNK, total), ...(isAway ? { isOwn: true } : {}) });
  }
  return chunks;
}
