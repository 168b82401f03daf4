import { ReleasingMap } from '../../collections/linked-set';
import type { QueuedRecord } from '../../logs/log-queue';

/** A reader that has not acknowledged for this long counts as dead. */
const REDELIVER_MS = 30_000;

interface QueueEntry {
  readonly id: number;
  readonly record: string;
  readonly queuedAtMs: number;
  deliveredAtMs: number | undefined;
}

/** First new number for entries whose number occurs twice in a journal. */
const RENUMBERED_FROM = 2 ** 40;

/** The queue in memory; the store journals its changes. */
export class EmbeddedLogQueue {
  private readonly entries = new ReleasingMap<number, QueueEntry>();
  private unread: QueueEntry[] = [];
  private highestId = 0;
  private renumbered = 0;
  private waiters: (() => void)[] = [];

  get size(): number {
    return this.entries.size;
  }

  /** The number of the next entry: above all that the journal has given, acknowledged ones too. */
  get nextId(): number {
    return this.highestId + 1;
  }

  /**
   * Journals of 0.1 restarted at 1 and could acknowledge unread entries. A repeated number returns under a new one,
   * acknowledged or not; rows are deduplicated by request.
   */
  push(record: string, nowMs: number, givenId: number): void {
    const isGivenTwice = givenId <= this.highestId;
    const id = isGivenTwice ? RENUMBERED_FROM + this.renumbered++ : givenId;
    if (!isGivenTwice) this.highestId = id;
    const entry = { id, record, queuedAtMs: nowMs, deliveredAtMs: undefined };
    this.entries.set(id, entry);
    this.unread.push(entry);
    const waiters = this.waiters;
    this.waiters = [];
    for (const wake of waiters) wake();
  }

  async read(max: number, waitMs: number, nowMs: () => number): Promise<readonly QueuedRecord[]> {
    const found = this.take(max, nowMs());
    if (found.length > 0 || waitMs <= 0) return found;
    await this.waitForEntry(waitMs);
    return this.take(max, nowMs());
  }

  /** Returns the ids that were there. */
  remove(ids: readonly number[]): number[] {
    return ids.filter((id) => this.entries.delete(id));
  }

  oldestAgeMs(nowMs: number): number {
    const first = this.entries.values().next().value;
    return first === undefined ? 0 : Math.max(0, nowMs - first.queuedAtMs);
  }

  *all(): Generator<{ readonly id: number; readonly record: string; readonly queuedAtMs: number }> {
    yield* this.entries.values();
  }

  private take(max: number, nowMs: number): QueuedRecord[] {
    const taken: QueueEntry[] = [];
    for (const entry of this.entries.values()) {
      if (taken.length === max || entry.deliveredAtMs === undefined || nowMs - entry.deliveredAtMs < REDELIVER_MS)
        break;
      taken.push(entry);
    }
    let read = 0;
    for (; read < this.unread.length && taken.length < max; read++) {
      const entry = this.unread[read];
      if (entry !== undefined && this.entries.get(entry.id) === entry) taken.push(entry);
    }
    this.unread = this.unread.slice(read);
    for (const entry of taken) entry.deliveredAtMs = nowMs;
    return taken.map(({ id, record }) => ({ entryId: String(id), record }));
  }

  private async waitForEntry(waitMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, waitMs);
    this.waiters.push(resolve);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.waiters = this.waiters.filter((waiter) => waiter !== resolve);
    }
  }
}
