import { daysBetween, monthStart } from '../../range/month';

const DAY_MS = 86_400_000;

/** The way to the forecast, as the statement has it: spend at the end of a day, since the start of the month. */
export interface ExpectedDay {
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly expected_usd: number;
  readonly low_usd: number | null;
  readonly high_usd: number | null;
}

interface MonthInput {
  /** USD by the start of each UTC day. */
  readonly spentOn: ReadonlyMap<number, number>;
  /** Start of the UTC month. */
  readonly startMs: number;
  readonly nowMs: number;
  readonly capUsd: number | null;
  readonly forecast: readonly ExpectedDay[];
  /** Start of the data. Earlier days are unknown: no line is drawn there. */
  readonly dataFromMs?: number;
}

/** Running totals in USD at the end of a day; of today: now. */
export interface MonthDay {
  readonly startMs: number;
  /** Null in the future. */
  readonly spent: number | null;
  /** On the same day of the month before, on the last one its total; null if that month is shorter, or without data. */
  readonly before: number | null;
  /** Null in the past, and without a forecast. */
  readonly expected: number | null;
  /** Ends of the band; null if unknown. */
  readonly low: number | null;
  readonly high: number | null;
}

/** Curves as SVG paths in a square of 100 by 100. */
export interface MonthCurve {
  readonly days: readonly MonthDay[];
  /** Index of the current day; beyond the last one if the month has ended. */
  readonly today: number;
  readonly paths: { readonly spent: string; readonly before: string; readonly expected: string; readonly band: string };
  readonly ticks: readonly number[];
  /** Height of the picture in USD. */
  readonly topUsd: number;
  /** Null without a cap. A cap far beyond the curves is not drawn: it would flatten them. */
  readonly cap: { readonly usd: number; readonly isDrawn: boolean } | null;
}

/** Running totals of consecutive days. */
function runningTotals(days: readonly number[], spentOn: ReadonlyMap<number, number>): number[] {
  let sum = 0;
  return days.map((day) => {
    sum += spentOn.get(day) ?? 0;
    return sum;
  });
}

/** A month up to now, the month before, and the forecast for the rest. */
export function prepareMonth({ spentOn, startMs, nowMs, capUsd, forecast, dataFromMs = 0 }: MonthInput): MonthCurve {
  const starts = daysBetween(startMs, monthStart(startMs, 1));
  const spent = runningTotals(starts, spentOn);
  const startsBefore = daysBetween(monthStart(startMs, -1), startMs);
  const before = runningTotals(startsBefore, spentOn).map((usd, index) =>
    (startsBefore[index] ?? 0) < dataFromMs ? null : usd,
  );
  // A longer month ends on the last day of this one: its total would be missing otherwise.
  const beforeOn = (index: number) =>
    (index === starts.length - 1 ? before.slice(index).at(-1) : before[index]) ?? null;
  const today = Math.floor((nowMs - startMs) / DAY_MS);
  const expectedOn = new Map(forecast.map((day) => [Date.parse(`${day.date}T00:00:00Z`), day]));
  const days = starts.map((start, index): MonthDay => {
    const { expected_usd: expected = null, low_usd: low = null, high_usd: high = null } = expectedOn.get(start) ?? {};
    return {
      ...{ startMs: start, spent: index <= today ? (spent[index] ?? 0) : null, before: beforeOn(index) },
      ...(index < today ? { expected: null, low: null, high: null } : { expected, low, high }),
    };
  });
  const amounts = days.flatMap(({ spent, before, expected, high }) => [spent, before, expected, high]);
  const highest = Math.max(...amounts.map((usd) => usd ?? 0));
  const drawnCap = capUsd !== null && (highest === 0 || capUsd <= highest * MOST_ABOVE) ? capUsd : null;
  const topUsd = Math.max(highest, drawnCap ?? 0) * HEADROOM || 1;
  return {
    ...{ days, today, topUsd, ticks: ticksUpTo(topUsd) },
    paths: pathsOf(days, { today, topUsd, nowShare: (nowMs - startMs) / (starts.length * DAY_MS), dataFromMs }),
    cap: capUsd === null ? null : { usd: capUsd, isDrawn: drawnCap !== null },
  };
}

/** A cap is drawn up to this many times the highest point. */
const MOST_ABOVE = 4;
const HEADROOM = 1.05;
const MOST_TICKS = 4;

/** Whole steps of 1, 2 or 5. */
function ticksUpTo(topUsd: number): readonly number[] {
  const power = 10 ** Math.floor(Math.log10(topUsd / MOST_TICKS));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((one) => topUsd / one <= MOST_TICKS) ?? topUsd;
  return Array.from({ length: Math.floor(topUsd / step) + 1 }, (_, index) => Number((index * step).toPrecision(6)));
}

interface Scale {
  readonly today: number;
  readonly topUsd: number;
  /** Passed share of the month. */
  readonly nowShare: number;
  readonly dataFromMs: number;
}

type Point = readonly [x: number, y: number];

function pathsOf(days: readonly MonthDay[], { today, topUsd, nowShare, dataFromMs }: Scale): MonthCurve['paths'] {
  const y = (usd: number) => heightOf(usd, topUsd);
  const endOf = (index: number) => ((index + 1) / days.length) * 100;
  const xOf = (index: number) => (index === today ? nowShare * 100 : endOf(index));
  const points = (of: (day: MonthDay) => number | null, at: (index: number) => number): Point[] =>
    days.flatMap((day, index) => {
      const usd = of(day);
      return usd === null ? [] : [[at(index), y(usd)] as const];
    });
  const now: Point = [nowShare * 100, y(days[today]?.spent ?? 0)];
  const [low, high] = [points((day) => day.low, endOf), points((day) => day.high, endOf)];
  const expected = points((day) => day.expected, endOf);
  const spent = (day: MonthDay) => (day.startMs < dataFromMs ? null : day.spent);
  const first = days.findIndex((day) => spent(day) !== null);
  const firstBefore = days.findIndex(({ before }) => before !== null);
  return {
    spent: first < 0 ? '' : lineOf([[endOf(first - 1), 100], ...points(spent, xOf)]),
    before: firstBefore < 0 ? '' : lineOf([[endOf(firstBefore - 1), 100], ...points((day) => day.before, endOf)]),
    expected: expected.length === 0 ? '' : lineOf([now, ...expected]),
    band: high.length === 0 ? '' : `${lineOf([now, ...high, ...low.toReversed()])}z`,
  };
}

/** Distance from the top in percent. */
export const heightOf = (usd: number, topUsd: number): number => 100 - (usd / topUsd) * 100;

const round = (value: number) => Number(value.toFixed(2));
const lineOf = (points: readonly Point[]) =>
  points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`).join('');
