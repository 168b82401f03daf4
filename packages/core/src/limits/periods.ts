/** UTC days, weeks and months as whole numbers that can be subtracted; the Lua scripts compute the same ones. */
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
/** Months of spend the stores keep: far beyond the 70 days that any settlement or rebuild may look back. */
export const MONTHS_KEPT = 4;
/** Days of customer spend the stores keep. */
export const DAYS_KEPT = 8;

export function dayIndex(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** Day of the first Monday: the epoch was a Thursday. */
const FIRST_MONDAY = 4;

/** Weeks from Monday to Sunday, UTC; 1 began on 1970-01-05. */
export const weekIndex = (ms: number): number => Math.floor((dayIndex(ms) + 7 - FIRST_MONDAY) / 7);

export const weekStartMs = (index: number): number => (index * 7 - 7 + FIRST_MONDAY) * DAY_MS;

/** Months since the year 0. */
export function monthIndex(ms: number): number {
  const date = new Date(ms);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** `YYYY-MM` of a month index. */
export function monthName(index: number): string {
  return `${String(Math.floor(index / 12)).padStart(4, '0')}-${String((index % 12) + 1).padStart(2, '0')}`;
}

/** Index of `YYYY-MM` (or of the month of `YYYY-MM-DD`). */
export function parseMonth(name: string): number {
  return Number(name.slice(0, 4)) * 12 + Number(name.slice(5, 7)) - 1;
}

/** Index of `YYYY-MM-DD`. */
export function parseDay(name: string): number {
  return dayIndex(Date.parse(`${name}T00:00:00Z`));
}

export const monthStartMs = (index: number): number => Date.UTC(Math.floor(index / 12), index % 12, 1);

export function msToNextDay(ms: number): number {
  return (dayIndex(ms) + 1) * DAY_MS - ms;
}

export function msToNextMonth(ms: number): number {
  return monthStartMs(monthIndex(ms) + 1) - ms;
}
