const DAY_MS = 86_400_000;
/** Rows that come together are mostly of one day. */
let last = { day: Number.NaN, text: '' };

/** `YYYY-MM-DD` of an instant, UTC. */
export function utcDay(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  if (day !== last.day) last = { day, text: new Date(ms).toISOString().slice(0, 10) };
  return last.text;
}
