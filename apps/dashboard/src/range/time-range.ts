const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const LEAST_REST = 2 * MINUTE;
const MOST_REST = 5 * MINUTE;
const CUSTOM = 'custom';

/** Ranges to choose from; each ends now. */
export const PRESETS = {
  '5m': { label: '5 minutes', ms: 5 * MINUTE },
  '15m': { label: '15 minutes', ms: 15 * MINUTE },
  '1h': { label: '1 hour', ms: HOUR },
  '6h': { label: '6 hours', ms: 6 * HOUR },
  '24h': { label: '24 hours', ms: DAY },
  '7d': { label: '7 days', ms: 7 * DAY },
  '14d': { label: '14 days', ms: 14 * DAY },
  '30d': { label: '30 days', ms: 30 * DAY },
  '90d': { label: '90 days', ms: 90 * DAY },
} as const;

export type Preset = keyof typeof PRESETS;

export const isPreset = (text: unknown): text is Preset => typeof text === 'string' && Object.hasOwn(PRESETS, text);

/** A range with the interval its charts use; all in epoch milliseconds. */
export interface TimeRange {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly intervalMs: number;
  /** Name in charts and tables. */
  readonly label: string;
}

/** Approximate maximum of buckets in a chart. */
const BUCKETS = 110;
const INTERVALS = [
  5_000,
  15_000,
  MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
];

export function intervalFor(lengthMs: number): number {
  return INTERVALS.find((interval) => lengthMs / interval <= BUCKETS) ?? 7 * DAY;
}

/** Range in the address; invalid values mean the last 24 hours. */
export interface RangeSearch {
  readonly range?: string;
  /** Custom range: both ends, RFC 3339. They override the preset, which remains as the way back. */
  readonly from?: string;
  readonly to?: string;
}

const DEFAULT_RANGE: Preset = '24h';

export const presetOf = ({ range }: RangeSearch): Preset => (isPreset(range) ? range : DEFAULT_RANGE);

/** The stretch between both ends; undefined unless there are two, in order. */
function stretchOf({ from = '', to = '' }: RangeSearch): Stretch | undefined {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  return fromMs < toMs ? { fromMs, toMs } : undefined;
}

/** What an address says of a range and isn't one, as `name=value`. */
export function unreadRange(search: RangeSearch): readonly string[] {
  if (stretchOf(search) !== undefined) return [];
  const { range, from, to } = search;
  const unread = Object.entries({ ...(isPreset(range) ? {} : { range }), from, to });
  return unread.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
}

export function resolveRange(search: RangeSearch, nowMs: number): TimeRange {
  const stretch = stretchOf(search);
  if (stretch !== undefined) {
    return { ...stretch, intervalMs: intervalFor(stretch.toMs - stretch.fromMs), label: CUSTOM };
  }
  const preset = PRESETS[presetOf(search)];
  const intervalMs = intervalFor(preset.ms);
  // The end moves in whole steps, so that charts don't jitter and answers can be cached.
  const step = Math.min(intervalMs, MINUTE);
  const endMs = Math.ceil(nowMs / step) * step;
  return { fromMs: endMs - preset.ms, toMs: endMs, intervalMs, label: preset.label };
}

/** True if the range moves with the clock. */
export const isUntilNow = ({ label }: Pick<TimeRange, 'label'>): boolean => label !== CUSTOM;

/** Time before an idle range advances: one bucket, within some minutes. */
export const restFor = ({ intervalMs }: Pick<TimeRange, 'intervalMs'>): number =>
  Math.max(LEAST_REST, Math.min(intervalMs, MOST_REST));

/** End of a moving range in whole minutes, so that viewers share a query. */
export const untilNow = (nowMs: number): number => Math.ceil(nowMs / MINUTE) * MINUTE;

export type Stretch = Pick<TimeRange, 'fromMs' | 'toMs'>;

/** The stretch just before, of the same length. */
export function previousRange<R extends Stretch>(range: R): R {
  const lengthMs = range.toMs - range.fromMs;
  return { ...range, fromMs: range.fromMs - lengthMs, toMs: range.fromMs };
}

/** The stretch before that charts lay under their range: of as many buckets, each a whole number of them earlier. */
export function earlierRange(range: TimeRange): TimeRange {
  const shiftMs = Math.ceil((range.toMs - range.fromMs) / range.intervalMs) * range.intervalMs;
  return { ...range, fromMs: range.fromMs - shiftMs, toMs: range.toMs - shiftMs };
}

/** Query of the API. */
export const rangeQuery = ({ fromMs, toMs }: Stretch) => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
});

/** Starts of all buckets of a range, as the API aligns them (multiples of the interval since the epoch). */
export function bucketStarts({ fromMs, toMs, intervalMs }: TimeRange): number[] {
  const starts: number[] = [];
  for (let at = Math.floor(fromMs / intervalMs) * intervalMs; at < toMs; at += intervalMs) starts.push(at);
  return starts;
}
