import type { SpendBucket } from '../../api/stats';
import type { HeatCell } from '../../charts/heat/heat-box';
import { countOf } from '../../format/format-number';
import { formatDay } from '../../format/format-time';
import { formatUsd } from '../../format/format-usd';
import { daysBetween, monthStart } from '../../range/month';
import { rangeQuery } from '../../range/time-range';
import { requestsLink } from '../../range/use-show-requests';

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const WEEKS = 12;

export const SPANS = { month: 'This month', weeks: '12 weeks' } as const;
export type Span = keyof typeof SPANS;

export const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

/** Monday of the UTC week of a day. */
export function weekStart(dayMs: number): number {
  const sinceMonday = (new Date(dayMs).getUTCDay() + 6) % 7;
  return dayMs - sinceMonday * DAY_MS;
}

/** First day of the last twelve weeks. */
export const firstOfWeeks = (todayMs: number): number => weekStart(todayMs) - (WEEKS - 1) * WEEK_MS;

/** Days to ask for: of a month and the one before. Those of the current month are the calendar's, so that one question serves both. */
export function monthDays(startMs: number, nowMs: number): { readonly fromMs: number; readonly toMs: number } {
  const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  if (startMs === monthStart(nowMs)) return { fromMs: firstOfWeeks(todayMs), toMs: todayMs + DAY_MS };
  return { fromMs: monthStart(startMs, -1), toMs: monthStart(startMs, 1) };
}

interface Calendar {
  readonly span: Span;
  readonly todayMs: number;
  readonly days: ReadonlyMap<number, Pick<SpendBucket, 'cost_usd' | 'requests'>>;
}

export interface CalendarWeek {
  readonly startMs: number;
  /** Monday to Sunday; null outside of the span. */
  readonly cells: readonly (HeatCell | null)[];
}

/** Weeks of the span, oldest first. */
export function prepareCalendar({ span, todayMs, days }: Calendar): readonly CalendarWeek[] {
  const isMonth = span === 'month';
  const fromMs = isMonth ? monthStart(todayMs) : firstOfWeeks(todayMs);
  const toMs = isMonth ? monthStart(todayMs, 1) : todayMs + DAY_MS;
  const mondays = daysBetween(weekStart(fromMs), toMs).filter((_, index) => index % 7 === 0);
  return mondays.map((startMs) => ({
    startMs,
    cells: daysBetween(startMs, startMs + WEEK_MS).map((dayMs) => {
      if (dayMs < fromMs || dayMs >= toMs) return null;
      return dayMs > todayMs ? futureCell(dayMs) : dayCell(dayMs, days.get(dayMs));
    }),
  }));
}

const cornerOf = (dayMs: number) => String(new Date(dayMs).getUTCDate());

const futureCell = (dayMs: number): HeatCell => ({
  ...{ text: '', title: `${longDay(dayMs)}: not yet`, amount: 0, corner: cornerOf(dayMs), link: null },
});

function dayCell(dayMs: number, bucket: Pick<SpendBucket, 'cost_usd' | 'requests'> | undefined): HeatCell {
  const { cost_usd: usd, requests } = bucket ?? { cost_usd: 0, requests: 0 };
  return {
    text: shortUsd(usd),
    title: `${longDay(dayMs)}: ${formatUsd(usd)}, ${countOf(requests, 'request')}`,
    amount: usd,
    corner: cornerOf(dayMs),
    link:
      requests === 0
        ? null
        : requestsLink({ ...rangeQuery({ fromMs: dayMs, toMs: dayMs + DAY_MS }), sort: '-cost_usd' }),
  };
}

/** `Mon, Nov 23, 2026`. */
const longDay = (dayMs: number): string =>
  new Date(dayMs).toLocaleDateString('en-US', {
    ...{ weekday: 'short', month: 'short', day: 'numeric', year: 'numeric', timeZone: 'UTC' },
  } as Intl.DateTimeFormatOptions);

const LEAST_SHOWN = 0.005;
/** From here on cents have no room. */
const WHOLE_FROM = 99.995;

/** At most six characters: $12.30, $1.23K. */
export function shortUsd(usd: number): string {
  if (usd > 0 && usd < LEAST_SHOWN) return '<$0.01';
  if (usd < WHOLE_FROM) return `$${usd.toFixed(2)}`;
  return `$${new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 }).format(usd)}`;
}

/** Sum and dearest day of a span. */
export function describeCalendar(weeks: readonly CalendarWeek[], span: Span): string {
  const days = weeks.flatMap(({ startMs, cells }) =>
    cells.flatMap((cell, index) => (cell === null ? [] : [{ dayMs: startMs + index * DAY_MS, usd: cell.amount }])),
  );
  const sum = days.reduce((total, { usd }) => total + usd, 0);
  const [dearest] = days.toSorted((a, b) => b.usd - a.usd);
  const when = span === 'month' ? 'this month' : 'in 12 weeks';
  if (dearest === undefined || dearest.usd === 0) return `Nothing was spent ${when}.`;
  return `${formatUsd(sum)} ${when}. Highest day: ${formatDay(dearest.dayMs, 'utc')}, ${formatUsd(dearest.usd)}.`;
}
