import type { Attributes, AttributeValue, Span, SpanEvent } from '@llm0/core/tracing/span';
import { isFraction } from '../names';
import { ProtoWriter } from './proto-writer';

// Numbers of fields. Source: https://github.com/open-telemetry/opentelemetry-proto, trace/v1/trace.proto and common/v1/common.proto
const REQUEST = { resourceSpans: 1 } as const;
const RESOURCE_SPANS = { resource: 1, scopeSpans: 2 } as const;
const RESOURCE = { attributes: 1 } as const;
const SCOPE_SPANS = { scope: 1, spans: 2 } as const;
const SCOPE = { name: 1, version: 2 } as const;
const SPAN = {
  ...{ traceId: 1, spanId: 2, traceState: 3, parentSpanId: 4, name: 5, kind: 6, start: 7, end: 8 },
  ...{ attributes: 9, events: 11, status: 15, flags: 16 },
} as const;
const EVENT = { time: 1, name: 2, attributes: 3 } as const;
const STATUS = { message: 2, code: 3 } as const;
const KEY_VALUE = { key: 1, value: 2 } as const;
const ANY = { string: 1, bool: 2, int: 3, double: 4, array: 5 } as const;
const ARRAY = { values: 1 } as const;

const KINDS = { server: 2, client: 3 } as const satisfies Record<Span['kind'], number>;
const ERROR = 2;
const FLAGS = { sampled: 0x1, knowsRemote: 0x100, isRemote: 0x200 } as const;
const NANO_PER_MS = 1e6;
const NANO_PER_SECOND = 1_000_000_000n;
/** Names of attributes are few; callers make up those of labels. */
const MAX_NAMES = 1_000;

export interface SpanEncoderOptions {
  /** Of the process: `service.name` and the like. */
  readonly resource: Attributes;
  readonly scope: { readonly name: string; readonly version: string };
}

/** Spans as `ExportTraceServiceRequest` of OTLP: what OpenTelemetry's serializer writes, in a fifth of its time. */
export class SpanEncoder {
  private readonly writer = new ProtoWriter();
  /** A `KeyValue`'s key, encoded, by name. */
  private readonly keys = new Map<string, Uint8Array>();
  private readonly keyWriter = new ProtoWriter();

  constructor(private readonly options: SpanEncoderOptions) {}

  encode(spans: readonly Span[]): Uint8Array<ArrayBuffer> {
    const { writer, options } = this;
    writer.start();
    if (spans.length === 0) return writer.finish();
    const all = writer.begin(REQUEST.resourceSpans);
    const resource = writer.begin(RESOURCE_SPANS.resource);
    this.attributes(RESOURCE.attributes, options.resource);
    writer.end(resource);
    const scoped = writer.begin(RESOURCE_SPANS.scopeSpans);
    const scope = writer.begin(SCOPE_SPANS.scope);
    writer.string(SCOPE.name, options.scope.name);
    writer.string(SCOPE.version, options.scope.version);
    writer.end(scope);
    for (const span of spans) this.span(span);
    writer.end(scoped);
    writer.end(all);
    return writer.finish();
  }

  private span(span: Span): void {
    const { writer } = this;
    const { parentSpanId, state, startMs, isParentRemote } = span;
    const start = writer.begin(SCOPE_SPANS.spans);
    writer.hex(SPAN.traceId, span.traceId);
    writer.hex(SPAN.spanId, span.spanId);
    if (state !== undefined) writer.string(SPAN.traceState, state);
    if (parentSpanId !== undefined) writer.hex(SPAN.parentSpanId, parentSpanId);
    writer.string(SPAN.name, span.name);
    writer.integer(SPAN.kind, KINDS[span.kind]);
    writer.fixed64(SPAN.start, nanosOf(startMs));
    writer.fixed64(SPAN.end, nanosOf(Math.max(startMs, span.endMs)));
    this.attributes(SPAN.attributes, span.attributes);
    for (const event of span.events ?? []) this.event(event);
    this.status(span.error);
    const remote = parentSpanId !== undefined && isParentRemote ? FLAGS.isRemote : 0;
    writer.fixed32(SPAN.flags, FLAGS.sampled | FLAGS.knowsRemote | remote);
    writer.end(start);
  }

  private event({ atMs, name, attributes }: SpanEvent): void {
    const { writer } = this;
    const start = writer.begin(SPAN.events);
    writer.fixed64(EVENT.time, nanosOf(atMs));
    writer.string(EVENT.name, name);
    this.attributes(EVENT.attributes, attributes);
    writer.end(start);
  }

  private status(error: string | undefined): void {
    const start = this.writer.begin(SPAN.status);
    if (error !== undefined) {
      this.writer.string(STATUS.message, error);
      this.writer.integer(STATUS.code, ERROR);
    }
    this.writer.end(start);
  }

  private attributes(field: number, attributes: Attributes): void {
    const { writer } = this;
    for (const name in attributes) {
      const value = attributes[name];
      if (value === undefined) continue;
      const start = writer.begin(field);
      this.key(name);
      const inner = writer.begin(KEY_VALUE.value);
      this.value(name, value);
      writer.end(inner);
      writer.end(start);
    }
  }

  private value(name: string, value: AttributeValue): void {
    const { writer } = this;
    if (typeof value === 'string') writer.string(ANY.string, value);
    else if (typeof value === 'boolean') writer.integer(ANY.bool, value ? 1 : 0);
    else if (typeof value === 'number') {
      if (Number.isSafeInteger(value) && !isFraction(name)) writer.integer(ANY.int, value);
      else writer.double(ANY.double, value);
    } else {
      const array = writer.begin(ANY.array);
      for (const text of value) {
        const start = writer.begin(ARRAY.values);
        writer.string(ANY.string, text);
        writer.end(start);
      }
      writer.end(array);
    }
  }

  private key(name: string): void {
    const known = this.keys.get(name);
    if (known !== undefined) {
      this.writer.raw(known);
      return;
    }
    this.writer.string(KEY_VALUE.key, name);
    if (this.keys.size >= MAX_NAMES) return;
    this.keyWriter.start();
    this.keyWriter.string(KEY_VALUE.key, name);
    this.keys.set(name, this.keyWriter.finish());
  }
}

/** Nanoseconds of epoch milliseconds, which may be fractional. */
function nanosOf(ms: number): bigint {
  const seconds = Math.floor(ms / 1000);
  const nanos = Math.min(999_999_999, Math.round((ms - seconds * 1000) * NANO_PER_MS));
  return BigInt(seconds) * NANO_PER_SECOND + BigInt(nanos);
}
