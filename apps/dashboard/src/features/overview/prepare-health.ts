import { failureRate } from '@llm0/core/errors/outcome';
import type { ErrorBucket } from '../../api/stats';
import { type ChartData, prepareLines, withCounts } from '../../charts/prepare-series';
import { MEANING } from '../../charts/series-colors';
import { OUTCOME_LABELS } from '../../format/outcome-labels';

const line = (name: keyof typeof OUTCOME_LABELS, value: (bucket: ErrorBucket) => number | null) => ({
  ...{ name, label: OUTCOME_LABELS[name], value, color: MEANING[name] },
});

/** Drawn from the bottom up: failures on top, for visibility. */
const OUTCOMES = [
  line('success', (bucket) => bucket.success),
  line('aborted', (bucket) => bucket.aborted),
  line('cap_exceeded', (bucket) => bucket.cap_exceeded),
  line('rate_limited', (bucket) => bucket.rate_limited),
  line('caller_error', (bucket) => bucket.caller_errors),
  line('error', (bucket) => bucket.failures),
];
export const OUTCOME_LAYERS = OUTCOMES.map(({ name, label, color }) => ({ name, label, color }));

/** Requests over time by outcome; drops outcomes that never occurred. */
export function prepareStatuses(times: readonly number[], buckets: readonly ErrorBucket[]): ChartData {
  const { series } = prepareLines({ times, buckets, lines: OUTCOMES, empty: 0 });
  return { times, series: series.filter(({ values }) => values.some((value) => value !== 0)) };
}

/** Share of failures among answers and failures; null without either. */
export const prepareErrorRate = (times: readonly number[], buckets: readonly ErrorBucket[]): ChartData =>
  withCounts(
    prepareLines({ times, buckets, lines: [line('error', failureRate)], empty: null }),
    buckets,
    ({ success, failures }) => success + failures,
  );
