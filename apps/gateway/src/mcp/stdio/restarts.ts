/** Restart times of an ended server: at once, then after growing delays while it doesn't last. */
export class Restarts {
  private failures = 0;
  private startedMs = 0;
  private nextMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly monotonicMs: () => number) {}

  /** Milliseconds to wait; 0 = now. */
  get waitMs(): number {
    return Math.max(0, Math.ceil(this.nextMs - this.monotonicMs()));
  }

  noteStart(): void {
    this.startedMs = this.monotonicMs();
  }

  noteEnd(): void {
    const nowMs = this.monotonicMs();
    this.failures = nowMs - this.startedMs > LASTED_MS ? 1 : this.failures + 1;
    const backOffMs = this.failures === 1 ? 0 : FIRST_WAIT_MS * 2 ** Math.min(this.failures - 2, MOST_DOUBLINGS);
    this.nextMs = nowMs + backOffMs;
  }
}

const LASTED_MS = 60_000;
const FIRST_WAIT_MS = 1000;
/** About a minute. */
const MOST_DOUBLINGS = 6;
