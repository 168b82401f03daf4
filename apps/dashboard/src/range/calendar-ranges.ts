import type { TimeZoneChoice } from '../format/format-time';

export interface CalendarRange {
  readonly label: string;
  readonly fromMs: number;
  /** Exclusive; never later than the end of the running minute. */
  readonly toMs: number;
}

const MINUTE_MS = 60_000;

/** Days and months of the zone, up to now. */
export function calendarRanges(nowMs: number, timeZone: TimeZoneChoice): readonly CalendarRange[] {
  const now = new Date(nowMs);
  const isUtc = timeZone === 'utc';
  const [year, month, day] = isUtc
    ? [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
    : [now.getFullYear(), now.getMonth(), now.getDate()];
  const midnight = (ofMonth: number, ofDay: number) =>
    isUtc ? Date.UTC(year, ofMonth, ofDay) : new Date(year, ofMonth, ofDay).getTime();
  const endMs = Math.ceil((nowMs + 1) / MINUTE_MS) * MINUTE_MS;
  return [
    { label: 'Today', fromMs: midnight(month, day), toMs: endMs },
    { label: 'Yesterday', fromMs: midnight(month, day - 1), toMs: midnight(month, day) },
    { label: 'This month', fromMs: midnight(month, 1), toMs: endMs },
    { label: 'Last month', fromMs: midnight(month - 1, 1), toMs: midnight(month, 1) },
  ];
}
