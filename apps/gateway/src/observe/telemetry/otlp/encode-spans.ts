import type { Span, SpanEvent } from '@llm0/core/tracing/span';
import { nanosOf, type Sender, writeAttributes, writeResource, writeScope } from './encode-attributes';
import { EVENT, type MessageWriter, REQUEST, RESOURCE_SPANS, SCOPE_SPANS, SPAN, STATUS } from './fields';

const KINDS = { server: 2, client: 3 } as const satisfies Record<Span['kind'], number>;
const ERROR = 2;
const FLAGS = { sampled: 0x1, knowsRemote: 0x100, isRemote: 0x200 } as const;

/** Spans as `ExportTraceServiceRequest`. */
export function encodeSpans(writer: MessageWriter, sender: Sender, spans: readonly Span[]): Uint8Array<ArrayBuffer> {
  writer.start();
  if (spans.length === 0) return writer.finish();
  const all = writer.begin(REQUEST.resourceSpans);
  writeResource(writer, RESOURCE_SPANS.resource, sender);
  const scope = writer.begin(RESOURCE_SPANS.scopes);
  writeScope(writer, SCOPE_SPANS.scope, sender);
  for (const span of spans) writeSpan(writer, span);
  writer.end(scope);
  writer.end(all);
  return writer.finish();
}

function writeSpan(writer: MessageWriter, span: Span): void {
  const { parentSpanId, state, startMs, isParentRemote } = span;
  const start = writer.begin(SCOPE_SPANS.spans);
  writer.id(SPAN.traceId, span.traceId);
  writer.id(SPAN.spanId, span.spanId);
  if (state !== undefined) writer.string(SPAN.traceState, state);
  if (parentSpanId !== undefined) writer.id(SPAN.parentSpanId, parentSpanId);
  writer.string(SPAN.name, span.name);
  writer.integer(SPAN.kind, KINDS[span.kind]);
  writer.nanos(SPAN.start, nanosOf(startMs));
  writer.nanos(SPAN.end, nanosOf(Math.max(startMs, span.endMs)));
  writeAttributes(writer, SPAN.attributes, span.attributes);
  for (const event of span.events ?? []) writeEvent(writer, event);
  writeStatus(writer, span.error);
  const remote = parentSpanId !== undefined && isParentRemote ? FLAGS.isRemote : 0;
  writer.flags(SPAN.flags, FLAGS.sampled | FLAGS.knowsRemote | remote);
  writer.end(start);
}

function writeEvent(writer: MessageWriter, { atMs, name, attributes }: SpanEvent): void {
  const start = writer.begin(SPAN.events);
  writer.nanos(EVENT.time, nanosOf(atMs));
  writer.string(EVENT.name, name);
  writeAttributes(writer, EVENT.attributes, attributes);
  writer.end(start);
}

function writeStatus(writer: MessageWriter, error: string | undefined): void {
  const start = writer.begin(SPAN.status);
  if (error !== undefined) {
    writer.string(STATUS.message, error);
    writer.integer(STATUS.code, ERROR);
  }
  writer.end(start);
}
