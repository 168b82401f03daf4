// While the sink is away, items wait and retry at the next tick; items beyond the limits are dropped and counted.
import { writeInHalves } from './in-halves';

export interface BatchWriterOptions<T> {
  /** All or nothing. Throws `RecordsRejectedError` when the items themselves are at fault. */
  write(items: readonly T[]): Promise<void>;
  bytesOf(item: T): number;
  /** Items that will never be written: too many waited, or the sink refuses them. */
  readonly onDrop: (items: number) => void;
  readonly everyMs?: number;
  readonly maxEntries?: number;
  readonly maxBytes?: number;
}

const EVERY_MS = 500;
const MAX_ENTRIES = 1000;
const MAX_BYTES = 16 * 1024 * 1024;
/** Size of one write, which the sink processes at once. */
const BATCH_BYTES = 1024 * 1024;

/**
 * Writes items in background batches. Not durable: items may be lost with the process. A timer runs only while items
 * wait.
 */
export class BatchWriter<T> {
  private waiting: T[] = [];
  /** Bytes of each. */
  private sizes: number[] = [];
  private bytes = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private writing: Promise<void> | undefined;

  constructor(private readonly options: BatchWriterOptions<T>) {}

  /** Waiting items, those being written included. */
  get size(): number {
    return this.waiting.length;
  }

  /** Adds the item, or drops it at the limit. Never throws, never waits. */
  add(item: T): void {
    const { maxEntries = MAX_ENTRIES, maxBytes = MAX_BYTES } = this.options;
    const bytes = this.options.bytesOf(item);
    if (this.waiting.length >= maxEntries || this.bytes + bytes > maxBytes) {
      this.options.onDrop(1);
      return;
    }
    this.waiting.push(item);
    this.sizes.push(bytes);
    this.bytes += bytes;
    if (this.timer === undefined) this.schedule();
  }

  /** Writes waiting items; gives up after `timeoutMs`. */
  async flush(timeoutMs: number): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const deadline = performance.now() + timeoutMs;
    // Twice: a running write doesn't include later items.
    for (let round = 0; round < 2 && this.waiting.length > 0; round++) {
      await Promise.race([this.writeAll(), Bun.sleep(Math.max(0, deadline - performance.now()))]);
    }
  }

  /** Stops scheduling; waiting items are lost. */
  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private schedule(): void {
    if (this.timer !== undefined || this.writing !== undefined) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.writeAll();
    }, this.options.everyMs ?? EVERY_MS);
  }

  private writeAll(): Promise<void> {
    this.writing ??= this.writeBatch().finally(() => {
      this.writing = undefined;
      if (this.waiting.length > 0) this.schedule();
    });
    return this.writing;
  }

  private async writeBatch(): Promise<void> {
    const { write, onDrop } = this.options;
    for (let left = this.waiting.length; left > 0; ) {
      const count = Math.min(left, this.countBatch());
      try {
        await writeInHalves(this.waiting.slice(0, count), write, () => onDrop(1));
      } catch {
        return;
      }
      left -= count;
      for (const bytes of this.sizes.slice(0, count)) this.bytes -= bytes;
      this.waiting = this.waiting.slice(count);
      this.sizes = this.sizes.slice(count);
    }
  }

  /** At least one. */
  private countBatch(): number {
    let bytes = 0;
    const end = this.sizes.findIndex((size) => {
      bytes += size;
      return bytes > BATCH_BYTES;
    });
    return end < 0 ? this.waiting.length : Math.max(1, end);
  }
}
