/** Requests of which a duration is within bounds. */
export interface Bin {
  readonly fromMs: number;
  readonly toMs: number;
  readonly requests: number;
  /** Answers of the gateway's caches. */
  readonly hits: number;
  /** Its index in the answer; null for one without requests. */
  readonly index: number | null;
}

/** As the API gives them: without empty ones. */
export interface GivenBin {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly requests: number;
  readonly cache_hits: number;
}

/** Each bin is a third wider than the one before; the first one begins at zero. */
const USUAL_RATIO = 1.377;
/** Fewer would be slabs. */
const LEAST_BINS = 8;

const emptyBin = (fromMs: number, toMs: number): Bin => ({ fromMs, toMs, requests: 0, hits: 0, index: null });
const round = (ms: number) => Number(ms.toPrecision(6));

/** Bins without gaps, and some more on both sides of few. */
export function fillBins(given: readonly GivenBin[]): readonly Bin[] {
  const sample = given.find(({ from_ms: fromMs }) => fromMs > 0);
  const ratio = sample === undefined ? USUAL_RATIO : sample.to_ms / sample.from_ms;
  const bins: Bin[] = [];
  for (const [index, { from_ms: fromMs, to_ms: toMs, requests, cache_hits: hits }] of given.entries()) {
    const last = bins.at(-1);
    if (last !== undefined) bins.push(...between(last.toMs, fromMs, ratio));
    bins.push({ fromMs, toMs, requests, hits, index });
  }
  return padBins(bins, ratio);
}

/** Empty bins from one bound to another. */
function between(startMs: number, endMs: number, ratio: number): readonly Bin[] {
  const count = Math.round(Math.log(endMs / startMs) / Math.log(ratio));
  const inner = Array.from({ length: count - 1 }, (_, step) => round(startMs * ratio ** (step + 1)));
  const bounds = count < 1 ? [] : [startMs, ...inner, endMs];
  return bounds.slice(1).map((toMs, step) => emptyBin(bounds[step] ?? startMs, toMs));
}

function padBins(bins: readonly Bin[], ratio: number): readonly Bin[] {
  let padded = bins;
  while (padded.length > 0 && padded.length < LEAST_BINS) {
    const [first, last] = [padded[0], padded.at(-1)];
    if (first === undefined || last === undefined) break;
    const below = first.fromMs > 0 ? [emptyBin(round(first.fromMs / ratio), first.fromMs)] : [];
    padded = [...below, ...padded, emptyBin(last.toMs, round(last.toMs * ratio))];
  }
  return padded;
}

/** Share (0…1) of a duration on the logarithmic axis of bins, within its ends. */
export function shareOf(bins: readonly Bin[], ms: number): number {
  const { lowMs, highMs } = endsOf(bins);
  const share = Math.log(Math.max(ms, lowMs) / lowMs) / Math.log(highMs / lowMs);
  return Math.min(1, Math.max(0, share));
}

/** A logarithm has no zero: the first bin is as wide as any other. */
function endsOf(bins: readonly Bin[]): { readonly lowMs: number; readonly highMs: number } {
  const [first, last] = [bins[0], bins.at(-1)];
  if (first === undefined || last === undefined) return { lowMs: 1, highMs: 10 };
  return { lowMs: first.fromMs > 0 ? first.fromMs : first.toMs / USUAL_RATIO, highMs: last.toMs };
}

/** Decades; between few of them, their doubles and fives. */
export function logTicks(bins: readonly Bin[]): readonly number[] {
  const { lowMs, highMs } = endsOf(bins);
  const decades = steps([1], lowMs, highMs);
  return decades.length > 1 ? decades : steps([1, 2, 5], lowMs, highMs);
}

function steps(digits: readonly number[], lowMs: number, highMs: number): readonly number[] {
  const [first, last] = [Math.floor(Math.log10(lowMs)), Math.ceil(Math.log10(highMs))];
  const powers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  // A text of a power is exact, a product of tenths is not.
  const all = powers.flatMap((power) => digits.map((digit) => Number(`${digit}e${power}`)));
  return all.filter((ms) => ms >= lowMs && ms <= highMs);
}
