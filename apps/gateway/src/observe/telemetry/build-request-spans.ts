import type { LogAttempt, LogRecord } from '@llm0/core/logs/log-record';
import type { TraceMark } from '@llm0/core/tracing/request-trace';
import type { Span, SpanEvent } from '@llm0/core/tracing/span';
import { attemptSpanId, requestSpanId } from '@llm0/core/tracing/trace-context';
import { guardrailAttributes, guardrailEvents } from './describe-guardrails';
import { type HttpFacts, httpFactsOf, operationOf } from './describe-http';
import { modelName, OWN, providerName, TARGET_SKIPPED } from './names';
import { AttributeWriter } from './span-attributes';

/** Options of spans from a row. */
export interface SpanOptions {
  /** Without names that newer ones replaced. */
  readonly onlyLatestNames: boolean;
  /** Content attributes of spans; absent unless enabled. */
  readonly content?: SpanContent;
}

/** Prompt and answer, JSON text, redacted and bounded. */
export interface SpanContent {
  readonly input?: string;
  readonly output?: string;
}

const NANO_PER_USD = 1e9;
const usd = (nanoUsd: number | undefined): number | undefined => nanoUsd && nanoUsd / NANO_PER_USD;

export const cacheOf = ({ cacheHit, semanticCacheHit }: LogRecord): 'exact' | 'semantic' | 'miss' =>
  semanticCacheHit ? 'semantic' : cacheHit ? 'exact' : 'miss';

/** One SERVER span with a CLIENT span for each attempt. Empty for a row without export. */
export function buildRequestSpans(record: LogRecord, options: SpanOptions): readonly Span[] {
  const { trace, traceId } = record;
  if (trace === undefined || traceId === undefined) return [];
  const marked = { record, trace, traceId, options };
  return [serverSpan(marked), ...attemptsOf(record).map((attempt) => attemptSpan(marked, attempt))];
}

interface Marked {
  readonly record: LogRecord;
  readonly trace: TraceMark;
  readonly traceId: string;
  readonly options: SpanOptions;
}

type MadeAttempt = LogAttempt & { readonly span: number };
const isMade = (attempt: LogAttempt): attempt is MadeAttempt => attempt.span !== undefined;

/** Body sent to a provider; for a native request, the row has the time. */
export function attemptsOf(record: LogRecord): readonly MadeAttempt[] {
  const { dialect, attempts = [], provider, model, upstreamMs, latencyMs, status, errorCode = status } = record;
  if (dialect !== 'passthrough') return attempts.filter(isMade);
  if (provider === undefined || upstreamMs === undefined) return [];
  const outcome = status === 'success' ? 'ok' : errorCode;
  const startMs = Math.max(0, latencyMs - upstreamMs);
  return [{ provider, model, outcome, status: record.httpStatus, startMs, latencyMs: upstreamMs, span: 1 }];
}

function serverSpan({ record, trace, traceId, options }: Marked): Span {
  const http = httpFactsOf(record);
  const { method, route } = http;
  return {
    traceId,
    spanId: requestSpanId(record.id),
    ...(trace.parent === undefined ? {} : { parentSpanId: trace.parent }),
    ...(trace.state === undefined ? {} : { state: trace.state }),
    isParentRemote: true,
    kind: 'server',
    name: `${method === '_OTHER' ? 'HTTP' : method} ${route}`,
    startMs: trace.startMs,
    endMs: trace.startMs + record.latencyMs,
    attributes: serverAttributes(record, trace, { http, options }),
    // A refusal is normal operation; the conventions' server errors begin at 500.
    ...(record.httpStatus >= 500 && record.status === 'error' ? { error: record.errorCode ?? record.status } : {}),
    events: [...skippedTargets(record, trace), ...guardrailEvents(record, trace.startMs + record.latencyMs)],
  };
}

interface ServerFacts {
  readonly http: HttpFacts;
  readonly options: SpanOptions;
}

function serverAttributes(record: LogRecord, trace: TraceMark, { http, options }: ServerFacts) {
  const { price_source: priceSource, ...costs } = record.costDetail ?? {};
  const parts = Object.entries(costs).map(([name, nano]) => [name, usd(Number(nano))] as const);
  const { customerId, runId, errorCode } = record;
  return new AttributeWriter(options.onlyLatestNames)
    .add({ httpMethod: http.method, httpRoute: http.route, urlPath: http.path, httpStatus: sentStatus(record) })
    .add({ errorType: errorCode, userId: customerId, sessionId: runId })
    .addOwn({
      ...{ requestId: record.id, clientRequestId: record.clientRequestId, projectId: record.projectId },
      ...{ apiKeyId: record.apiKeyId, customerId, runId, dialect: record.dialect },
      ...{ requestedModel: modelName(record.requestedModel), model: modelName(record.model), stream: record.stream },
      ...{ provider: record.finalProvider ?? record.provider, status: record.status },
      ...{
        cache: trace.isReplay === true ? 'replay' : cacheOf(record),
        cacheSimilarity: record.similarityScore,
        cacheMatchedBy: record.matchedBy,
      },
      ...{ costUsd: record.costNanoUsd / NANO_PER_USD, costEstimated: record.costEstimated, priceSource },
      ...{ savedUsd: record.savedNanoUsd / NANO_PER_USD, holdUsd: usd(trace.holdNanoUsd) },
      ...{ inputTokens: record.tokensIn, outputTokens: record.tokensOut },
      ...{ overheadMs: record.overheadMs, upstreamMs: record.upstreamMs, ttftMs: record.ttftMs },
      ...{ failoverCount: record.failoverCount, droppedParams: record.droppedParams },
      refusedCount: record.refusedCount,
      ...guardrailAttributes(record),
      // A vendor's words may repeat the prompt.
      errorMessage: options.content === undefined ? undefined : record.errorMessage,
    })
    .addUnder('costPart', Object.fromEntries(parts))
    .addUnder('label', record.labels).attributes;
}

