import type { CostDetail, DialectName } from '@llm0/core/logs/log-record';
import type { Attributes, Span } from '@llm0/core/tracing/span';
import { requestSpanId, traceOfRequest } from '@llm0/core/tracing/trace-context';
import { inputMessages, outputMessages } from '../observe/telemetry/describe-content';
import { operationOf } from '../observe/telemetry/describe-http';
import { LANGFUSE, modelName, providerName } from '../observe/telemetry/names';
import { AttributeWriter } from '../observe/telemetry/span-attributes';

/** A row of `gateway_logs` as sinks read it, and its bodies if the sink wants them. */
export interface StoredRow {
  readonly id: string;
  /** ISO 8601, when the request came. */
  readonly created_at: string;
  readonly project_id: string;
  readonly api_key_id: string;
  readonly client_request_id: string | null;
  readonly dialect: DialectName;
  readonly model: string;
  readonly requested_model: string;
  readonly provider: string | null;
  readonly final_provider: string | null;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly tokens_cache_read: number;
  readonly tokens_cache_write: number;
  readonly tokens_reasoning: number;
  readonly cost_usd: number;
  readonly saved_usd: number;
  /** Nano-USD. */
  readonly cost_detail: CostDetail | null;
  readonly cost_estimated: boolean;
  readonly latency_ms: number;
  readonly overhead_ms: number | null;
  readonly upstream_ms: number | null;
  readonly ttft_ms: number | null;
  readonly stream: boolean;
  readonly cache_hit: boolean;
  readonly semantic_cache_hit: boolean;
  readonly similarity_score: number | null;
  readonly failover_count: number;
  readonly status: string;
  readonly http_status: number;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly customer_id: string | null;
  readonly labels: Readonly<Record<string, string>> | null;
  readonly refused_count: number | null;
  readonly matched_by: string | null;
  readonly dropped_params: readonly string[] | null;
  readonly run_id: string | null;
  readonly trace_id: string | null;
  readonly request_body?: unknown;
  readonly response_body?: unknown;
}

/** Says whether prompts, answers and the vendor's words may go out. */
interface Wanted {
  readonly withBodies: boolean;
}

/**
 * One span for a row: a model call with its tokens, cost and outcome. Its ids follow from the row's, so that a backend
 * which gets it twice has it once.
 */
export function buildRowSpan(row: StoredRow, wanted: Wanted): Span {
  const startMs = Date.parse(row.created_at);
  const error = row.status === 'success' ? undefined : (row.error_code ?? row.status);
  return {
    traceId: row.trace_id ?? traceOfRequest(row.id).traceId,
    spanId: requestSpanId(row.id),
    ...{ isParentRemote: false, kind: 'client', name: `${operationOf(row)} ${modelName(row.model)}` },
    ...{ startMs, endMs: startMs + row.latency_ms },
    attributes: {
      ...callAttributes(row, { error, wanted }),
      ...ownAttributes(row, wanted),
      ...langfuseAttributes(row, startMs),
    },
    ...(error === undefined ? {} : { error }),
  };
}

interface Outcome {
  readonly error: string | undefined;
  readonly wanted: Wanted;
}

function callAttributes(row: StoredRow, { error, wanted }: Outcome): Attributes {
  const writer = new AttributeWriter(true);
  writer.add({ httpStatus: row.http_status, errorType: error, userId: row.customer_id, sessionId: row.run_id });
  // A plain HTTP backend has no tokens.
  if (row.dialect === 'infer') return writer.attributes;
  const provider = row.final_provider ?? row.provider;
  return writer.add({
    ...{ operation: operationOf(row), provider: provider && providerName(provider), requestStream: row.stream },
    // Backends find prices by the request's model, and know no aliases.
    ...{ requestModel: modelName(row.model), responseModel: modelName(row.model) },
    ...{ inputTokens: row.tokens_in, outputTokens: row.tokens_out },
    cacheReadTokens: row.tokens_cache_read || undefined,
    cacheWriteTokens: row.tokens_cache_write || undefined,
    reasoningTokens: row.tokens_reasoning || undefined,
    timeToFirstChunk: row.stream && row.ttft_ms !== null ? row.ttft_ms / 1000 : undefined,
    ...(wanted.withBodies ? contentOf(row) : {}),
  }).attributes;
}

function contentOf({ request_body: request, response_body: response }: StoredRow) {
  try {
    return { inputMessages: inputMessages(textOf(request)), outputMessages: outputMessages(textOf(response)) };
  } catch {
    // Bodies of unknown formats.
    return {};
  }
}

const textOf = (body: unknown): string | null => (body === undefined || body === null ? null : JSON.stringify(body));

function ownAttributes(row: StoredRow, { withBodies }: Wanted): Attributes {
  const { price_source: priceSource } = row.cost_detail ?? {};
  return new AttributeWriter(true)
    .addOwn({
      ...{ requestId: row.id, clientRequestId: row.client_request_id, projectId: row.project_id },
      ...{ apiKeyId: row.api_key_id, customerId: row.customer_id, runId: row.run_id, dialect: row.dialect },
      ...{ requestedModel: modelName(row.requested_model), model: modelName(row.model), stream: row.stream },
      ...{ provider: row.final_provider ?? row.provider, status: row.status },
      cache: row.semantic_cache_hit ? 'semantic' : row.cache_hit ? 'exact' : 'miss',
      ...{ cacheSimilarity: row.similarity_score, cacheMatchedBy: row.matched_by },
      ...{ costUsd: row.cost_usd, savedUsd: row.saved_usd, costEstimated: row.cost_estimated, priceSource },
      ...{ overheadMs: row.overhead_ms, upstreamMs: row.upstream_ms, ttftMs: row.ttft_ms },
      ...{ failoverCount: row.failover_count, droppedParams: row.dropped_params, refusedCount: row.refused_count },
      errorMessage: withBodies ? row.error_message : undefined,
    })
    .addUnder('costPart', partsOf(row))
    .addUnder('label', row.labels ?? undefined).attributes;
}

const NANO_PER_USD = 1e9;

/** USD by class of token. */
function partsOf({ cost_detail: detail }: StoredRow): Readonly<Record<string, number>> {
  const { price_source: _, ...parts } = detail ?? {};
  return Object.fromEntries(Object.entries(parts).map(([name, nanoUsd]) => [name, nanoUsd / NANO_PER_USD]));
}

/** Langfuse's names of the classes, by which it sums up input and output. */
const CLASSES: Readonly<Record<string, string>> = {
  cache_read: 'input_cached_tokens',
  cache_write: 'input_cache_creation',
  reasoning: 'output_reasoning_tokens',
};

function langfuseAttributes(row: StoredRow, startMs: number): Attributes {
  const type = row.dialect === 'infer' ? 'span' : row.dialect === 'openai-embeddings' ? 'embedding' : 'generation';
  const parts = Object.entries(partsOf(row)).map(([name, usd]) => [CLASSES[name] ?? name, usd]);
  return {
    [LANGFUSE.type]: type,
    // Also where it is 0: Langfuse would guess the cost of a cache hit by its tokens.
    [LANGFUSE.costDetails]: JSON.stringify({ ...Object.fromEntries(parts), total: row.cost_usd }),
    ...(row.stream && row.ttft_ms !== null
      ? { [LANGFUSE.completionStart]: new Date(startMs + row.ttft_ms).toISOString() }
      : {}),
  };
}
