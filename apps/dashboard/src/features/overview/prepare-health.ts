import { failureRate } from '@llm0/core/errors/outcome';
import type { ErrorBucket } from '../../api/stats';
import { type ChartData, prepareLines, withCounts } from '../../charts/prepare-series';
import { MEANING } from '../../charts/series-colors';

const line = (name: keyof typeof MEANING, label: string, value: (bucket: ErrorBucket) => number | null) => ({
  ...{ name, label, value, color: MEANING[name] },
});

/** Drawn from the bottom up: failures on top, for visibility. Named as requests are filtered. */
const OUTCOMES = [
  line('success', 'Success', (bucket) => bucket.success),
  line('aborted', 'Aborted', (bucket) => bucket.aborted),
  line('cap_exceeded', 'Over a cap', (bucket) => bucket.cap_exceeded),
  line('rate_limited', 'Rate limited', (bucket) => bucket.rate_limited),
  line('caller_error', 'Caller error', (bucket) => bucket.caller_errors),
  line('error', 'Failed', (bucket) => bucket.failures),
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
    prepareLines({ times, buckets, lines: [line('error', 'Failed', failureRate)], empty: null }),
    buckets,
    ({ success, failures }) => success + failures,
  );
