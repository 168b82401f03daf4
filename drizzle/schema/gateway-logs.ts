import type { Units } from '@llm0/core/chat/usage';
import type { GuardrailMark } from '@llm0/core/guardrails/policy';
import type { Modality, RouteReason } from '@llm0/core/logs/log-record';
import {
  bigint,
  boolean,
  doublePrecision,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  real,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { instant, nanoUsd } from './columns';

const count = (name: string) => bigint(name, { mode: 'number' }).notNull();

/** Partitioned by day of `created_at` (UTC); written only by `queries/log-insert`. */
export const gatewayLogs = pgTable(
  'gateway_logs',
  {
    id: uuid('id').notNull(),
    createdAtMs: instant('created_at').notNull(),
    projectId: uuid('project_id').notNull(),
    apiKeyId: uuid('api_key_id').notNull(),
    requestId: uuid('request_id').notNull(),
    clientRequestId: text('client_request_id'),
    dialect: text('dialect').notNull(),
    model: text('model').notNull(),
    requestedModel: text('requested_model').notNull(),
    provider: text('provider'),
    finalProvider: text('final_provider'),
    tokensIn: count('tokens_in'),
    tokensOut: count('tokens_out'),
    tokensTotal: count('tokens_total'),
    tokensCacheRead: count('tokens_cache_read'),
    tokensCacheWrite: count('tokens_cache_write'),
    tokensReasoning: count('tokens_reasoning'),
    costNanoUsd: nanoUsd('cost_usd').notNull(),
    savedNanoUsd: nanoUsd('saved_usd').notNull(),
    costDetail: jsonb('cost_detail').$type<Record<string, number | string>>(),
    costEstimated: boolean('cost_estimated').notNull(),
    latencyMs: doublePrecision('latency_ms').notNull(),
    overheadMs: doublePrecision('overhead_ms'),
    upstreamMs: doublePrecision('upstream_ms'),
    ttftMs: doublePrecision('ttft_ms'),
    stream: boolean('stream').notNull(),
    cacheHit: boolean('cache_hit').notNull(),
    semanticCacheHit: boolean('semantic_cache_hit').notNull(),
    similarityScore: real('similarity_score'),
    failoverCount: integer('failover_count').notNull(),
    failoverOccurred: boolean('failover_occurred').notNull(),
    attempts: jsonb('attempts').$type<readonly Record<string, unknown>[]>(),
    status: text('status').notNull(),
    httpStatus: integer('http_status').notNull(),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    customerId: text('customer_id'),
    labels: jsonb('labels').$type<Readonly<Record<string, string>>>(),
    /** Number of aggregated refusals; null for anything but the gateway's own 429. */
    refusedCount: integer('refused_count'),
    matchedBy: uuid('matched_by'),
    droppedParams: jsonb('dropped_params').$type<readonly string[]>(),
    /** The agent's run it belongs to. */
    runId: text('run_id'),
    guardrails: jsonb('guardrails').$type<readonly GuardrailMark[]>(),
    /** W3C trace id, 32 hex digits. */
    traceId: text('trace_id'),
    /** null = text. */
    modality: text('modality').$type<Modality>(),
    /** What was used besides tokens. */
    units: jsonb('units').$type<Units>(),
    routing: jsonb('routing').$type<readonly RouteReason[]>(),
  },
  (table) => [primaryKey({ columns: [table.createdAtMs, table.id] })],
);

export const failoverLogs = pgTable(
  'failover_logs',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    createdAtMs: instant('created_at').notNull(),
    projectId: uuid('project_id').notNull(),
    requestId: uuid('request_id').notNull(),
    /** 0 for the request's first switch. */
    switchIndex: integer('switch_index').notNull(),
    originalProvider: text('original_provider').notNull(),
    originalModel: text('original_model').notNull(),
    fallbackProvider: text('fallback_provider').notNull(),
    fallbackModel: text('fallback_model').notNull(),
    triggerReason: text('trigger_reason').notNull(),
    triggerStatusCode: integer('trigger_status_code'),
    triggerErrorMessage: text('trigger_error_message'),
    originalAttemptLatencyMs: doublePrecision('original_attempt_latency_ms'),
    fallbackLatencyMs: doublePrecision('fallback_latency_ms'),
    totalLatencyMs: doublePrecision('total_latency_ms'),
    fallbackSucceeded: boolean('fallback_succeeded').notNull(),
    fallbackErrorMessage: text('fallback_error_message'),
  },
  (table) => [unique().on(table.requestId, table.switchIndex)],
);

/** Prompts and answers, only with LOG_BODIES. */
export const gatewayLogBodies = pgTable('gateway_log_bodies', {
  requestId: uuid('request_id').primaryKey(),
  createdAtMs: instant('created_at').notNull(),
  projectId: uuid('project_id').notNull(),
  requestBody: jsonb('request_body'),
  /** Request body of the answering or last provider. */
  upstreamRequestBody: jsonb('upstream_request_body'),
  responseBody: jsonb('response_body'),
});
