// Conditions of alerts, shared by the job and the preview.
import { failureRate } from '../errors/outcome';
import { ALERT_KIND_FACTS, type AlertKind } from './kinds';

export type { AlertKind } from './kinds';

export interface AlertRule {
  readonly kind: AlertKind;
  /** In the unit of the kind (`ALERT_KIND_FACTS`); unused for failed jobs. */
  readonly threshold: number;
  readonly windowMinutes: number;
  /** Share of requests that are to succeed; for error budgets alone. */
  readonly objective?: number | null;
}

const NANO_USD = 1e9;
/** One failed request of two is no trend. */
const MIN_REQUESTS = 5;
/** Minimum of hits: below it the rate is noise. */
const MIN_CACHED_REQUESTS = 20;
const MIN_CACHED_BEFORE = 100;
/** A cache that hardly ever hit has nothing to lose. */
const MIN_HIT_SHARE = 0.02;

/** Contents of a time window. */
export interface WindowSums {
  readonly success: number;
  /** Failures: see `outcome.ts`. */
  readonly failures: number;
  readonly costNanoUsd: number;
  /** Of providers' answers; null when nothing was measured. */
  readonly p95Ms: number | null;
}

const errorRate = (sums: WindowSums): number | null =>
  sums.success + sums.failures < MIN_REQUESTS ? null : failureRate(sums);

/** Measured value of a window, in the unit of the threshold; null without data. */
export const WINDOW_VALUES = {
  error_rate: errorRate,
  latency_p95: ({ p95Ms }) => p95Ms,
  spend: ({ costNanoUsd }) => costNanoUsd / NANO_USD,
} as const satisfies Partial<Record<AlertKind, (sums: WindowSums) => number | null>>;

export type WindowedKind = keyof typeof WINDOW_VALUES;
export const isWindowed = (kind: AlertKind): kind is WindowedKind => kind in WINDOW_VALUES;

export const DEFAULT_OBJECTIVE = 0.99;
/** A short window ends an alert soon after its cause. Source: https://sre.google/workbook/alerting-on-slos/ */
const SHORT_WINDOW = 12;
export const shortWindowMinutes = ({ windowMinutes }: Pick<AlertRule, 'windowMinutes'>): number =>
  Math.max(1, Math.round(windowMinutes / SHORT_WINDOW));

/** Factor by which an error budget burns faster than planned, over both windows; null without data for one. */
export function burnRate(
  { objective }: Pick<AlertRule, 'objective'>,
  long: WindowSums,
  short: WindowSums,
): number | null {
  const budget = 1 - (objective ?? DEFAULT_OBJECTIVE);
  const [rate, recent] = [errorRate(long), errorRate(short)];
  return rate === null || recent === null || budget <= 0 ? null : Math.min(rate, recent) / budget;
}

/** Cache results over time. */
export interface CacheSums {
  readonly requests: number;
  readonly hits: number;
}

/** Lost share of the previous hit ratio, 0 for a rise; null without enough data. */
export function cacheRatioFall(now: CacheSums, before: CacheSums): number | null {
  if (now.requests < MIN_CACHED_REQUESTS || before.requests < MIN_CACHED_BEFORE) return null;
  const usual = before.hits / before.requests;
  return usual < MIN_HIT_SHARE ? null : Math.max(0, 1 - now.hits / now.requests / usual);
}

const BUDGET_LEVELS = [0.5, 0.8, 0.95];

/** Shares at which an alert tells of a budget again, after its threshold. */
export const budgetLevelsAbove = (threshold: number): readonly number[] =>
  BUDGET_LEVELS.filter((level) => level > threshold);

/** Used share of a budget; 1 for an empty one. */
export const shareUsed = (usedNanoUsd: number, limitNanoUsd: number): number =>
  limitNanoUsd === 0 ? 1 : usedNanoUsd / limitNanoUsd;

export const isMet = ({ kind, threshold }: Pick<AlertRule, 'kind' | 'threshold'>, value: number | null): boolean =>
  value !== null && value >= (ALERT_KIND_FACTS[kind].unit === 'none' ? 1 : threshold);
