/**
 * Mergeable histograms of durations with a relative error of at most 2 %: bin i holds the values in
 * (MIN · γ^(i-1), MIN · γ^i], bin 0 everything up to MIN. Same bins as `llm0_histogram_of` in the database.
 * Method: DDSketch (Masson, Rim, Lee 2019).
 */
const ACCURACY = 0.02;
export const GAMMA = (1 + ACCURACY) / (1 - ACCURACY);
const LOG_GAMMA = Math.log(GAMMA);
/** Milliseconds; anything shorter counts as this. */
export const MIN_MS = 0.001;
/** About 7 hours; anything longer counts as this. */
export const MAX_BIN = 600;

/** Low bits of a packed element: the bin. High bits: the signed count. */
const BIN_BITS = 10;
const BIN_MASK = 2 ** BIN_BITS - 1;
const BYTES = 4;
const MAX_COUNT = 2 ** (31 - BIN_BITS) - 1;

/** Count by bin; counts may be negative in a delta. */
export type Histogram = Map<number, number>;

/** Bin of a duration. */
export function binOf(ms: number): number {
  if (!(ms > MIN_MS)) return 0;
  return Math.min(MAX_BIN, Math.ceil(Math.log(ms / MIN_MS) / LOG_GAMMA));
}

/** Representative duration of a bin: at most 2 % from every value in it. */
export function binValueMs(bin: number): number {
  return bin === 0 ? MIN_MS : (MIN_MS * 2 * GAMMA ** bin) / (GAMMA + 1);
}

/** Lower bound of a bin, exclusive: the upper bound of the bin before, inclusive. */
export const binStartMs = (bin: number): number => (bin === 0 ? 0 : MIN_MS * GAMMA ** (bin - 1));

/** Adds `count` (−1 takes one away) to the value's bin. */
export function addToHistogram(histogram: Histogram, ms: number, count = 1): void {
  addToBin(histogram, binOf(ms), count);
}

/** Adds all of `source` to `target`. Associative and commutative. */
export function mergeHistogram(target: Histogram, source: Histogram): void {
  addHistogram(target, source, 1);
}

/** Adds a histogram; sign −1 subtracts it. */
export function addHistogram(target: Histogram, source: Histogram, sign: 1 | -1): void {
  for (const [bin, count] of source) addToBin(target, bin, sign * count);
}

function addToBin(histogram: Histogram, bin: number, count: number): void {
  const sum = (histogram.get(bin) ?? 0) + count;
  if (sum === 0) histogram.delete(bin);
  else histogram.set(bin, sum);
}

/** Number of values. */
export function histogramCount(histogram: Histogram): number {
  let total = 0;
  for (const count of histogram.values()) total += count;
  return total;
}

/**
 * The value below which a share `quantile` (0…1) of all values lies, by nearest rank; null when there are none.
 * At most 2 % from the exact one.
 */
export function histogramQuantile(histogram: Histogram, quantile: number): number | null {
  const total = histogramCount(histogram);
  if (total <= 0) return null;
  const rank = Math.max(1, Math.ceil(quantile * total));
  let seen = 0;
  let last = 0;
  for (const bin of [...histogram.keys()].sort((a, b) => a - b)) {
    seen += histogram.get(bin) ?? 0;
    last = bin;
    if (seen >= rank) break;
  }
  return binValueMs(last);
}

/**
 * Sparse format in Postgres: four bytes per element, count · 2^10 + bin, big-endian. Bins may repeat, so concatenated
 * histograms are their sum.
 */
export function packHistogram(histogram: Histogram): Uint8Array<ArrayBuffer> {
  const elements: number[] = [];
  for (const [bin, count] of [...histogram].sort(([a], [b]) => a - b)) {
    for (let left = count; left !== 0; ) {
      const part = Math.max(-MAX_COUNT, Math.min(MAX_COUNT, left));
      elements.push(part * 2 ** BIN_BITS + bin);
      left -= part;
    }
  }
  const bytes = new Uint8Array(elements.length * BYTES);
  const view = new DataView(bytes.buffer);
  for (const [index, element] of elements.entries()) view.setInt32(index * BYTES, element);
  return bytes;
}

/** The sum of packed histograms. */
export function unpackHistograms(packed: Iterable<Uint8Array>): Histogram {
  const counts = new Float64Array(MAX_BIN + 1);
  for (const bytes of packed) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < bytes.byteLength; at += BYTES) {
      const element = view.getInt32(at);
      const bin = element & BIN_MASK;
      counts[bin] = (counts[bin] ?? 0) + (element >> BIN_BITS);
    }
  }
  const histogram: Histogram = new Map();
  for (let bin = 0; bin <= MAX_BIN; bin++) {
    const count = counts[bin] ?? 0;
    if (count !== 0) histogram.set(bin, count);
  }
  return histogram;
}
