const TICK_MS = 10;
/** More than this between two ticks is time the event loop was busy: answers may have come and not been read. */
const COUNTED_MS = 2 * TICK_MS;
/** Answers that came so lately show that whoever answers is at work, not away: the others are merely in line. */
const AT_WORK_MS = 15;
/** However much it is at work, nobody waits for more than so many lengths. */
const MOST_LENGTHS = 10;

interface Waiting {
  readonly sinceMs: number;
  /** The same on the clock that stands still while the event loop is busy. */
  readonly sinceCountedMs: number;
  /** undefined once the answer is there: what it holds on to has not to live until the deadline. */
  expire: (() => void) | undefined;
}

/**
 * Many deadlines of the same length on one timer: a timer for each request would cost more than its decision. They hold
 * for a side that does not answer; while it answers others, or this process is too busy to read, those in line go on
 * waiting.
 */
export class DeadlineQueue {
  private queue: Waiting[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private answeredAtMs = 0;
  private countedMs = 0;
  private tickedAtMs = 0;

  constructor(private readonly lengthMs: number) {}

  /**
   * Calls `expire` once after the length, at most two ticks late, unless the returned function was called before. Call
   * that one for late answers too.
   */
  add(expire: () => void): () => void {
    const sinceMs = performance.now();
    if (this.timer === undefined) this.tickedAtMs = sinceMs;
    const waiting: Waiting = { sinceMs, sinceCountedMs: this.countedAt(sinceMs), expire };
    this.queue.push(waiting);
    this.timer ??= setTimeout(this.tick, TICK_MS);
    return () => {
      waiting.expire = undefined;
      this.answeredAtMs = performance.now();
    };
  }

  private readonly tick = (): void => {
    this.timer = undefined;
    const nowMs = performance.now();
    this.countedMs = this.countedAt(nowMs);
    this.tickedAtMs = nowMs;
    const startedBefore = this.countedMs - this.lengthMs;
    const firstLive = this.queue.findIndex(
      (waiting) => waiting.expire !== undefined && waiting.sinceCountedMs > startedBefore,
    );
    const over = firstLive < 0 ? this.queue : this.queue.slice(0, firstLive);
    this.queue = firstLive < 0 ? [] : this.queue.slice(firstLive);
    if (this.queue.length > 0) this.timer = setTimeout(this.tick, TICK_MS);
    // After the event loop has read what has arrived.
    if (over.some(({ expire }) => expire !== undefined)) setImmediate(() => this.expireAll(over));
  };

  private countedAt(nowMs: number): number {
    return this.countedMs + Math.min(nowMs - this.tickedAtMs, COUNTED_MS);
  }

  private expireAll(over: readonly Waiting[]): void {
    const nowMs = performance.now();
    const isAtWork = nowMs - this.answeredAtMs < AT_WORK_MS;
    const inLine: Waiting[] = [];
    for (const waiting of over) {
      if (waiting.expire === undefined) continue;
      if (isAtWork && nowMs - waiting.sinceMs < MOST_LENGTHS * this.lengthMs) inLine.push(waiting);
      else waiting.expire();
    }
    if (inLine.length === 0) return;
    this.queue = [...inLine, ...this.queue];
    if (this.timer === undefined) this.tickedAtMs = nowMs;
    this.timer ??= setTimeout(this.tick, TICK_MS);
  }
}
