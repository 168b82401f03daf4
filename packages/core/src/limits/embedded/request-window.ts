/**
 * Fixed UTC windows (hour, day) with a counter, as one number: window × 1e9 + count. `lua/customer_spend.lua` does the
 * same. A clock that steps back by less than a window keeps counting in the later one, so that no window ever gets more.
 */
const WINDOW_FACTOR = 1e9;

export interface WindowCount {
  readonly window: number;
  readonly count: number;
}

export function readWindow(stored: number | undefined, nowMs: number, lengthMs: number): WindowCount {
  const now = Math.floor(nowMs / lengthMs);
  if (stored === undefined) return { window: now, count: 0 };
  const window = Math.floor(stored / WINDOW_FACTOR);
  return window === now || window === now + 1
    ? { window, count: stored - window * WINDOW_FACTOR }
    : { window: now, count: 0 };
}

/** The stored form with one request more. */
export function countRequest({ window, count }: WindowCount): number {
  return window * WINDOW_FACTOR + count + 1;
}

export function msToWindowEnd({ window }: WindowCount, nowMs: number, lengthMs: number): number {
  return (window + 1) * lengthMs - nowMs;
}

/** Start of a stored window, epoch milliseconds. */
export const windowStart = (stored: number, lengthMs: number): number => Math.floor(stored / WINDOW_FACTOR) * lengthMs;
