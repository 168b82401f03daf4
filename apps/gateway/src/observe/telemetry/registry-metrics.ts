import type { Attributes } from '@llm0/core/tracing/span';
import { type MetricData, timeOf } from './encode-otlp';
import type { GenAiHistogram } from './gen-ai-metrics';

interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly value: number;
}

/** A metric as `prom-client` gives it. */
export interface Family {
  readonly name: string;
  readonly help: string;
  /** By name in one version of `prom-client`, by number in another. */
  readonly type: unknown;
  readonly values: readonly Sample[];
}

export interface Window {
  /** Of the process; cumulative values count from then on. */
  readonly startMs: number;
  readonly nowMs: number;
}

// The SDK's own numbers, which its types do not give without all of it.
const TYPE = { histogram: 0, gauge: 2, sum: 3 } as const;
const CUMULATIVE = 1;
const DOUBLE = 1;

type Point = { readonly attributes: Attributes; readonly value: unknown };

function metric(
  { name, help, unit = '' }: { readonly name: string; readonly help: string; readonly unit?: string },
  kind: keyof typeof TYPE,
  { points, window }: { readonly points: readonly Point[]; readonly window: Window },
): MetricData {
  const [startTime, endTime] = [timeOf(window.startMs), timeOf(window.nowMs)];
  return {
    descriptor: { name, description: help, unit, valueType: DOUBLE },
    dataPointType: TYPE[kind],
    aggregationTemporality: CUMULATIVE,
    ...(kind === 'sum' ? { isMonotonic: true } : {}),
    dataPoints: points.map((point) => ({ ...point, startTime, endTime })),
  } as unknown as MetricData;
}

/** All that Prometheus is told, under the same names. */
export function registryMetrics(families: readonly Family[], window: Window): MetricData[] {
  return families.flatMap(({ name, help, type, values: samples }) => {
    if (samples.length === 0) return [];
    const kind = String(type);
    if (kind === 'histogram')
      return [metric({ name, help }, 'histogram', { points: histogramPoints(name, samples), window })];
    const points = samples.map(({ labels, value }) => ({ attributes: attributesOf(labels), value }));
    return [metric({ name, help }, kind === 'counter' ? 'sum' : 'gauge', { points, window })];
  });
}

/** Those of the conventions. */
export const genAiMetrics = (histograms: readonly GenAiHistogram[], window: Window): MetricData[] =>
  histograms
    .filter(({ series }) => series.length > 0)
    .map(({ name, description: help, unit, bounds, series }) => {
      const points = series.map(({ attributes, counts, count, sum }) => ({
        attributes,
        value: { count, sum, buckets: { boundaries: [...bounds], counts: [...counts] } },
      }));
      return metric({ name, help, unit }, 'histogram', { points, window });
    });

function attributesOf(labels: Sample['labels']): Attributes {
  const known = Object.entries(labels).filter(([name, value]) => name !== 'le' && value !== undefined);
  return Object.fromEntries(known.map(([name, value]) => [name, String(value)]));
}

/** Prometheus counts all values up to a bound, OTLP those between two. */
function histogramPoints(name: string, samples: readonly Sample[]): readonly Point[] {
  const bySeries = Map.groupBy(samples, ({ labels }) => JSON.stringify(attributesOf(labels)));
  return [...bySeries].map(([key, own]) => {
    const of = (end: string) => own.find(({ metricName }) => metricName === `${name}${end}`)?.value ?? 0;
    const buckets = own
      .filter(({ metricName }) => metricName === `${name}_bucket`)
      .map(({ labels, value }) => ({
        bound: Number(labels.le === '+Inf' ? Number.POSITIVE_INFINITY : labels.le),
        value,
      }))
      .sort((a, b) => a.bound - b.bound);
    const counts = buckets.map(({ value }, index) => value - (buckets[index - 1]?.value ?? 0));
    const boundaries = buckets.map(({ bound }) => bound).filter(Number.isFinite);
    return {
      attributes: JSON.parse(key) as Attributes,
      value: { count: of('_count'), sum: of('_sum'), buckets: { boundaries, counts } },
    };
  });
}
