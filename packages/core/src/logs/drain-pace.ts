/** A shorter window measures the moment, not the load. */
const WINDOW_MS = 500;
/** Below this rate of records, a drain at full speed delays nobody. */
const IDLE_PER_SECOND = 10;
/** While requests are served, a backlog shrinks by this share of itself a second … */
const SHARE_PER_SECOND = 1 / 600;
/** … and by no fewer records a second than this. */
const LEAST_PER_SECOND = 500;
/** Share of the previous load that remains expected after a window. */
const REMEMBERED = 0.7;
/** A burst must not find the drain asleep. */
const LONGEST_PAUSE_MS = 1000;

/** Work of the drain since the last pace. */
export interface DrainedBatch {
  readonly records: number;
  readonly tookMs: number;
}

/**
 * Pace of a backlog's drain. Full speed would take CPU time from requests. So a drain runs slightly faster than records
 * arrive, and at full speed when none arrive.
 */
export class DrainPace {
  private window: { readonly startMs: number; readonly depth: number } | undefined;
  private drained = 0;
  private incoming = 0;
  /** Records a second; undefined = as fast as it goes. */
  private target: number | undefined;

  /** `depth` = records in the queue now. */
  constructor(private readonly ports: { readonly nowMs: () => number; readonly depth: () => Promise<number> }) {}

  /** There is no backlog (any more). */
  reset(): void {
    this.window = undefined;
    this.target = undefined;
    this.incoming = 0;
    this.drained = 0;
  }

  /** Delay before the next batch. Never throws: an unknown depth means no delay. */
  async pauseMs({ records, tookMs }: DrainedBatch): Promise<number> {
    this.drained += records;
    const nowMs = this.ports.nowMs();
    if (this.window === undefined || nowMs - this.window.startMs >= WINDOW_MS) {
      try {
        this.look(await this.ports.depth(), nowMs);
      } catch {
        this.reset();
      }
    }
    if (this.target === undefined) return 0;
    return Math.min(LONGEST_PAUSE_MS, Math.max(0, (records / this.target) * 1000 - tookMs));
  }

  private look(depth: number, nowMs: number): void {
    if (this.window !== undefined) {
      const seconds = (nowMs - this.window.startMs) / 1000;
      const now = (depth - this.window.depth + this.drained) / seconds;
      this.incoming = Math.max(now, this.incoming * REMEMBERED);
      const catchUp = Math.max(LEAST_PER_SECOND, depth * SHARE_PER_SECOND);
      this.target = this.incoming < IDLE_PER_SECOND ? undefined : this.incoming + catchUp;
    }
    this.window = { startMs: nowMs, depth };
    this.drained = 0;
  }
}
