import type { LatencyBucket, Metric } from '../../api/stats';
import type { ChartData } from '../../charts/prepare-series';
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
  const byStart = new Map(buckets.map((bucket) => [Date.parse(bucket.start), bucket[`${metric}_ms`]]));
  const series = PERCENTILES.map((name) => ({
    name,
    label: name,
    color: MEANING[name],
    values: times.map((time) => byStart.get(time)?.[name] ?? null),
  }));
  return { times, series };
}

interface Speed {
  readonly tokensPerSecond: number;
  readonly requests: number;
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
export function prepareSpeeds(rows: readonly SpeedRow[]): ReadonlyMap<string, Speed> {
  const speeds = new Map<string, number[]>();
  for (const { model, tokens_out, latency_ms, ttft_ms, upstream_ms, stream } of rows) {
    const ms = stream && ttft_ms !== null ? latency_ms - ttft_ms : upstream_ms;
    if (ms === null || ms <= 0 || tokens_out === 0) continue;
    const known = speeds.get(model) ?? [];
    known.push((tokens_out / ms) * 1000);
    speeds.set(model, known);
  }
  return new Map(
    [...speeds].map(([model, values]) => {
      const sorted = values.sort((a, b) => a - b);
      return [model, { tokensPerSecond: sorted[Math.floor(sorted.length / 2)] ?? 0, requests: sorted.length }];
    }),
  );
}