/** HTTP status that the caller received: a broken stream began with 200. */
function sentStatus({ stream, ttftMs, httpStatus }: LogRecord): number {
  return stream && ttftMs !== undefined && httpStatus >= 500 ? 200 : httpStatus;
}

function skippedTargets({ attempts = [] }: LogRecord, trace: TraceMark): readonly SpanEvent[] {
  return attempts
    .filter((attempt) => !isMade(attempt))
    .map(({ provider, model, outcome, startMs }) => ({
      name: TARGET_SKIPPED,
      atMs: trace.startMs + startMs,
      attributes: { [OWN.provider]: provider, [OWN.model]: modelName(model), [OWN.attemptOutcome]: outcome },
    }));
}

/** True for the attempt whose output reached the caller. */
const answers = ({ outcome }: LogAttempt): boolean => outcome === 'ok';

function attemptSpan({ record, trace, traceId, options }: Marked, attempt: MadeAttempt): Span {
  const isAnswer = answers(attempt);
  const failure = isAnswer ? (record.status === 'success' ? undefined : record.errorCode) : attempt.outcome;
  const startMs = trace.startMs + attempt.startMs;
  // The answering attempt is logged at its first output, but lasts until the request ends.
  const ownEndMs = startMs + attempt.latencyMs;
  const endMs = isAnswer ? Math.max(ownEndMs, trace.startMs + record.latencyMs) : ownEndMs;
  const writer = new AttributeWriter(options.onlyLatestNames);
  const call = record.dialect === 'infer' ? plainCall(record, attempt, failure) : modelCall(record, attempt, failure);
  writer.add(call.attributes).addOwn({ attemptNumber: attempt.span, attemptOutcome: failure ?? attempt.outcome });
  if (call.isPlain) writer.addOwn({ provider: attempt.provider, costUsd: isAnswer ? ownUsd(record) : undefined });
  else if (isAnswer) addAnswer(writer, record, { trace, attempt, content: options.content });
  else writer.addOwn({ costUsd: usd(attempt.costNanoUsd) });
  return {
    traceId,
    spanId: attemptSpanId(record.id, attempt.span),
    parentSpanId: requestSpanId(record.id),
    isParentRemote: false,
    ...(trace.state === undefined ? {} : { state: trace.state }),
    kind: 'client',
    name: call.name,
    ...{ startMs, endMs, attributes: writer.attributes },
    ...(call.error === undefined ? {} : { error: call.error }),
  };
}

/** Span attributes of an attempt, by its conventions. */
interface Call {
  readonly isPlain: boolean;
  readonly name: string;
  readonly error: string | undefined;
  readonly attributes: Parameters<AttributeWriter['add']>[0];
}

/** GenAI attributes. */
function modelCall(record: LogRecord, attempt: MadeAttempt, failure: string | undefined): Call {
  const operation = operationOf(record);
  const requestModel = modelName(attempt.model);
  const { finishReasons: _reasons, responseId: _id, ...settings } = record.trace?.detail ?? {};
  return {
    ...{ isPlain: false, name: `${operation} ${requestModel}`, error: failure },
    attributes: {
      ...{ operation, provider: providerName(attempt.provider), requestModel },
      ...{ requestStream: record.stream, httpStatus: attempt.status, errorType: failure, ...settings },
    },
  };
}

/** HTTP client attributes. Source: https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client */
function plainCall(record: LogRecord, { status }: MadeAttempt, failure: string | undefined): Call {
  const { method } = httpFactsOf(record);
  const { scheme: urlScheme, address: serverAddress, port: serverPort } = record.trace?.server ?? {};
  const error = status !== undefined && status >= 400 ? String(status) : failure;
  return {
    ...{ isPlain: true, name: method === '_OTHER' ? 'HTTP' : method, error },
    attributes: { httpMethod: method, urlScheme, serverAddress, serverPort, httpStatus: status, errorType: error },
  };
}

interface AnswerFacts {
  readonly trace: TraceMark;
  readonly attempt: MadeAttempt;
  readonly content: SpanContent | undefined;
}

/** Only the answering attempt has usage, so that sums over spans count each token once. */
function addAnswer(writer: AttributeWriter, record: LogRecord, { trace, attempt, content }: AnswerFacts): void {
  const { ttftMs, stream } = record;
  writer
    .add({
      responseModel: modelName(record.model),
      responseId: trace.detail?.responseId,
      finishReasons: trace.detail?.finishReasons,
      timeToFirstChunk: stream && ttftMs !== undefined ? Math.max(0, ttftMs - attempt.startMs) / 1000 : undefined,
      ...{ inputTokens: record.tokensIn, outputTokens: record.tokensOut },
      cacheReadTokens: record.tokensCacheRead || undefined,
      cacheWriteTokens: record.tokensCacheWrite || undefined,
      reasoningTokens: record.tokensReasoning || undefined,
      ...{ inputMessages: content?.input, outputMessages: content?.output },
    })
    .addOwn({ costUsd: ownUsd(record) });
}

/** Cost of the answering attempt. */
const ownUsd = ({ costNanoUsd, costDetail }: LogRecord): number =>
  (costNanoUsd - (costDetail?.other_attempts ?? 0)) / NANO_PER_USD;
