// A list that cannot be read again serves calls for ten more minutes; what is shown is left out at once.

export interface CachedListOptions<T> {
  readonly read: () => Promise<{ readonly value: T; readonly ttlMs: number }>;
  readonly monotonicMs: () => number;
  /** Failures that may be over the next moment: whoever comes next asks again. */
  readonly isPassing?: (error: unknown) => boolean;
}

interface Kept<T> {
  readonly value: T;
  readonly readMs: number;
  readonly ttlMs: number;
}

/** Lifetime of a list after a failed refresh. */
const STALE_MS = 600_000;
/** After a failure nobody asks again so soon. */
const RETRY_MS = 1000;

/** Something that a server lists: read once for all who ask, kept as long as it is good. */
export class CachedList<T> {
  private kept: Kept<T> | undefined;
  private reading: Promise<Kept<T>> | undefined;
  private failed: { readonly error: unknown; readonly untilMs: number } | undefined;
  /** Grows with each change that was told. */
  private changes = 0;

  constructor(private readonly options: CachedListOptions<T>) {}

  /** As it is now, at most as old as it may be. Throws where it cannot be read. */
  async current(): Promise<{ readonly value: T; readonly leftMs: number }> {
    const nowMs = this.options.monotonicMs();
    const { kept } = this;
    if (kept !== undefined && kept.readMs + kept.ttlMs > nowMs) {
      return { value: kept.value, leftMs: kept.readMs + kept.ttlMs - nowMs };
    }
    if (this.failed !== undefined && this.failed.untilMs > nowMs) throw this.failed.error;
    const { value, ttlMs } = await this.readAgain();
    return { value, leftMs: ttlMs };
  }

  /** For a call: what is there at once, while a newer one is read; undefined where there is none. */
  peek(): T | undefined {
    const nowMs = this.options.monotonicMs();
    const { kept } = this;
    if (kept === undefined) return undefined;
    const ageMs = nowMs - kept.readMs;
    if (ageMs < kept.ttlMs) return kept.value;
    if (ageMs > kept.ttlMs + STALE_MS) return undefined;
    if (this.failed === undefined || this.failed.untilMs <= nowMs) this.readAgain().catch(() => {});
    return kept.value;
  }

  /** For the operator: what is kept, and what went wrong last; both undefined before the first reading. */
  status(): { readonly kept: T | undefined; readonly error: unknown } {
    return { kept: this.kept?.value, error: this.failed?.error };
  }

  /** The server says that it changed, or somebody wants it anew. */
  expire(): void {
    this.changes += 1;
    this.failed = undefined;
    this.reading = undefined;
    if (this.kept !== undefined) this.kept = { ...this.kept, ttlMs: 0 };
  }

  private readAgain(): Promise<Kept<T>> {
    if (this.reading !== undefined) return this.reading;
    const { changes } = this;
    const reading = this.options.read().then(
      ({ value, ttlMs }) => {
        const kept = { value, readMs: this.options.monotonicMs(), ttlMs };
        if (this.changes === changes) {
          this.kept = kept;
          this.failed = undefined;
          this.reading = undefined;
        }
        return kept;
      },
      (error: unknown) => {
        if (this.changes === changes) {
          const waitMs = this.options.isPassing?.(error) === true ? 0 : RETRY_MS;
          this.failed = { error, untilMs: this.options.monotonicMs() + waitMs };
          this.reading = undefined;
        }
        throw error;
      },
    );
    this.reading = reading;
    return reading;
  }
}
