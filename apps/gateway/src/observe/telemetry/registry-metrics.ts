import type { Attributes } from '@llm0/core/tracing/span';
import type { GenAiHistogram } from './gen-ai-metrics';
import type { HistogramPoint, OtlpMetric, Window } from './otlp/encode-metrics';

interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly value: number;
}

/** A metric as `prom-client` gives it. */
export interface Family {
  readonly name: string;
  readonly help: string;
  /** A name or a number, depending on the version of `prom-client`. */
  readonly type: unknown;
  readonly values: readonly Sample[];
}

/** The metrics that Prometheus scrapes, under the same names. */
export function registryMetrics(families: readonly Family[], window: Window): OtlpMetric[] {
  return families.flatMap(({ name, help, type, values: samples }): OtlpMetric[] => {
    if (samples.length === 0) return [];
    const described = { name, help, ...window };
    const kind = String(type);
    if (kind === 'histogram') return [{ ...described, kind, points: histogramPoints(name, samples) }];
    const points = samples.map(({ labels, value }) => ({ attributes: attributesOf(labels), value }));
    return [{ ...described, kind: kind === 'counter' ? 'sum' : 'gauge', points }];
  });
}

/** The metrics of the GenAI and MCP conventions. */
export const genAiMetrics = (histograms: readonly GenAiHistogram[], window: Window): OtlpMetric[] =>
  histograms
    .filter(({ series }) => series.length > 0)
    .map(({ name, description: help, unit, bounds, series }) => {
      const points = series.map((one) => ({ ...one, bounds }));
      return { name, help, unit, ...window, kind: 'histogram', points };
    });

function attributesOf(labels: Sample['labels']): Attributes {
  const known = Object.entries(labels).filter(([name, value]) => name !== 'le' && value !== undefined);
  return Object.fromEntries(known.map(([name, value]) => [name, String(value)]));
}

/** Prometheus counts all values up to a bound, OTLP those between two. */
function histogramPoints(name: string, samples: readonly Sample[]): readonly HistogramPoint[] {
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
    const bounds = buckets.map(({ bound }) => bound).filter(Number.isFinite);
    return {
      attributes: JSON.parse(key) as Attributes,
      ...{ count: of('_count'), sum: of('_sum'), bounds, counts },
    };
  });
}
