const DAY_MS = 86_400_000;
/** Month and year lengths of the chart library. */
const MONTH_MS = 30 * DAY_MS;
const YEAR_MS = 365 * DAY_MS;
const EPOCH_YEAR = 1970;

interface TicksInput {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  /** Offset of the displayed time zone from UTC at an instant. */
  readonly offsetAt: (ms: number) => number;
}

/** Ticks of a time axis: whole steps of the displayed clock, independent of the browser's zone. */
export function prepareTicks({ fromMs, toMs, stepMs, offsetAt }: TicksInput): number[] {
  const ticks: number[] = [];
  for (let index = 0, clock = 0; clock <= toMs + DAY_MS; index++) {
    clock = clockAt(fromMs - DAY_MS, stepMs, index);
    const at = instantOf(clock, offsetAt);
    // Skips hours that a change to summer time leaves out.
    const isShown = at + offsetAt(at) === clock;
    if (isShown && at >= fromMs && at <= toMs && at > (ticks.at(-1) ?? -Infinity)) ticks.push(at);
  }
  return ticks;
}

/** Clock value after some steps from the last whole one; as if it were UTC. */
function clockAt(fromClock: number, stepMs: number, index: number): number {
  if (stepMs < MONTH_MS) return (Math.floor(fromClock / stepMs) + index) * stepMs;
  const months = stepMs < YEAR_MS ? Math.round(stepMs / MONTH_MS) : 12 * Math.round(stepMs / YEAR_MS);
  const date = new Date(fromClock);
  const first = Math.floor(((date.getUTCFullYear() - EPOCH_YEAR) * 12 + date.getUTCMonth()) / months);
  return Date.UTC(EPOCH_YEAR, (first + index) * months, 1);
}

/** The offset is the one that holds then, not the one before a change. */
function instantOf(clock: number, offsetAt: (ms: number) => number): number {
  const guess = clock - offsetAt(clock);
  return clock - offsetAt(guess);
}
