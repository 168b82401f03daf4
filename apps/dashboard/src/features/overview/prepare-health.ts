import type { ErrorBucket } from '../../api/stats';
import { type ChartData, prepareLines } from '../../charts/prepare-series';
import { MEANING } from '../../charts/series-colors';
import type { RequestsFilter } from '../../range/use-show-requests';
import { countCallerErrors, FAILURE_CODES } from './prepare-overview';

/** A bucket with the failures for which callers are at fault. */
export interface HealthBucket extends ErrorBucket {
  readonly callerErrors: number;
}

const line = (name: keyof typeof MEANING, label: string, value: (bucket: HealthBucket) => number) => ({
  ...{ name, label, value, color: MEANING[name] },
});
const rateOf = (part: number, { requests }: ErrorBucket) => (requests === 0 ? 0 : part / requests);

/** Drawn from the bottom up: failures on top, for visibility. */
const STATUSES = [
  line('success', 'Success', (bucket) => bucket.success),
  line('aborted', 'Aborted by the caller', (bucket) => bucket.aborted),
  line('cap_exceeded', 'Over a cap', (bucket) => bucket.cap_exceeded),
  line('rate_limited', 'Rate limited', (bucket) => bucket.rate_limited),
  line('caller', 'Caller error', (bucket) => bucket.callerErrors),
  line('error', 'Failed', (bucket) => bucket.errors - bucket.callerErrors),
];
const RATE = [
  line('error', 'Failed', (bucket) => rateOf(bucket.errors - bucket.callerErrors, bucket)),
  line('caller', 'Caller error', (bucket) => rateOf(bucket.callerErrors, bucket)),
];

/** Adds caller errors to buckets, from the buckets of each error code. */
export function withCallerErrors(buckets: readonly ErrorBucket[], byCode: readonly ErrorBucket[]): HealthBucket[] {
  const codes = Map.groupBy(byCode, ({ start }) => Date.parse(start));
  return buckets.map((bucket) => ({
    ...bucket,
    callerErrors: Math.min(bucket.errors, countCallerErrors(codes.get(Date.parse(bucket.start)) ?? [])),
  }));
}

/** Requests behind a series of these charts. */
export function requestsOfHealth(series: string | null): RequestsFilter {
  if (series === 'caller') return { status: 'error', error_code_not: FAILURE_CODES };
  if (series === 'error') return { status: 'error', error_code: FAILURE_CODES };
  return { status: series ?? undefined };
}

/** Requests over time by outcome; drops outcomes that never occurred. */
export function prepareStatuses(times: readonly number[], buckets: readonly HealthBucket[]): ChartData {
  const { series } = prepareLines({ times, buckets, lines: STATUSES, empty: 0 });
  return { times, series: series.filter(({ values }) => values.some((value) => value !== 0)) };
}

/** Share of failures, and of caller errors if there are any; null without requests. */
export function prepareErrorRate(times: readonly number[], buckets: readonly HealthBucket[]): ChartData {
  const { series } = prepareLines({ times, buckets, lines: RATE, empty: null });
  const hasCallers = buckets.some(({ callerErrors }) => callerErrors > 0);
  return { times, series: hasCallers ? series : series.slice(0, 1) };
}
