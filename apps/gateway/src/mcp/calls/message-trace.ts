import { isObject, type JsonObject } from '@llm0/core/chat/json';
import type { RequestTrace } from '@llm0/core/tracing/request-trace';
import type { Exchange } from '../../pipeline/exchange/open-exchange';
import type { Services } from '../../services/contract';

/** `_meta` names a message's trace as HTTP's headers name a request's. Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/ */
const TRACE_KEYS = ['traceparent', 'tracestate'] as const;

/** The exchange, in the trace that the message itself names, where it names one: sessions share connections, not traces. */
export function inMessageTrace(
  { tracing }: Pick<Services, 'tracing'>,
  exchange: Exchange,
  { _meta: meta }: JsonObject,
): Exchange {
  if (!isObject(meta) || typeof meta.traceparent !== 'string') return exchange;
  const named = new Headers();
  for (const key of TRACE_KEYS) {
    const value = meta[key];
    if (typeof value === 'string' && IS_HEADER_VALUE.test(value)) named.set(key, value);
  }
  const trace = tracing.begin(named, exchange.requestId);
  return trace === undefined ? exchange : { ...exchange, trace };
}

const IS_HEADER_VALUE = /^[\x20-\x7e]{0,512}$/;

/** The message with the trace of its call in `_meta`. */
export function withMessageTrace(params: JsonObject, trace: RequestTrace | undefined): JsonObject {
  if (trace === undefined) return params;
  const { _meta: meta } = params;
  return { ...params, _meta: { ...(isObject(meta) ? meta : {}), ...trace.headersFrom(1) } };
}

/** The exchange of a call that a script makes: its span is part of the script's. */
export function callInScript(
  services: Pick<Services, 'createId' | 'clock' | 'tracing'>,
  { trace, ...script }: Exchange,
): Exchange {
  const requestId = services.createId();
  const inner = trace && services.tracing.begin(new Headers(trace.headersFrom('request')), requestId);
  return { ...script, requestId, startMs: services.clock.monotonicMs(), trace: inner };
}
