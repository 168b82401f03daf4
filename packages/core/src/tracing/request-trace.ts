import type { Sampler } from './sampler';
import {
  attemptSpanId,
  isSampled,
  parseTraceContext,
  requestSpanId,
  type TraceContext,
  traceHeaders,
  traceOfRequest,
  withSampling,
} from './trace-context';

/** Span data besides the row; it travels through the queue, and isn't stored on the row. */
export interface TraceMark {
  /** Wall clock at arrival, in epoch milliseconds. */
  readonly startMs: number;
  /** The caller's span. */
  readonly parent?: string;
  readonly state?: string;
  /** Its hold. */
  readonly holdNanoUsd?: number;
  readonly detail?: SpanDetail;
  /** The answer of an earlier request, by its `Idempotency-Key`. */
  readonly isReplay?: true;
  /** Set if the row lacks the HTTP facts. */
  readonly http?: HttpDetail;
  /** Set if the row lacks the server. */
  readonly server?: ServerDetail;
}

/** Host of the answering server, never its path or credentials. */
export interface ServerDetail {
  readonly scheme: string;
  readonly address: string;
  readonly port: number;
}

const PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };

/** Server of a URL; undefined without one. */
export function serverOf(url: string): ServerDetail | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || parsed.hostname === '') return undefined;
  const scheme = parsed.protocol.slice(0, -1);
  const port = parsed.port === '' ? PORTS[scheme] : Number(parsed.port);
  return port === undefined ? undefined : { scheme, address: parsed.hostname.replace(/^\[|\]$/g, ''), port };
}

/** Method and path of the request, without its query. */
export interface HttpDetail {
  readonly method: string;
  readonly path: string;
}

const MAX_PATH_LENGTH = 512;

/** Adds HTTP facts to the trace mark if spans are exported. */
export function noteHttp<T extends { readonly trace?: RequestTrace }>(
  of: T,
  request: Pick<Request, 'method' | 'url'>,
): T {
  const mark = of.trace?.mark;
  if (of.trace === undefined || mark === undefined) return of;
  const http = { method: request.method, path: new URL(request.url).pathname.slice(0, MAX_PATH_LENGTH) };
  return { ...of, trace: { ...of.trace, mark: { ...mark, http } } };
}

/** Facts for spans that no row holds: numbers and names, no content. */
export interface SpanDetail {
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly seed?: number;
  readonly choiceCount?: number;
  readonly finishReasons?: readonly string[];
  /** The vendor's name of the answer. */
  readonly responseId?: string;
}

/** The trace that one request belongs to. */
export interface RequestTrace {
  readonly traceId: string;
  /** Set where its spans are exported. */
  readonly mark?: TraceMark;
  /** True if attempts have numbers: their spans are named upstream. */
  readonly hasSpans: boolean;
  /** Trace headers: from the nth attempt (from 1) at an upstream, or from the request itself. */
  headersFrom(span: number | 'request'): Readonly<Record<string, string>>;
}

/** Finds out which trace a request belongs to; undefined = none. */
export interface Tracing {
  begin(headers: Headers, requestId: string): RequestTrace | undefined;
}

function readContext(headers: Headers): TraceContext | undefined {
  const traceparent = headers.get('traceparent');
  return traceparent === null ? undefined : parseTraceContext(traceparent, headers.get('tracestate'));
}

/** Without tracing, a caller's trace goes on the row and passes unchanged; no spans are added. */
export const passTraces: Tracing = {
  begin(headers) {
    const context = headers.has('traceparent') ? readContext(headers) : undefined;
    if (context?.parentSpanId === undefined) return undefined;
    const passed = traceHeaders(context, context.parentSpanId);
    return { traceId: context.traceId, hasSpans: false, headersFrom: () => passed };
  },
};

/** Tracing is on: every request has a trace, and its attempts are spans of ours. */
export const makeSpans = (sampler: Sampler, nowMs: () => number): Tracing => ({
  begin(headers, requestId) {
    const given = readContext(headers) ?? traceOfRequest(requestId);
    const context = withSampling(given, sampler(given));
    const { traceId, parentSpanId: parent, state } = context;
    return {
      traceId,
      hasSpans: true,
      mark: isSampled(context) ? { startMs: nowMs(), parent, state } : undefined,
      headersFrom: (span) =>
        traceHeaders(context, span === 'request' ? requestSpanId(requestId) : attemptSpanId(requestId, span)),
    };
  },
});

/** For log lines that are about one request. */
export const traceFields = (
  trace: RequestTrace | undefined,
  requestId: string,
): { readonly trace_id?: string; readonly span_id?: string } =>
  trace === undefined
    ? {}
    : { trace_id: trace.traceId, ...(trace.hasSpans ? { span_id: requestSpanId(requestId) } : {}) };
