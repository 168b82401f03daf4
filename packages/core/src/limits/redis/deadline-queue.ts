const TICK_MS = 10;
/** A longer gap between ticks means a busy event loop: unread answers may be waiting. */
const COUNTED_MS = 2 * TICK_MS;
/** A reply within this time proves that the server is busy, not away: others are in line. */
const AT_WORK_MS = 15;
/** Maximum wait in time-outs, even for a busy server. */
const MOST_LENGTHS = 10;

interface Waiting {
  readonly sinceMs: number;
  /** Start by the clock that stops while the event loop is busy. */
  readonly sinceCountedMs: number;
  /** undefined after the reply, so that nothing lives until the deadline. */
  expire: (() => void) | undefined;
}

/**
 * Many equal deadlines on one timer: one for each request would cost more than its decision. They apply to a silent
 * server; while it answers others, or this process is busy, requests keep waiting.
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
    // Runs after the event loop has read arrivals.
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
