const DAY_MS = 86_400_000;

/** The first moment of the UTC month of an instant, or of one some months later. */
export function monthStart(nowMs: number, shift = 0): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + shift, 1);
}

/** Starts of the UTC days from one midnight up to another. */
export const daysBetween = (fromMs: number, toMs: number): number[] =>
  Array.from({ length: Math.round((toMs - fromMs) / DAY_MS) }, (_, index) => fromMs + index * DAY_MS);
