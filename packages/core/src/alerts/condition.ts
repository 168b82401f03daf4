// When an alert fires: the job that watches and the preview of what it would have done both ask here.

export type AlertKind = 'budget_share' | 'error_rate' | 'latency_p95' | 'spend' | 'job_failed' | 'guardrail_hits';

export interface AlertRule {
  readonly kind: AlertKind;
  /** A share (0…1) for budgets and error rates, milliseconds for latency, USD for spend, a number of hits; unused for failed jobs. */
  readonly threshold: number;
  readonly windowMinutes: number;
}

const NANO_USD = 1e9;
/** One failed request of two is no trend. */
const MIN_REQUESTS = 5;

/** What a window of time holds. */
export interface WindowSums {
  readonly requests: number;
  readonly errors: number;
  readonly costNanoUsd: number;
  /** null when nothing was measured. */
  readonly p95Ms: number | null;
}

/** What is measured of a window, in the unit of the threshold; null where there is nothing to measure. */
export const WINDOW_VALUES = {
  error_rate: ({ requests, errors }) => (requests < MIN_REQUESTS ? null : errors / requests),
  latency_p95: ({ p95Ms }) => p95Ms,
  spend: ({ costNanoUsd }) => costNanoUsd / NANO_USD,
} as const satisfies Partial<Record<AlertKind, (sums: WindowSums) => number | null>>;

export type WindowedKind = keyof typeof WINDOW_VALUES;
export const isWindowed = (kind: AlertKind): kind is WindowedKind => kind in WINDOW_VALUES;

/** What of a budget is used: all of one that allows nothing. */
export const shareUsed = (usedNanoUsd: number, limitNanoUsd: number): number =>
  limitNanoUsd === 0 ? 1 : usedNanoUsd / limitNanoUsd;

export const isMet = ({ kind, threshold }: Pick<AlertRule, 'kind' | 'threshold'>, value: number | null): boolean =>
  value !== null && value >= (kind === 'job_failed' ? 1 : threshold);
