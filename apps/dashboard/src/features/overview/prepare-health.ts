import type { ErrorBucket } from '../../api/stats';
import { type ChartData, prepareLines } from '../../charts/prepare-series';
import { MEANING } from '../../charts/series-colors';

const line = (name: keyof typeof MEANING, label: string, value: (bucket: ErrorBucket) => number) => ({
  ...{ name, label, value, color: MEANING[name] },
});

/** Drawn from the bottom up: failures on top, for visibility. */
const STATUSES = [
  line('success', 'Success', (bucket) => bucket.success),
  line('aborted', 'Aborted by the caller', (bucket) => bucket.aborted),
  line('cap_exceeded', 'Over a cap', (bucket) => bucket.cap_exceeded),
  line('rate_limited', 'Rate limited', (bucket) => bucket.rate_limited),
  line('error', 'Failed', (bucket) => bucket.errors),
];
const RATE = [line('error', 'Failed', (bucket) => bucket.error_rate)];

/** Requests over time by outcome; drops outcomes that never occurred. */
export function prepareStatuses(times: readonly number[], buckets: readonly ErrorBucket[]): ChartData {
  const { series } = prepareLines({ times, buckets, lines: STATUSES, empty: 0 });
  return { times, series: series.filter(({ values }) => values.some((value) => value !== 0)) };
}

/** Share of failures; null without requests. */
export const prepareErrorRate = (times: readonly number[], buckets: readonly ErrorBucket[]): ChartData =>
  prepareLines({ times, buckets, lines: RATE, empty: null });
