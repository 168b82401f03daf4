import { robustZ } from './robust-z';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Four weeks of the same hour of the day. */
const DAYS_BEFORE = 28;
/** Fewer days don't show the usual level. */
const MIN_DAYS = 7;
/** A cent more or less is never an anomaly. */
const LEAST_NANO_USD = 10_000_000;

/** The hour that is over and the one that runs, and the same hours of four weeks before. */
export function anomalyHours(nowMs: number): readonly number[] {
  return comparedHours(nowMs).flatMap((hourMs) => [hourMs, ...hoursBefore(hourMs)]);
}

const comparedHours = (nowMs: number): readonly number[] => {
  const hourMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  return [hourMs - HOUR_MS, hourMs];
};

const hoursBefore = (hourMs: number): readonly number[] =>
  Array.from({ length: DAYS_BEFORE }, (_, day) => hourMs - (day + 1) * DAY_MS);

export interface KnownHours {
  /** Nano-USD; hours without any may be left out. */
  readonly byHour: ReadonlyMap<number, number>;
  readonly firstMs: number | null;
}

export interface SpendAnomaly {
  readonly z: number;
  readonly costNanoUsd: number;
  readonly hourMs: number;
}

/** `1.7 deviations below the usual`. */
export const describeDeviation = (z: number): string =>
  `${Math.abs(z).toFixed(1)} deviations ${z < 0 ? 'below' : 'above'} the usual`;

/**
 * The odder of two hours: the last full one and the current one, whose spend can only grow. null with less than a week
 * of data.
 */
export function findSpendAnomaly(nowMs: number, { byHour, firstMs }: KnownHours): SpendAnomaly | null {
  if (firstMs === null) return null;
  const found = comparedHours(nowMs).flatMap((hourMs): readonly SpendAnomaly[] => {
    const days = hoursBefore(hourMs).filter((beforeMs) => beforeMs >= firstMs);
    if (days.length < MIN_DAYS) return [];
    const costNanoUsd = byHour.get(hourMs) ?? 0;
    const z = robustZ(
      costNanoUsd,
      days.map((beforeMs) => byHour.get(beforeMs) ?? 0),
      LEAST_NANO_USD,
    );
    return z === null ? [] : [{ z, costNanoUsd, hourMs }];
  });
  return found.reduce<SpendAnomaly | null>((odder, one) => (odder === null || one.z > odder.z ? one : odder), null);
}
