import type { MonthCurve, MonthDay } from '../../charts/month/prepare-month';
import { NOTHING } from '../../format/format-number';
import { formatDay } from '../../format/format-time';
import { formatUsd } from '../../format/format-usd';

/** A day of the curve in words. */
export function describeDay({ days, today }: MonthCurve, index: number): string {
  const day = days[index];
  if (day === undefined) return NOTHING;
  const { startMs, spent, before, expected } = day;
  const ahead = expected === null ? 'no forecast' : `expected ${formatUsd(expected)}${bandOf(day)}`;
  const now = spent === null ? ahead : `${formatUsd(spent)} spent${index === today ? ' so far' : ''}`;
  const earlier = before === null ? '' : `, ${formatUsd(before)} by then in the month before`;
  return `${formatDay(startMs, 'utc')}: ${now}${earlier}`;
}

const bandOf = ({ low, high }: MonthDay) =>
  low === null || high === null ? '' : ` (${formatUsd(low)} to ${formatUsd(high)})`;

/** Headings of the month in figures. */
export const FIGURES: readonly string[] = [
  'Day',
  'Spent so far',
  'In the month before',
  'Forecast',
  'Low end of the forecast',
  'High end of the forecast',
];

export const cellsOfDay = ({ startMs, spent, before, expected, low, high }: MonthDay): readonly string[] => [
  formatDay(startMs, 'utc'),
  ...[spent, before, expected, low, high].map((usd) => (usd === null ? NOTHING : formatUsd(usd))),
];
