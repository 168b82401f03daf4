import { isObject, type JsonObject } from '@llm0/core/chat/json';
import type { RequestTrace } from '@llm0/core/tracing/request-trace';
import type { RequestContext } from '../../pipeline/request/open-context';
import type { Services } from '../../services/contract';

/** `_meta` names a message's trace as HTTP's headers name a request's. Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/ */
const TRACE_KEYS = ['traceparent', 'tracestate'] as const;

/** Uses the trace that the message itself names, if any: sessions share connections, not traces. */
export function inMessageTrace(
  { tracing }: Pick<Services, 'tracing'>,
  ctx: RequestContext,
  { _meta: meta }: JsonObject,
): RequestContext {
  if (!isObject(meta) || typeof meta.traceparent !== 'string') return ctx;
  const named = new Headers();
  for (const key of TRACE_KEYS) {
    const value = meta[key];
    if (typeof value === 'string' && IS_HEADER_VALUE.test(value)) named.set(key, value);
  }
  const trace = tracing.begin(named, ctx.requestId);
  return trace === undefined ? ctx : { ...ctx, trace };
}

const IS_HEADER_VALUE = /^[\x20-\x7e]{0,512}$/;

/** The message with the trace of its call in `_meta`. */
export function withMessageTrace(params: JsonObject, trace: RequestTrace | undefined): JsonObject {
  if (trace === undefined) return params;
  const { _meta: meta } = params;
  return { ...params, _meta: { ...(isObject(meta) ? meta : {}), ...trace.headersFrom(1) } };
}

/** Context of a call that a script makes: its span is a child of the script's span. */
export function callInScript(
  services: Pick<Services, 'createId' | 'clock' | 'tracing'>,
  { trace, ...script }: RequestContext,
): RequestContext {
  const requestId = services.createId();
  const inner = trace && services.tracing.begin(new Headers(trace.headersFrom('request')), requestId);
  return { ...script, requestId, startMs: services.clock.monotonicMs(), trace: inner };
}
