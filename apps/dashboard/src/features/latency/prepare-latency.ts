import { answersOf, type LatencyBucket, type Metric } from '../../api/stats';
import { type ChartData, prepareLines, withCounts } from '../../charts/prepare-series';
import { MEANING } from '../../charts/series-colors';
import type { RequestsFilter } from '../../range/use-show-requests';

const PERCENTILES = ['p50', 'p95', 'p99'] as const;

export const METRICS = ['latency', 'ttft', 'upstream', 'overhead'] as const satisfies readonly Metric[];

export const METRIC_LABELS = {
  latency: 'Total',
  ttft: 'First token',
  upstream: 'Upstream',
  overhead: 'Overhead',
} as const satisfies Record<Metric, string>;

/** Three lines, with gaps without measurements. With few requests p99 often equals p95: it is a ring around it. */
export function prepareLatency(times: readonly number[], buckets: readonly LatencyBucket[], metric: Metric): ChartData {
  const lines = PERCENTILES.map((name) => ({
    ...{ name, label: name, color: MEANING[name], hasRings: name === 'p99' },
    value: (bucket: LatencyBucket) => bucket[`${metric}_ms`][name],
  }));
  return withCounts(prepareLines({ times, buckets, lines, empty: null }), buckets, ({ requests }) => requests);
}

/** The requests that a point measures, slowest first. */
export const slowestBy = (metric: Metric): RequestsFilter => ({ ...answersOf(metric), sort: `-${metric}_ms` });
