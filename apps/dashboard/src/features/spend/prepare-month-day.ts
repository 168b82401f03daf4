import type { MonthCurve, MonthDay } from '../../charts/month/prepare-month';
import { NOTHING } from '../../format/format-number';
import { formatDay } from '../../format/format-time';
import { formatOf } from '../../format/units';

/** A day of the curve in words. */
export function describeDay({ days, today }: MonthCurve, index: number): string {
  const day = days[index];
  if (day === undefined) return NOTHING;
  const { startMs, spent, before, expected, low, high } = day;
  const format = formatOf('usd', amountsOf(day));
  const band = low === null || high === null ? '' : ` (${format(low)} to ${format(high)})`;
  const ahead = expected === null ? 'no forecast' : `expected ${format(expected)}${band}`;
  const now = spent === null ? ahead : `${format(spent)} spent${index === today ? ' so far' : ''}`;
  const earlier = before === null ? '' : `, ${format(before)} by then in the month before`;
  return `${formatDay(startMs, 'utc')}: ${now}${earlier}`;
}

const amountsOf = ({ spent, before, expected, low, high }: MonthDay) => [spent, before, expected, low, high];

/** Headings of the month in figures. */
export const FIGURES: readonly string[] = [
  'Day',
  'Spent so far',
  'In the month before',
  'Forecast',
  'Low end of the forecast',
  'High end of the forecast',
];

export function cellsOfDay(day: MonthDay): readonly string[] {
  const format = formatOf('usd', amountsOf(day));
  return [formatDay(day.startMs, 'utc'), ...amountsOf(day).map((usd) => (usd === null ? NOTHING : format(usd)))];
}
