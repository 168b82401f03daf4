import type { LatencyBucket, Metric } from '../../api/stats';
import { type ChartData, prepareLines } from '../../charts/prepare-series';
import { MEANING } from '../../charts/series-colors';

const PERCENTILES = ['p50', 'p95', 'p99'] as const;

export const METRIC_LABELS = {
  latency: 'Total',
  ttft: 'First token',
  upstream: 'Upstream',
  overhead: 'Overhead',
} as const satisfies Record<Metric, string>;

/** Three lines; where nothing was measured there is a gap. */
export function prepareLatency(times: readonly number[], buckets: readonly LatencyBucket[], metric: Metric): ChartData {
  const lines = PERCENTILES.map((name) => ({
    ...{ name, label: name, color: MEANING[name] },
    value: (bucket: LatencyBucket) => bucket[`${metric}_ms`][name],
  }));
  return prepareLines({ times, buckets, lines, empty: null });
}

interface SpeedRow {
  readonly model: string;
  readonly tokens_out: number;
  readonly latency_ms: number;
  readonly ttft_ms: number | null;
  readonly upstream_ms: number | null;
  readonly stream: boolean;
}

/** Median output tokens a second after the first token, by model; from single requests, since roll-ups do not hold it. */
export function prepareSpeeds(rows: readonly SpeedRow[]): ReadonlyMap<string, number> {
  const speeds = new Map<string, number[]>();
  for (const { model, tokens_out, latency_ms, ttft_ms, upstream_ms, stream } of rows) {
    const ms = stream && ttft_ms !== null ? latency_ms - ttft_ms : upstream_ms;
    if (ms === null || ms <= 0 || tokens_out === 0) continue;
    const known = speeds.get(model) ?? [];
    known.push((tokens_out / ms) * 1000);
    speeds.set(model, known);
  }
  return new Map([...speeds].map(([model, values]) => [model, middleOf(values)]));
}

const middleOf = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
