import { formatClock, formatDay, formatStamp, type TimeZoneChoice } from '../format/format-time';
import { UNITS, type Unit } from '../format/units';

const DAY_MS = 86_400_000;
/** Month and year lengths of the chart library. */
const MONTH_MS = 30 * DAY_MS;
const YEAR_MS = 365 * DAY_MS;
const EPOCH_YEAR = 1970;

interface TicksInput {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  /** Offset of the displayed time zone from UTC at an instant. */
  readonly offsetAt: (ms: number) => number;
}

/** Ticks of a time axis: whole steps of the displayed clock, independent of the browser's zone. */
export function prepareTicks({ fromMs, toMs, stepMs, offsetAt }: TicksInput): number[] {
  const ticks: number[] = [];
  for (let index = 0, clock = 0; clock <= toMs + DAY_MS; index++) {
    clock = clockAt(fromMs - DAY_MS, stepMs, index);
    const at = instantOf(clock, offsetAt);
    // Skips hours that a change to summer time leaves out.
    const isShown = at + offsetAt(at) === clock;
    if (isShown && at >= fromMs && at <= toMs && at > (ticks.at(-1) ?? -Infinity)) ticks.push(at);
  }
  return ticks;
}

/** Offset of a zone from UTC at an instant. */
export const offsetOf =
  (timeZone: TimeZoneChoice) =>
  (ms: number): number =>
    timeZone === 'utc' ? 0 : -new Date(ms).getTimezoneOffset() * 60_000;

const MINUTE_MS = 60_000;

/** Clock of a tick, or its day at midnight; with seconds if steps are shorter than a minute. */
export function timeLabel(ms: number, timeZone: TimeZoneChoice, stepMs: number): string {
  const clock = stepMs < MINUTE_MS ? formatStamp(ms, timeZone).slice(-SECONDS_LENGTH) : formatClock(ms, timeZone);
  return /^00:00(:00)?$/.test(clock) ? formatDay(ms, timeZone) : clock;
}

const SECONDS_LENGTH = 'HH:MM:SS'.length;
const HOUR_MS = 60 * MINUTE_MS;
const TIME_STEPS = [
  ...[MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 30 * MINUTE_MS],
  ...[HOUR_MS, 3 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS],
  ...[DAY_MS, 3 * DAY_MS, 7 * DAY_MS, 14 * DAY_MS],
];
/** Labels that there is room for. */
const MOST_LABELS = { phone: 6, wide: 14 } as const;

interface TimeAxis {
  readonly fromMs: number;
  readonly toMs: number;
  readonly timeZone: TimeZoneChoice;
}

/** Labels of a time axis outside the chart library, with their places (0…1). */
export function timeLabels({ fromMs, toMs, timeZone }: TimeAxis, on: keyof typeof MOST_LABELS) {
  const lengthMs = toMs - fromMs;
  const stepMs = TIME_STEPS.find((step) => lengthMs / step <= MOST_LABELS[on]) ?? MONTH_MS;
  const ticks = prepareTicks({ fromMs, toMs, stepMs, offsetAt: offsetOf(timeZone) });
  return ticks.map((ms) => ({ ms, label: timeLabel(ms, timeZone, stepMs), share: (ms - fromMs) / lengthMs }));
}

/** Clock value after some steps from the last whole one; as if it were UTC. */
function clockAt(fromClock: number, stepMs: number, index: number): number {
  if (stepMs < MONTH_MS) return (Math.floor(fromClock / stepMs) + index) * stepMs;
  const months = stepMs < YEAR_MS ? Math.round(stepMs / MONTH_MS) : 12 * Math.round(stepMs / YEAR_MS);
  const date = new Date(fromClock);
  const first = Math.floor(((date.getUTCFullYear() - EPOCH_YEAR) * 12 + date.getUTCMonth()) / months);
  return Date.UTC(EPOCH_YEAR, (first + index) * months, 1);
}

/** The offset is the one that holds then, not the one before a change. */
function instantOf(clock: number, offsetAt: (ms: number) => number): number {
  const guess = clock - offsetAt(clock);
  return clock - offsetAt(guess);
}

const COUNTS: ReadonlySet<Unit> = new Set<Unit>(['count', 'compact']);
const MAX_POWER = 15;
const WHOLE_STEPS = Array.from({ length: MAX_POWER }, (_, power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
).flat();
const CENTS = 2;
const MOST_DECIMALS = 9;
const SHORT_FROM_USD = 1000;

/** Pixels between two ticks, if there is room. */
const TICK_SPACE = 34;
/** Steps grow by up to 2.5: a third of the height always leaves room for a tick besides zero. */
const LEAST_TICKS = 3;

/** Least pixels between two ticks of a value axis of this height. */
export const axisSpace = (height: number): number => Math.min(TICK_SPACE, height / LEAST_TICKS);

/** Steps of a value axis: whole ones for counts; undefined: those of the chart library. */
export const axisSteps = (unit: Unit): number[] | undefined => (COUNTS.has(unit) ? WHOLE_STEPS : undefined);

/** Labels of a value axis: one unit, and as many decimals, for all. */
export function axisLabels(unit: Unit, ticks: readonly number[]): string[] {
  const top = Math.max(0, ...ticks.map(Math.abs));
  if (unit === 'usd' && top < SHORT_FROM_USD && ticks.some((usd) => !Number.isInteger(usd))) {
    const decimals = Math.max(CENTS, ...ticks.map(decimalsOf));
    return ticks.map((usd) => `$${usd.toFixed(decimals)}`);
  }
  if (unit === 'ms' && top > 2 * MINUTE_MS && ticks.every((ms) => ms % MINUTE_MS === 0))
    return ticks.map((ms) => (ms === 0 ? '0' : `${ms / MINUTE_MS} min`));
  if ((unit === 'ms' || unit === 'percentile') && top >= 1000)
    return ticks.map((ms) => (ms === 0 ? '0' : `${Number((ms / 1000).toPrecision(3))} s`));
  return ticks.map(UNITS[unit].short);
}

const decimalsOf = (value: number) =>
  Number(value.toFixed(MOST_DECIMALS)).toString().includes('e')
    ? MOST_DECIMALS
    : (Number(value.toFixed(MOST_DECIMALS)).toString().split('.')[1]?.length ?? 0);
