// A list that can't reload serves calls for ten more minutes; listings omit it at once.

export interface CachedListOptions<T> {
  readonly read: () => Promise<{ readonly value: T; readonly ttlMs: number }>;
  readonly monotonicMs: () => number;
  /** Passing failures: the next caller retries. */
  readonly isPassing?: (error: unknown) => boolean;
}

interface Kept<T> {
  readonly value: T;
  readonly readMs: number;
  readonly ttlMs: number;
}

/** Lifetime of a list after a failed refresh. */
const STALE_MS = 600_000;
/** Pause after a failure. */
const RETRY_MS = 1000;

/** A list of a server: loaded once for all callers and cached until expiry. */
export class CachedList<T> {
  private kept: Kept<T> | undefined;
  private reading: Promise<Kept<T>> | undefined;
  private failed: { readonly error: unknown; readonly untilMs: number } | undefined;
  /** Grows with each reported change. */
  private changes = 0;

  constructor(private readonly options: CachedListOptions<T>) {}

  /** The current list within its lifetime. Throws if it can't load. */
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

  /** For a call: the list at hand while a newer one loads; undefined without one. */
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

  /** For the operator: cached list and last error; both undefined before the first load. */
  status(): { readonly kept: T | undefined; readonly error: unknown } {
    return { kept: this.kept?.value, error: this.failed?.error };
  }

  /** Expires the list after a change or by request. */
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
