// Forecasts the rest of a month from the average of the same weekdays in the last four weeks. The band is as wide as
// eight of ten such forecasts of the last twelve weeks were off, up or down.
import type { CalendarDay } from './calendar';

/** Nano-USD of consecutive whole days. */
export interface DayHistory {
  /** Weekday of the first, 0 for Sunday. */
  readonly firstWeekday: number;
  readonly nanoUsd: readonly number[];
}

export interface Forecast {
  /** Whole month in nano-USD: spend plus the expected rest. */
  readonly expectedNanoUsd: number;
  /** Null while there are too few days to know by how much forecasts are off. */
  readonly lowNanoUsd: number | null;
  readonly highNanoUsd: number | null;
}

export const HISTORY_DAYS = 84;
const WEEKS = 4;
const WEEK = 7;
const LEAST_DAYS = 3;
const LEAST_ERRORS = 8;
const INSIDE = 0.8;

/** Days before the first spend don't predict anything. */
function sinceFirst({ firstWeekday, nanoUsd }: DayHistory): DayHistory {
  const first = nanoUsd.findIndex((nano) => nano !== 0);
  if (first === -1) return { firstWeekday, nanoUsd: [] };
  return { firstWeekday: (firstWeekday + first) % WEEK, nanoUsd: nanoUsd.slice(first) };
}

/** Mean cost of each weekday before `end`; of all days for a weekday without data. */
function weekdayMeans({ firstWeekday, nanoUsd }: DayHistory, end: number): readonly number[] {
  const start = Math.max(0, end - WEEKS * WEEK);
  const known = nanoUsd.slice(start, end);
  const mean = (days: readonly number[]) => days.reduce((sum, nano) => sum + nano, 0) / days.length;
  return Array.from({ length: WEEK }, (_, weekday) => {
    const same = known.filter((_nano, index) => (firstWeekday + start + index) % WEEK === weekday);
    return mean(same.length === 0 ? known : same);
  });
}

/** Share of the forecast by which each past stretch of the length was off; ascending. */
function pastErrors(history: DayHistory, days: number): readonly number[] {
  const { firstWeekday, nanoUsd } = history;
  const ratios: number[] = [];
  for (let at = WEEK; at + days <= nanoUsd.length; at += 1) {
    const means = weekdayMeans(history, at);
    let expected = 0;
    let spent = 0;
    for (let day = at; day < at + days; day += 1) {
      expected += means[(firstWeekday + day) % WEEK] ?? 0;
      spent += nanoUsd[day] ?? 0;
    }
    if (expected > 0) ratios.push(Math.abs(spent / expected - 1));
  }
  return ratios.sort((a, b) => a - b);
}

/** Linear between the two nearest. */
function quantile(ascending: readonly number[], share: number): number {
  const at = share * (ascending.length - 1);
  const [low = 0, high = low] = [ascending[Math.floor(at)], ascending[Math.ceil(at)]];
  return low + (high - low) * (at - Math.floor(at));
}

/** Errors over as many days as are left, or over as many as the history has enough stretches of. */
function errorsOf(history: DayHistory, days: number): readonly number[] {
  const most = Math.max(1, Math.min(days, history.nanoUsd.length - WEEK - LEAST_ERRORS + 1));
  return pastErrors(history, most);
}

/** Expected cost of each remaining day; null without data. */
function expectedDays(history: DayHistory, left: readonly CalendarDay[]): readonly number[] | null {
  if (history.nanoUsd.length < LEAST_DAYS) return null;
  const means = weekdayMeans(history, history.nanoUsd.length);
  return left.map(({ weekday, share }) => (means[weekday] ?? 0) * share);
}

export interface ForecastInput {
  readonly spentNanoUsd: number;
  /** Whole days, the last of them yesterday. */
  readonly history: DayHistory;
  readonly left: readonly CalendarDay[];
}

/** Null where fewer than three whole days are known since the first spend. */
export function forecastMonth({ spentNanoUsd, history, left }: ForecastInput): Forecast | null {
  const known = sinceFirst(history);
  const days = expectedDays(known, left);
  if (days === null) return null;
  const rest = days.reduce((sum, nano) => sum + nano, 0);
  const errors = errorsOf(known, left.length);
  // As far down as up: in a trend all errors have one sign, and a band of those would exclude a change of it.
  const off = quantile(errors, INSIDE);
  const at = (factor: number) => spentNanoUsd + Math.round(rest * factor);
  const isKnown = errors.length >= LEAST_ERRORS;
  return {
    expectedNanoUsd: at(1),
    lowNanoUsd: isKnown ? at(Math.max(0, 1 - off)) : null,
    highNanoUsd: isKnown ? at(1 + off) : null,
  };
}

interface PathInput extends ForecastInput {
  /** The forecast, or an end of its band. */
  readonly monthNanoUsd: number;
}

/** Spend of the month at the end of each remaining day, if it costs that much; empty without data. */
function pathOf({ monthNanoUsd, spentNanoUsd, history, left }: PathInput): readonly number[] {
  const days = expectedDays(sinceFirst(history), left) ?? [];
  const rest = days.reduce((sum, nano) => sum + nano, 0);
  const factor = rest === 0 ? 0 : (monthNanoUsd - spentNanoUsd) / rest;
  let sum = 0;
  return days.map((nano) => {
    sum += nano;
    // Rounds like the forecast: to the nano-dollar.
    return spentNanoUsd + Math.round(sum * factor);
  });
}

export interface CapInput extends PathInput {
  readonly capNanoUsd: number;
}

/** Day on which a cap is reached at this monthly cost; null if it lasts. */
export function capReachedOn({ capNanoUsd, ...input }: CapInput): string | null {
  const index = pathOf(input).findIndex((nano) => nano >= capNanoUsd);
  return input.left[index]?.date ?? null;
}

/** Forecast of the spend at the end of a day, since the start of the month. */
export interface ForecastDay extends Forecast {
  /** `YYYY-MM-DD`. */
  readonly date: string;
}

/** The way to the forecast, today first; empty where there is no forecast. */
export function forecastDays(input: ForecastInput): readonly ForecastDay[] {
  const forecast = forecastMonth(input);
  if (forecast === null) return [];
  const pathTo = (monthNanoUsd: number | null) => (monthNanoUsd === null ? [] : pathOf({ ...input, monthNanoUsd }));
  const expected = pathTo(forecast.expectedNanoUsd);
  const [low, high] = [pathTo(forecast.lowNanoUsd), pathTo(forecast.highNanoUsd)];
  return input.left.map(({ date }, index) => ({
    ...{ date, expectedNanoUsd: expected[index] ?? forecast.expectedNanoUsd },
    ...{ lowNanoUsd: low[index] ?? null, highNanoUsd: high[index] ?? null },
  }));
}
