import type { Attributes } from '@llm0/core/tracing/span';
import { nanosOf, type Sender, writeAttributes, writeResource, writeScope } from './encode-attributes';
import {
  DATA,
  HISTOGRAM_POINT,
  METRIC,
  type MessageWriter,
  NUMBER_POINT,
  REQUEST,
  RESOURCE_METRICS,
  SCOPE_METRICS,
} from './fields';

/** The times that cumulative values count between, in epoch milliseconds. */
export interface Window {
  readonly startMs: number;
  readonly nowMs: number;
}

export interface NumberPoint {
  readonly attributes: Attributes;
  readonly value: number;
}

/** `counts` has one more entry than `bounds`: values above the last bound. */
export interface HistogramPoint {
  readonly attributes: Attributes;
  readonly count: number;
  readonly sum: number;
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
}

interface Described extends Window {
  readonly name: string;
  readonly help: string;
  readonly unit?: string;
}

export type OtlpMetric = Described &
  (
    | { readonly kind: 'sum' | 'gauge'; readonly points: readonly NumberPoint[] }
    | { readonly kind: 'histogram'; readonly points: readonly HistogramPoint[] }
  );

const CUMULATIVE = 2;

/** Metrics as `ExportMetricsServiceRequest`. */
export function encodeMetrics(
  writer: MessageWriter,
  sender: Sender,
  metrics: readonly OtlpMetric[],
): Uint8Array<ArrayBuffer> {
  writer.start();
  const all = writer.begin(REQUEST.resourceMetrics);
  writeResource(writer, RESOURCE_METRICS.resource, sender);
  const scope = writer.begin(RESOURCE_METRICS.scopes);
  writeScope(writer, SCOPE_METRICS.scope, sender);
  for (const metric of metrics) writeMetric(writer, metric);
  writer.end(scope);
  writer.end(all);
  return writer.finish();
}

function writeMetric(writer: MessageWriter, metric: OtlpMetric): void {
  const start = writer.begin(SCOPE_METRICS.metrics);
  writer.string(METRIC.name, metric.name);
  writer.string(METRIC.description, metric.help);
  if (metric.unit !== undefined) writer.string(METRIC.unit, metric.unit);
  const data = writer.begin(METRIC[metric.kind]);
  if (metric.kind === 'histogram') for (const point of metric.points) writeHistogram(writer, point, metric);
  else for (const point of metric.points) writeNumber(writer, point, metric);
  if (metric.kind !== 'gauge') writer.integer(DATA.temporality, CUMULATIVE);
  if (metric.kind === 'sum') writer.boolean(DATA.isMonotonic, true);
  writer.end(data);
  writer.end(start);
}

function writeNumber(writer: MessageWriter, { attributes, value }: NumberPoint, { startMs, nowMs }: Window): void {
  const start = writer.begin(DATA.points);
  writer.nanos(NUMBER_POINT.start, nanosOf(startMs));
  writer.nanos(NUMBER_POINT.time, nanosOf(nowMs));
  writer.double(NUMBER_POINT.value, value);
  writeAttributes(writer, NUMBER_POINT.attributes, attributes);
  writer.end(start);
}

function writeHistogram(writer: MessageWriter, point: HistogramPoint, { startMs, nowMs }: Window): void {
  const start = writer.begin(DATA.points);
  writer.nanos(HISTOGRAM_POINT.start, nanosOf(startMs));
  writer.nanos(HISTOGRAM_POINT.time, nanosOf(nowMs));
  writer.count(HISTOGRAM_POINT.count, point.count);
  writer.double(HISTOGRAM_POINT.sum, point.sum);
  writer.counts(HISTOGRAM_POINT.counts, point.counts);
  writer.doubles(HISTOGRAM_POINT.bounds, point.bounds);
  writeAttributes(writer, HISTOGRAM_POINT.attributes, point.attributes);
  writer.end(start);
}
