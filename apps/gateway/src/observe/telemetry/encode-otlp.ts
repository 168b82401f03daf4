import type { Attributes, Span, SpanEvent } from '@llm0/core/tracing/span';
import {
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer';
import type { Config } from '../../config/config';
import { isFraction } from './names';
import { SpanEncoder } from './protobuf/encode-spans';

export type TelemetrySettings = NonNullable<Config['telemetry']>;
export type OtlpProtocol = TelemetrySettings['protocol'];
type ReadableSpan = Parameters<typeof ProtobufTraceSerializer.serializeRequest>[0][number];
export type ResourceMetrics = Parameters<typeof ProtobufMetricsSerializer.serializeRequest>[0];
export type MetricData = ResourceMetrics['scopeMetrics'][number]['metrics'][number];

const SERIALIZERS = {
  'http/protobuf': {
    contentType: 'application/x-protobuf',
    traces: ProtobufTraceSerializer,
    metrics: ProtobufMetricsSerializer,
  },
  'http/json': { contentType: 'application/json', traces: JsonTraceSerializer, metrics: JsonMetricsSerializer },
} as const satisfies Record<OtlpProtocol, object>;

export interface EncoderOptions {
  readonly protocol: OtlpProtocol;
  /** Of the process: `service.name` and the like. */
  readonly resource: Attributes;
  readonly version: string;
}

const KINDS = { server: 1, client: 2 } as const satisfies Record<Span['kind'], number>;
const STATUS = { unset: 0, error: 2 } as const;
const SAMPLED = 1;
const SCOPE_NAME = 'llm0-gateway';
const NANO_PER_MS = 1e6;
const NONE: [] = [];

/** Seconds and nanoseconds of epoch milliseconds. */
export function timeOf(ms: number): [seconds: number, nanoseconds: number] {
  const seconds = Math.floor(ms / 1000);
  const nanoseconds = Math.min(999_999_999, Math.round((ms - seconds * 1000) * NANO_PER_MS));
  return [seconds, nanoseconds];
}

/** Spans and metrics as OTLP has them on the wire. */
export class OtlpEncoder {
  readonly contentType: string;
  private readonly serializers: (typeof SERIALIZERS)[OtlpProtocol];
  private readonly resource: ResourceMetrics['resource'];
  /** Of the usual protocol: there are many spans, and few of anything else. */
  private readonly spans: SpanEncoder | undefined;
  private readonly scope: ResourceMetrics['scopeMetrics'][number]['scope'];

  constructor({ protocol, resource, version }: EncoderOptions) {
    this.serializers = SERIALIZERS[protocol];
    this.contentType = this.serializers.contentType;
    this.resource = {
      attributes: resource as ResourceMetrics['resource']['attributes'],
    } as ResourceMetrics['resource'];
    this.scope = { name: SCOPE_NAME, version };
    if (protocol === 'http/protobuf') this.spans = new SpanEncoder({ resource, scope: { name: SCOPE_NAME, version } });
  }

  encodeSpans(spans: readonly Span[]): Uint8Array<ArrayBuffer> {
    return this.spans === undefined ? this.serializeSpans(spans) : this.spans.encode(spans);
  }

  /** By OpenTelemetry's own serializer. */
  serializeSpans(spans: readonly Span[]): Uint8Array<ArrayBuffer> {
    const readable = spans.map((span) => this.toReadable(span));
    return bytesOf(this.serializers.traces.serializeRequest(readable));
  }

  encodeMetrics(metrics: MetricData[]): Uint8Array<ArrayBuffer> {
    const request = { resource: this.resource, scopeMetrics: [{ scope: this.scope, metrics }] };
    return bytesOf(this.serializers.metrics.serializeRequest(request));
  }

  /** Spans that a request which was taken did not take after all. */
  rejectedSpans(response: Uint8Array): number {
    if (response.length === 0) return 0;
    return Number(this.serializers.traces.deserializeResponse(response).partialSuccess?.rejectedSpans ?? 0);
  }

  private toReadable(span: Span): ReadableSpan {
    const { traceId, spanId, parentSpanId, isParentRemote: isRemote, state } = span;
    const startTime = timeOf(span.startMs);
    const endTime = timeOf(Math.max(span.startMs, span.endMs));
    const context = {
      traceId,
      spanId,
      traceFlags: SAMPLED,
      ...(state === undefined ? {} : { traceState: stateOf(state) }),
    };
    return {
      name: span.name,
      kind: KINDS[span.kind],
      spanContext: () => context,
      ...(parentSpanId === undefined
        ? {}
        : { parentSpanContext: { traceId, spanId: parentSpanId, traceFlags: SAMPLED, isRemote } }),
      ...{ startTime, endTime, duration: timeOf(Math.max(0, span.endMs - span.startMs)), ended: true },
      status: span.error === undefined ? { code: STATUS.unset } : { code: STATUS.error, message: span.error },
      attributes: toTyped(span.attributes),
      events: span.events?.map(toTimedEvent) ?? NONE,
      ...{ links: NONE, resource: this.resource, instrumentationScope: this.scope },
      ...{ droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
    } as ReadableSpan;
  }
}

/** The serializer takes whole numbers for integers unless they are boxed: see `apps/gateway/patches`. */
function toTyped(attributes: Attributes): ReadableSpan['attributes'] {
  const typed: Record<string, unknown> = {};
  for (const name in attributes) {
    const value = attributes[name];
    typed[name] = typeof value === 'number' && isFraction(name) ? Object(value) : value;
  }
  return typed as ReadableSpan['attributes'];
}

const toTimedEvent = ({ name, atMs, attributes }: SpanEvent): ReadableSpan['events'][number] => ({
  ...{ name, time: timeOf(atMs) },
  attributes: toTyped(attributes) as NonNullable<ReadableSpan['events'][number]['attributes']>,
});

/** `tracestate` goes out as it came. */
const stateOf = (text: string) => {
  const state = { serialize: () => text, get: () => undefined, set: () => state, unset: () => state };
  return state;
};

/** The serializers write into memory of their own, never into shared one. */
const bytesOf = (bytes: Uint8Array | undefined) => (bytes ?? new Uint8Array()) as Uint8Array<ArrayBuffer>;
