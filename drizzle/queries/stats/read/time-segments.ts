import type { Ask } from './time-limit';

/** Source of a segment; roll-ups in full buckets only. */
export type StatsSource = 'rows' | 'rollup_minute' | 'rollup_hour' | 'rollup_day';
/** Roll-ups by one thing only. */
export type SpecialSource = 'rollup_error' | 'customer_spend';

/** Half open: `fromMs` ≤ t < `toMs`. */
export interface StatsSegment {
  readonly source: StatsSource | SpecialSource;
  readonly fromMs: number;
  readonly toMs: number;
  /** Taken away instead of added. */
  readonly isLess?: boolean;
  /** Asks the store that has these rows instead of Postgres. */
  readonly elsewhere?: Ask;
  /** Rows of tool calls only: those of the requests are another segment. */
  readonly isOfCalls?: boolean;
}

interface RangeSegment extends StatsSegment {
  readonly source: StatsSource;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const HOURS_KEPT_MS = 90 * DAY_MS - HOUR_MS;

/** Coarse to fine; `keptMs` an hour less than the clean-up's, so that a bucket is never read while it is dropped. */
const LEVELS = [
  { source: 'rollup_day', sizeMs: DAY_MS, keptMs: Number.POSITIVE_INFINITY },
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
 * Splits a range exactly into full days, hours and minutes from roll-ups and the rest from rows, in time order. Without
 * hourly data, widens it to whole days.
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

/** Splits segments into stretches of about `lengthMs` that end at bucket borders. */
export function splitLong(
  segments: readonly StatsSegment[],
  lengthMs: Readonly<Record<StatsSource, number>>,
  intervalMs = MINUTE_MS,
): readonly StatsSegment[] {
  return segments.flatMap((segment) => {
    if (segment.elsewhere !== undefined) return [segment];
    const longest = segment.source in lengthMs ? lengthMs[segment.source as StatsSource] : Number.POSITIVE_INFINITY;
    const stepMs = Math.max(1, Math.floor(longest / intervalMs)) * intervalMs;
    const parts: StatsSegment[] = [];
    for (let atMs = segment.fromMs; atMs < segment.toMs; ) {
      const endMs = Math.min(segment.toMs, floorTo(atMs, stepMs) + stepMs);
      parts.push({ ...segment, fromMs: atMs, toMs: endMs });
      atMs = endMs;
    }
    return parts;
  });
}

/**
 * Full buckets from one roll-up, edges from rows; everything from rows for finer buckets. A recent last bucket is read
 * whole minus later rows, if those are fewer.
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
