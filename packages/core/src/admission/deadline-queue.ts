const TICK_MS = 10;

interface Waiting {
  readonly atMs: number;
  readonly expire: () => void;
  done: boolean;
}

/** Many deadlines of the same length on one timer: a timer for each request would cost more than its decision. */
export class DeadlineQueue {
  private queue: Waiting[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly lengthMs: number) {}

  /** Calls `expire` once after the length, at most one tick late, unless the returned function was called before. */
  add(expire: () => void): () => void {
    const waiting: Waiting = { atMs: performance.now() + this.lengthMs, expire, done: false };
    this.queue.push(waiting);
    this.timer ??= setTimeout(this.tick, TICK_MS);
    return () => {
      waiting.done = true;
    };
  }

  private readonly tick = (): void => {
    this.timer = undefined;
    const now = performance.now();
    const firstLive = this.queue.findIndex((waiting) => !waiting.done && waiting.atMs > now);
    const over = firstLive < 0 ? this.queue : this.queue.slice(0, firstLive);
    this.queue = firstLive < 0 ? [] : this.queue.slice(firstLive);
    if (this.queue.length > 0) this.timer = setTimeout(this.tick, TICK_MS);
    if (over.some(({ done }) => !done)) setImmediate(expireAll, over);
  };
}

/** After the event loop has read what has arrived: it may be the loop that was late, not the answer. */
function expireAll(over: readonly Waiting[]): void {
  for (const waiting of over) if (!waiting.done) waiting.expire();
}
