// Months and days of any time zone, in epoch milliseconds. Source of the zones: the runtime's own tables (IANA).

/** Half open: `fromMs` ≤ t < `toMs`. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** `YYYY-MM`. */
export const MONTH = /^(?:19|2\d)\d\d-(?:0[1-9]|1[0-2])$/;

const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(zone: string): Intl.DateTimeFormat {
  return clocks.getOrInsertComputed(zone, () => {
    const digits = '2-digit';
    const date = { year: 'numeric', month: digits, day: digits } as const;
    const time = { hour: digits, minute: digits, second: digits, hourCycle: 'h23' } as const;
    return new Intl.DateTimeFormat('en-US', { timeZone: zone, era: 'short', ...date, ...time });
  });
}

/** True if the runtime knows the zone: `Europe/Berlin`, `UTC`. */
export function isTimeZone(zone: string): boolean {
  try {
    return clockOf(zone) !== undefined;
  } catch {
    return false;
  }
}

/** The zone's wall clock, as if it were UTC. */
export function wallMs(zone: string, ms: number): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of clockOf(zone).formatToParts(ms)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** First instant of a wall clock time; for one that spring skips, the instant of the change. */
export function instantOf(zone: string, wall: number): number {
  const before = wall - (wallMs(zone, wall - DAY_MS) - (wall - DAY_MS));
  const after = wall - (wallMs(zone, wall + DAY_MS) - (wall + DAY_MS));
  const found = [Math.min(before, after), Math.max(before, after)].find((ms) => wallMs(zone, ms) === wall);
  return found ?? before;
}

/** The month of an instant, `YYYY-MM`. */
export const monthOf = (zone: string, ms: number): string => new Date(wallMs(zone, ms)).toISOString().slice(0, 7);

/** Shifts a month by a number of months. */
export function shiftMonth(month: string, by: number): string {
  const [year = 0, index = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, index - 1 + by, 1)).toISOString().slice(0, 7);
}

const firstOf = (month: string) => Date.parse(`${month}-01T00:00:00Z`);

/** A calendar month as the zone's clocks have it. */
export const monthRange = (zone: string, month: string): Stretch => ({
  fromMs: instantOf(zone, firstOf(month)),
  toMs: instantOf(zone, firstOf(shiftMonth(month, 1))),
});

/** The same part of the previous month: up to the same moment by the clock, at most all of it. */
export function sameShareBefore(zone: string, month: string, nowMs: number): Stretch {
  const earlier = shiftMonth(month, -1);
  const range = monthRange(zone, earlier);
  const passed = wallMs(zone, nowMs) - firstOf(month);
  return { ...range, toMs: Math.min(range.toMs, instantOf(zone, firstOf(earlier) + passed)) };
}

/** A day and its weekday, 0 for Sunday. */
export interface CalendarDay {
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly weekday: number;
  /** Remaining share of the day: 1 for whole days. */
  readonly share: number;
}

/** Rest of a month: today's rest, then whole days. */
export function daysLeft(zone: string, month: string, nowMs: number): readonly CalendarDay[] {
  const days: CalendarDay[] = [];
  const now = wallMs(zone, nowMs);
  for (let atMs = Math.floor(now / DAY_MS) * DAY_MS; atMs < firstOf(shiftMonth(month, 1)); atMs += DAY_MS) {
    const share = Math.min(1, (atMs + DAY_MS - now) / DAY_MS);
    const day = new Date(atMs);
    days.push({ date: day.toISOString().slice(0, 10), weekday: day.getUTCDay(), share });
  }
  return days;
}
