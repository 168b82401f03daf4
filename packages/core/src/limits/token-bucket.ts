/**
 * Token buckets in whole numbers. A level counts 1/60000 tokens, so that a rate per minute refills exactly `rate` units
 * a millisecond; `lua/token_bucket.lua` computes the same to the last unit.
 */
export const TOKEN_UNITS = 60_000;

export interface BucketState {
  readonly level: number;
  readonly atMs: number;
  /** Burst of the stored level; absent in earlier versions. */
  readonly burst?: number | undefined;
}

/**
 * Current level. A clock that moves back refills nothing; the caller stores `nowMs`, so it doesn't lock either. A
 * raised burst applies at once, so the next request of a used-up limit passes.
 */
export function refillBucket(
  bucket: BucketState | undefined,
  nowMs: number,
  ratePerMinute: number,
  burst: number,
): number {
  const capacity = burst * TOKEN_UNITS;
  if (bucket === undefined) return capacity;
  const raised = Math.max(0, burst - (bucket.burst ?? burst)) * TOKEN_UNITS;
  return Math.min(capacity, bucket.level + raised + Math.max(0, nowMs - bucket.atMs) * ratePerMinute);
}

/** Milliseconds until the level reaches `units`; undefined = never (a rate of 0). */
export function msUntilLevel(level: number, units: number, ratePerMinute: number): number | undefined {
  if (level >= units) return 0;
  return ratePerMinute > 0 ? Math.ceil((units - level) / ratePerMinute) : undefined;
}

/** Values of `X-RateLimit-*`. */
export function describeBucket(
  level: number,
  ratePerMinute: number,
  burst: number,
): { limit: number; remaining: number; resetMs: number } {
  const missing = burst * TOKEN_UNITS - level;
  return {
    limit: ratePerMinute,
    remaining: Math.max(0, Math.floor(level / TOKEN_UNITS)),
    resetMs: missing > 0 && ratePerMinute > 0 ? Math.ceil(missing / ratePerMinute) : 0,
  };
}

/** Level after settlement: an overestimate comes back, an underestimate is owed, down to one minute's worth. */
export function adjustLevel(level: number, differenceTokens: number, burst: number): number {
  const capacity = burst * TOKEN_UNITS;
  return Math.max(-capacity, Math.min(capacity, level + differenceTokens * TOKEN_UNITS));
}
