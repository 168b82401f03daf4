export type TimeZoneChoice = 'utc' | 'local';

const zone = (choice: TimeZoneChoice) => (choice === 'utc' ? 'UTC' : undefined);

/** `UTC`, or the browser's zone by name: `Europe/Berlin`. */
export const zoneName = (choice: TimeZoneChoice): string =>
  choice === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;

/** `2026-03-01 14:05:09` with the zone it is in. */
export function formatInstant(at: string | number, choice: TimeZoneChoice): string {
  return `${formatStamp(at, choice)} ${zoneName(choice)}`;
}

/** `2026-03-01 14:05:09`, without a zone. */
export function formatStamp(at: string | number, choice: TimeZoneChoice): string {
  return new Intl.DateTimeFormat('sv-SE', {
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' },
    timeZone: zone(choice),
  } as Intl.DateTimeFormatOptions).format(new Date(at));
}

/** Reads what `formatStamp` writes; seconds and the time of day may be missing. null = no such time. */
export function parseStamp(text: string, choice: TimeZoneChoice): number | null {
  const found = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(:\d\d)?)?$/.exec(text.trim());
  if (found === null) return null;
  const [, day = '', clock = '00:00', seconds = ':00'] = found;
  const ms = Date.parse(`${day}T${clock}${seconds}${choice === 'utc' ? 'Z' : ''}`);
  // A day that its month lacks could become one of the next month.
  return Number.isFinite(ms) && formatStamp(ms, choice) === `${day} ${clock}${seconds}` ? ms : null;
}

/** `Mar 1`. */
export function formatDay(at: number, choice: TimeZoneChoice): string {
  return new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: zone(choice) }).format(at);
}

/** `Mar 1–3`: UTC days, both included. */
export function formatDays(from: string, to: string): string {
  const days = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' });
  // Some languages put thin spaces around the dash.
  return days
    .formatRange(new Date(from), new Date(to))
    .split('–')
    .map((day) => day.trim())
    .join('–');
}

/** `14:05`. */
export function formatClock(at: number, choice: TimeZoneChoice): string {
  return new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: zone(choice) }).format(at);
}

const STEPS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** `3 minutes ago`, `in 2 days`. */
export function formatAgo(at: string | number, nowMs: number): string {
  const ms = new Date(at).getTime() - nowMs;
  const [unit, size] = STEPS.find(([, size]) => Math.abs(ms) >= size) ?? (['second', 1000] as const);
  return new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(Math.round(ms / size), unit);
}

const LENGTHS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** `1 h`, `90 s`: a length that somebody set, in the largest unit without decimals. */
export function formatLength(ms: number): string {
  const [unit, size] = LENGTHS.find(([, size]) => ms > 0 && ms % size === 0) ?? (['ms', 1] as const);
  return `${ms / size} ${unit}`;
}

/** `Tuesday 14:05`, with the zone: of the last seven days. */
export function formatWeekday(at: number, choice: TimeZoneChoice): string {
  const day = new Intl.DateTimeFormat('en-US', { weekday: 'long', timeZone: zone(choice) }).format(at);
  return `${day} ${formatClock(at, choice)} ${zoneName(choice)}`;
}
