/** Of a normal distribution: the standard deviation for each median absolute deviation. */
const DEVIATIONS_A_MAD = 1.4826;
/** What usually moves by nothing at all may move by so much, as a share of the median. */
const LEAST_SHARE = 0.05;

/**
 * How many usual deviations a value lies above the median of its samples: the median absolute deviation is not moved by the few
 * odd ones. `leastDeviation`: in the value's unit. null without samples.
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
