/** Epoch milliseconds; `toMs` is exclusive. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Two places on a time axis, in any order → the whole buckets between and under them. */
export function stretchBetween(oneMs: number, otherMs: number, intervalMs: number): Stretch {
  const [first, last] = oneMs < otherMs ? [oneMs, otherMs] : [otherMs, oneMs];
  const fromMs = Math.floor(first / intervalMs) * intervalMs;
  return { fromMs, toMs: Math.max(fromMs + intervalMs, Math.ceil(last / intervalMs) * intervalMs) };
}

/** Keyboard position in a chart: a bucket and the start of a selection. */
export interface KeyPlace {
  readonly index: number;
  readonly anchor: number | null;
}

const STEPS: Readonly<Record<string, number>> = {
  ...{ ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 },
  ...{ PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity },
};

/** Next place for a key; Shift extends a selection. Null for other keys. */
export function moveByKey(
  { index, anchor }: KeyPlace,
  { key, shiftKey }: { readonly key: string; readonly shiftKey: boolean },
  count: number,
): KeyPlace | null {
  const step = STEPS[key];
  if (step === undefined || count === 0) return null;
  const to = Math.min(count - 1, Math.max(0, index + step));
  return { index: to, anchor: shiftKey ? (anchor ?? index) : null };
}

/** The buckets from the start of the selection to its end. */
export function selectedStretch(times: readonly number[], { index, anchor }: KeyPlace, intervalMs: number): Stretch {
  const [first = 0, last = 0] = [times[Math.min(index, anchor ?? index)], times[Math.max(index, anchor ?? index)]];
  return { fromMs: first, toMs: last + intervalMs };
}
