// While the collector is away, rows wait within limits; further ones are dropped and counted. Requests and the drain
// never wait.
import { inTime } from '@llm0/core/async/in-time';
import type { Delivery, LossReason } from './otlp-client';

export interface ExportQueueOptions<T> {
  /** Encodes and sends a batch; returns the outcome. */
  deliver(items: readonly T[], signal: AbortSignal): Promise<Delivery>;
  /** Items that a taken request did not take after all. */
  rejectedOf(response: Uint8Array): number;
  onTaken(items: number): void;
  onLost(items: number, reason: LossReason, detail: string): void;
  /** Bytes of an item, about. */
  bytesOf(item: T): number;
  /** Counts from the first item, unless a batch fills earlier. */
  readonly delayMs: number;
  readonly maxWaiting?: number;
  readonly maxBytes?: number;
  readonly batchSize?: number;
  /** Minimum wait of each item; default 0: full batches go at once. */
  readonly leastAgeMs?: number;
}

/** Two seconds of two thousand requests each: four megabytes of usual rows. */
const MAX_WAITING = 4_096;
const MAX_BYTES = 16 * 1024 * 1024;
const BATCH_SIZE = 512;

interface Waiting<T> {
  readonly item: T;
  readonly bytes: number;
  readonly atMs: number;
}

/** Exports in batches, one after the other. A timer runs only while something waits. */
export class ExportQueue<T> {
  private waiting: Waiting<T>[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private sending: Promise<void> | undefined;
  private readonly stopped = new AbortController();
  private isClosing = false;
  private bytes = 0;

  constructor(private readonly options: ExportQueueOptions<T>) {}

  get size(): number {
    return this.waiting.length;
  }

  /** Never throws, never waits. */
  add(items: readonly T[]): void {
    if (items.length === 0) return;
    if (this.stopped.signal.aborted) {
      this.options.onLost(items.length, 'shutdown', 'the gateway stops');
      return;
    }
    const { maxWaiting = MAX_WAITING, maxBytes = MAX_BYTES, batchSize = BATCH_SIZE, leastAgeMs = 0 } = this.options;
    const atMs = performance.now();
    let dropped = 0;
    for (const item of items) {
      const bytes = this.options.bytesOf(item);
      if (this.waiting.length >= maxWaiting || this.bytes + bytes > maxBytes) {
        dropped += 1;
        continue;
      }
      this.bytes += bytes;
      this.waiting.push({ item, bytes, atMs });
    }
    if (dropped > 0) this.options.onLost(dropped, 'queue_full', 'the collector takes less than there is');
    if (leastAgeMs === 0 && this.waiting.length >= batchSize) void this.sendAll();
    else this.schedule();
  }

  /** Sends all waiting rows; those left after `timeoutMs`, and later ones, are lost. */
  async close(timeoutMs: number): Promise<void> {
    clearTimeout(this.timer);
    this.isClosing = true;
    const sendRest = async () => {
      await this.sending;
      await this.sendAll();
    };
    await inTime(sendRest(), timeoutMs, () => this.stopped.abort());
    this.stopped.abort();
    await this.sending;
    clearTimeout(this.timer);
    if (this.waiting.length > 0) this.options.onLost(this.waiting.length, 'shutdown', 'the gateway stops');
    this.waiting = [];
  }

  private schedule(): void {
    if (this.timer !== undefined || this.sending !== undefined || this.stopped.signal.aborted) return;
    const { delayMs, leastAgeMs = 0 } = this.options;
    this.timer = setTimeout(() => void this.sendAll(), Math.max(delayMs, leastAgeMs));
    this.timer.unref();
  }

  private sendAll(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.sending ??= this.sendBatches(this.countRipe()).finally(() => {
      this.sending = undefined;
      if (this.waiting.length > 0) this.schedule();
    });
    return this.sending;
  }

  /** The first items, which have waited long enough. */
  private countRipe(): number {
    const { leastAgeMs = 0 } = this.options;
    if (leastAgeMs === 0 || this.isClosing) return this.waiting.length;
    const untilMs = performance.now() - leastAgeMs;
    const young = this.waiting.findIndex(({ atMs }) => atMs > untilMs);
    return young < 0 ? this.waiting.length : young;
  }

  /** `count`: rows to send now, plus full batches that arrive meanwhile. */
  private async sendBatches(count: number): Promise<void> {
    const { deliver, batchSize = BATCH_SIZE, leastAgeMs = 0, onTaken, onLost } = this.options;
    let left = count;
    const isFull = () => leastAgeMs === 0 && this.waiting.length >= batchSize;
    while (this.waiting.length > 0 && (left > 0 || isFull())) {
      if (this.stopped.signal.aborted) return;
      const batch = this.take(left > 0 ? Math.min(left, batchSize) : batchSize);
      left -= batch.length;
      const delivery = await deliver(
        batch.map(({ item }) => item),
        this.stopped.signal,
      ).catch(failed);
      if (delivery.type === 'lost' && delivery.reason === 'unreachable' && this.putBack(batch)) {
        left += batch.length;
        continue;
      }
      if (delivery.type === 'lost') {
        onLost(batch.length, delivery.reason, delivery.detail);
        continue;
      }
      const rejected = this.rejectedOf(delivery.response, batch.length);
      onTaken(batch.length - rejected);
      if (rejected > 0) onLost(rejected, 'rejected', 'the collector took a part of a batch');
    }
  }

  private take(count: number): readonly Waiting<T>[] {
    const taken = this.waiting.splice(0, count);
    for (const { bytes } of taken) this.bytes -= bytes;
    return taken;
  }

  /** Returns a batch to the front for a later try. false if newer rows fill the queue. */
  private putBack(batch: readonly Waiting<T>[]): boolean {
    const { maxWaiting = MAX_WAITING, maxBytes = MAX_BYTES } = this.options;
    const bytes = batch.reduce((sum, one) => sum + one.bytes, 0);
    if (this.stopped.signal.aborted || this.isClosing) return false;
    if (this.waiting.length + batch.length > maxWaiting || this.bytes + bytes > maxBytes) return false;
    this.waiting = [...batch, ...this.waiting];
    this.bytes += bytes;
    return true;
  }

  private rejectedOf(response: Uint8Array, most: number): number {
    try {
      return Math.min(most, Math.max(0, this.options.rejectedOf(response)));
    } catch {
      return 0;
    }
  }
}

const failed = (error: unknown): Delivery => ({
  type: 'lost',
  reason: 'refused',
  detail: `spans could not be encoded: ${error instanceof Error ? error.name : 'unknown'}`,
});
