/** Where a stretch of time is read from; the roll-ups in full buckets only. */
export type StatsSource = 'rows' | 'rollup_minute' | 'rollup_hour' | 'rollup_quarter' | 'rollup_day';

/** Half open: `fromMs` ≤ t < `toMs`. */
export interface StatsSegment {
  readonly source: StatsSource | SpecialSource;
  readonly fromMs: number;
  readonly toMs: number;
  /** Taken away instead of added. */
  readonly isLess?: boolean;
  /** Of `rollup_durations`: whose buckets. */
  readonly stepHours?: number;
  /** Of roll-ups: without the groups that keep their name. */
  readonly onlyOthers?: boolean;
}

/** Roll-ups by one thing only. */
export type SpecialSource =
  | 'rollup_error'
  | 'customer_spend'
  | 'customer_spend_hour'
  | 'rollup_latency_short'
  | 'rollup_latency_hour'
  | 'rollup_latency_quarter'
  | 'rollup_latency_day'
  | 'rollup_durations';

interface RangeSegment extends StatsSegment {
  readonly source: StatsSource;
}

const MINUTE_MS = 60_000;
const SHORT_MS = 15 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;
const QUARTER_MS = 6 * HOUR_MS;
const DAY_MS = 24 * HOUR_MS;
const HOURS_KEPT_MS = 90 * DAY_MS - HOUR_MS;

/** Coarse to fine; `keptMs` an hour less than the clean-up's, so that a bucket is never read while it is dropped. */
const LEVELS = [
  { source: 'rollup_day', sizeMs: DAY_MS, keptMs: Number.POSITIVE_INFINITY },
  { source: 'rollup_quarter', sizeMs: QUARTER_MS, keptMs: HOURS_KEPT_MS },
  { source: 'rollup_hour', sizeMs: HOUR_MS, keptMs: HOURS_KEPT_MS },
  { source: 'rollup_minute', sizeMs: MINUTE_MS, keptMs: 47 * HOUR_MS },
] as const;

/** Up to here rows are read as they are. */
const ROWS_ONLY_MS = HOUR_MS;

export interface RangeOptions {
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs: number;
  /** Buckets wanted: no coarser roll-up is used. Absent = one total. */
  readonly intervalMs?: number;
}

/**
 * Splits a range into stretches that add up to exactly it: full days, quarters of days, hours and minutes from the roll-ups, the rest from
 * rows. Where hours are no longer kept, the range is widened to whole days.
 */
export function splitRange(options: RangeOptions): readonly RangeSegment[] {
  const oldestHourMs = options.nowMs - HOURS_KEPT_MS;
  const fromMs = options.fromMs < oldestHourMs ? floorTo(options.fromMs, DAY_MS) : options.fromMs;
  const toMs = options.toMs < oldestHourMs ? ceilTo(options.toMs, DAY_MS) : options.toMs;
  if (toMs - fromMs <= ROWS_ONLY_MS) return fromMs < toMs ? [{ source: 'rows', fromMs, toMs }] : [];
  const intervalMs = options.intervalMs ?? DAY_MS;
  const levels = LEVELS.filter((level) => intervalMs % level.sizeMs === 0);
  return cover(fromMs, toMs, levels, options.nowMs);
}

type Level = (typeof LEVELS)[number];

function cover(fromMs: number, toMs: number, levels: readonly Level[], nowMs: number): RangeSegment[] {
  if (fromMs >= toMs) return [];
  const [level, ...finer] = levels;
  if (level === undefined) return [{ source: 'rows', fromMs, toMs }];
  const oldestMs = Number.isFinite(level.keptMs) ? ceilTo(nowMs - level.keptMs, level.sizeMs) : 0;
  const startMs = Math.max(ceilTo(fromMs, level.sizeMs), oldestMs);
  const endMs = floorTo(toMs, level.sizeMs);
  if (startMs >= endMs) return cover(fromMs, toMs, finer, nowMs);
  return [
    ...cover(fromMs, startMs, finer, nowMs),
    { source: level.source, fromMs: startMs, toMs: endMs },
    ...cover(endMs, toMs, finer, nowMs),
  ];
}

const floorTo = (ms: number, sizeMs: number) => Math.floor(ms / sizeMs) * sizeMs;
const ceilTo = (ms: number, sizeMs: number) => Math.ceil(ms / sizeMs) * sizeMs;

/**
 * Where buckets are wanted of a multiple of 15 minutes, or one total: full quarters of an hour of a stretch of minutes from
 * the durations' own roll-up, what is left at its ends still from minutes. Any other stretch stays as it is.
 */
export const splitMinutes = (segment: StatsSegment, intervalMs?: number): readonly StatsSegment[] =>
  splitOut(segment, { of: 'rollup_minute', source: 'rollup_latency_short', sizeMs: SHORT_MS, intervalMs });

/** The same for full hours of a stretch of rows by customer. */
export const splitCustomerHours = (segment: StatsSegment, intervalMs?: number): readonly StatsSegment[] =>
  splitOut(segment, { of: 'rows', source: 'customer_spend_hour', sizeMs: HOUR_MS, intervalMs });

interface SplitOut {
  readonly of: StatsSource;
  readonly source: SpecialSource;
  readonly sizeMs: number;
  readonly intervalMs: number | undefined;
}

function splitOut(
  segment: StatsSegment,
  { of, source, sizeMs, intervalMs = DAY_MS }: SplitOut,
): readonly StatsSegment[] {
  const { fromMs, toMs } = segment;
  const startMs = ceilTo(fromMs, sizeMs);
  const endMs = floorTo(toMs, sizeMs);
  if (segment.source !== of || intervalMs % sizeMs !== 0 || startMs >= endMs) return [segment];
  const parts: readonly StatsSegment[] = [
    { ...segment, toMs: startMs },
    { ...segment, source, fromMs: startMs, toMs: endMs },
    { ...segment, fromMs: endMs },
  ];
  return parts.filter((part) => part.fromMs < part.toMs);
}

/**
 * Full buckets from one roll-up, the edges from rows; all from rows where buckets are wanted shorter than it has them. The
 * bucket of a recent end is read whole, less the rows since, where those are fewer: a day whose rows are surely still there.
 */
export function splitByOne(
  options: RangeOptions & { readonly source: SpecialSource; readonly sizeMs: number },
): readonly StatsSegment[] {
  const { fromMs, toMs, nowMs, source, sizeMs, intervalMs } = options;
  const startMs = ceilTo(fromMs, sizeMs);
  const isShorter = ceilTo(toMs, sizeMs) - toMs < toMs - floorTo(toMs, sizeMs);
  const isOpen = toMs > nowMs - (isShorter ? DAY_MS : ROWS_ONLY_MS);
  const endMs = isOpen ? ceilTo(toMs, sizeMs) : floorTo(toMs, sizeMs);
  const edge: StatsSegment = isOpen
    ? { source: 'rows', fromMs: toMs, toMs: endMs, isLess: true }
    : { source: 'rows', fromMs: endMs, toMs };
  const segments: StatsSegment[] = [
    { source: 'rows', fromMs, toMs: startMs },
    { source, fromMs: startMs, toMs: endMs },
    edge,
  ];
  if (startMs >= floorTo(toMs, sizeMs) || (intervalMs !== undefined && intervalMs % sizeMs !== 0)) {
    return fromMs < toMs ? [{ source: 'rows', fromMs, toMs }] : [];
  }
  return segments.filter((segment) => segment.fromMs < segment.toMs);
}
