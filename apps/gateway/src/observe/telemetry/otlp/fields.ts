/** One field of an OTLP message: its number in Protocol Buffers, its name in JSON. */
export interface Field {
  readonly number: number;
  readonly name: string;
  /** The field repeats. */
  readonly isList?: true;
}

/** Writes one message at a time; only `finish` returns bytes. */
export interface MessageWriter {
  /** Starts a new message and drops an unfinished one. */
  start(): void;
  /** Opens a nested message; pass the result to `end`. */
  begin(field: Field): number;
  end(start: number): void;
  string(field: Field, text: string): void;
  /** A text out of few: an attribute's name. */
  name(field: Field, text: string): void;
  /** Bytes given as hex digits. */
  id(field: Field, digits: string): void;
  integer(field: Field, value: number): void;
  boolean(field: Field, value: boolean): void;
  double(field: Field, value: number): void;
  doubles(field: Field, values: readonly number[]): void;
  /** Nanoseconds since the epoch. */
  nanos(field: Field, value: bigint): void;
  flags(field: Field, value: number): void;
  count(field: Field, value: number): void;
  counts(field: Field, values: readonly number[]): void;
  finish(): Uint8Array<ArrayBuffer>;
}

const one = (number: number, name: string): Field => ({ number, name });
const list = (number: number, name: string): Field => ({ number, name, isList: true });

// Source: https://github.com/open-telemetry/opentelemetry-proto (trace, metrics, common and resource, v1)
export const REQUEST = { resourceSpans: list(1, 'resourceSpans'), resourceMetrics: list(1, 'resourceMetrics') };
export const RESOURCE_SPANS = { resource: one(1, 'resource'), scopes: list(2, 'scopeSpans') };
export const RESOURCE_METRICS = { resource: one(1, 'resource'), scopes: list(2, 'scopeMetrics') };
export const RESOURCE = { attributes: list(1, 'attributes') };
export const SCOPE_SPANS = { scope: one(1, 'scope'), spans: list(2, 'spans') };
export const SCOPE_METRICS = { scope: one(1, 'scope'), metrics: list(2, 'metrics') };
export const SCOPE = { name: one(1, 'name'), version: one(2, 'version') };
export const SPAN = {
  traceId: one(1, 'traceId'),
  spanId: one(2, 'spanId'),
  traceState: one(3, 'traceState'),
  parentSpanId: one(4, 'parentSpanId'),
  name: one(5, 'name'),
  kind: one(6, 'kind'),
  start: one(7, 'startTimeUnixNano'),
  end: one(8, 'endTimeUnixNano'),
  attributes: list(9, 'attributes'),
  events: list(11, 'events'),
  status: one(15, 'status'),
  flags: one(16, 'flags'),
};
export const EVENT = { time: one(1, 'timeUnixNano'), name: one(2, 'name'), attributes: list(3, 'attributes') };
export const STATUS = { message: one(2, 'message'), code: one(3, 'code') };
export const KEY_VALUE = { key: one(1, 'key'), value: one(2, 'value') };
export const ANY = {
  string: one(1, 'stringValue'),
  boolean: one(2, 'boolValue'),
  integer: one(3, 'intValue'),
  double: one(4, 'doubleValue'),
  array: one(5, 'arrayValue'),
};
export const ARRAY = { values: list(1, 'values') };
export const METRIC = {
  name: one(1, 'name'),
  description: one(2, 'description'),
  unit: one(3, 'unit'),
  gauge: one(5, 'gauge'),
  sum: one(7, 'sum'),
  histogram: one(9, 'histogram'),
};
export const DATA = {
  points: list(1, 'dataPoints'),
  temporality: one(2, 'aggregationTemporality'),
  isMonotonic: one(3, 'isMonotonic'),
};
export const NUMBER_POINT = {
  start: one(2, 'startTimeUnixNano'),
  time: one(3, 'timeUnixNano'),
  value: one(4, 'asDouble'),
  attributes: list(7, 'attributes'),
};
export const HISTOGRAM_POINT = {
  start: one(2, 'startTimeUnixNano'),
  time: one(3, 'timeUnixNano'),
  count: one(4, 'count'),
  sum: one(5, 'sum'),
  counts: one(6, 'bucketCounts'),
  bounds: one(7, 'explicitBounds'),
  attributes: list(9, 'attributes'),
};
