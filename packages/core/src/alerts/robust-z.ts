/** Ratio of standard deviation to median absolute deviation for a normal distribution. */
const DEVIATIONS_A_MAD = 1.4826;
/** Assumed deviation of a constant value, as a share of the median. */
const LEAST_SHARE = 0.05;

/**
 * Distance from the samples' median in robust deviations, so outliers don't move it. `leastDeviation` uses the value's
 * unit. null without samples.
 */
export function robustZ(value: number, samples: readonly number[], leastDeviation: number): number | null {
  const middle = median(samples);
  if (middle === null) return null;
  const spread = median(samples.map((sample) => Math.abs(sample - middle))) ?? 0;
  const deviation = Math.max(DEVIATIONS_A_MAD * spread, LEAST_SHARE * Math.abs(middle), leastDeviation);
  return (value - middle) / deviation;
}

/** null of nothing. */
export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? 0;
  return (lower + upper) / 2;
}
