import type { LogRecord } from '@llm0/core/logs/log-record';
import { sql } from 'drizzle-orm';
import type { Db } from '../client';
import { nanoFromUsd } from '../money';
import type { UsageFact } from './rollup-deltas';

/** Column of `gateway_logs` → its type in the JSON the rows travel in; `created_at` and money are made from integers. */
const COLUMNS = {
  id: 'uuid',
  project_id: 'uuid',
  api_key_id: 'uuid',
  request_id: 'uuid',
  client_request_id: 'text',
  dialect: 'text',
  model: 'text',
  requested_model: 'text',
  provider: 'text',
  final_provider: 'text',
  tokens_in: 'bigint',
  tokens_out: 'bigint',
  tokens_total: 'bigint',
  tokens_cache_read: 'bigint',
  tokens_cache_write: 'bigint',
  tokens_reasoning: 'bigint',
  cost_detail: 'jsonb',
  cost_estimated: 'boolean',
  latency_ms: 'double precision',
  overhead_ms: 'double precision',
  upstream_ms: 'double precision',
  ttft_ms: 'double precision',
  stream: 'boolean',
  cache_hit: 'boolean',
  semantic_cache_hit: 'boolean',
  similarity_score: 'real',
  failover_count: 'integer',
  failover_occurred: 'boolean',
  attempts: 'jsonb',
  status: 'text',
  http_status: 'integer',
  error_code: 'text',
  error_message: 'text',
  customer_id: 'text',
  labels: 'jsonb',
} as const;

type Column = keyof typeof COLUMNS;

function toRow(record: LogRecord): Record<Column | 'created_at_ms' | 'cost_nano_usd' | 'saved_nano_usd', unknown> {
  return {
    id: record.id,
    created_at_ms: record.createdAtMs,
    project_id: record.projectId,
    api_key_id: record.apiKeyId,
    request_id: record.id,
    client_request_id: record.clientRequestId,
    dialect: record.dialect,
    model: record.model,
    requested_model: record.requestedModel,
    provider: record.provider,
    final_provider: record.finalProvider,
    tokens_in: record.tokensIn,
    tokens_out: record.tokensOut,
    tokens_total: record.tokensIn + record.tokensOut,
    tokens_cache_read: record.tokensCacheRead,
    tokens_cache_write: record.tokensCacheWrite,
    tokens_reasoning: record.tokensReasoning,
    cost_nano_usd: record.costNanoUsd,
    saved_nano_usd: record.savedNanoUsd,
    cost_detail: record.costDetail,
    cost_estimated: record.costEstimated,
    latency_ms: record.latencyMs,
    overhead_ms: record.overheadMs,
    upstream_ms: record.upstreamMs,
    ttft_ms: record.ttftMs,
    stream: record.stream,
    cache_hit: record.cacheHit,
    semantic_cache_hit: record.semanticCacheHit,
    similarity_score: record.similarityScore,
    failover_count: record.failoverCount,
    failover_occurred: record.failoverCount > 0,
    attempts: record.attempts,
    status: record.status,
    http_status: record.httpStatus,
    error_code: record.errorCode,
    error_message: record.errorMessage,
    customer_id: record.customerId,
    labels: record.labels,
  };
}

const NAMES = sql.raw(Object.keys(COLUMNS).join(', '));
const SELECTED = sql.raw(
  Object.keys(COLUMNS)
    .map((name) => `r.${name}`)
    .join(', '),
);
const TYPED = sql.raw(
  Object.entries(COLUMNS)
    .map(([name, type]) => `${name} ${type}`)
    .join(', '),
);

/** Inserts rows that are not there yet, in one statement; returns the ids really written. */
export async function insertRows(tx: Db, records: readonly LogRecord[]): Promise<readonly string[]> {
  const rows = await tx.execute<{ id: string }>(sql`
    insert into gateway_logs (created_at, cost_usd, saved_usd, ${NAMES})
    select to_timestamp(r.created_at_ms / 1000.0), r.cost_nano_usd * 0.000000001, r.saved_nano_usd * 0.000000001, ${SELECTED}
    from jsonb_to_recordset(${JSON.stringify(records.map(toRow))}::jsonb)
      as r(created_at_ms bigint, cost_nano_usd bigint, saved_nano_usd bigint, ${TYPED})
    on conflict (created_at, id) do nothing
    returning id`);
  return rows.map((row) => row.id);
}

interface TakenRow extends Record<string, unknown> {
  created_at_ms: number;
  project_id: string;
  api_key_id: string;
  model: string;
  provider: string;
  status: string;
  cache: UsageFact['cache'];
  customer_id: string | null;
  error_code: string | null;
  tokens_in: string;
  tokens_out: string;
  tokens_cache_read: string;
  tokens_cache_write: string;
  tokens_reasoning: string;
  cost_usd: string;
  saved_usd: string;
  failover_count: number;
  latency_ms: number;
  ttft_ms: number | null;
  overhead_ms: number | null;
  upstream_ms: number | null;
}

/** Removes the rows that these corrections replace, and returns what they had added to the roll-ups. */
export async function takeOutRows(tx: Db, corrections: readonly LogRecord[]): Promise<readonly UsageFact[]> {
  const keys = corrections.map((record) => ({ id: record.id, created_at_ms: record.createdAtMs }));
  const rows = await tx.execute<TakenRow>(sql`
    delete from gateway_logs g
    using jsonb_to_recordset(${JSON.stringify(keys)}::jsonb) as r(id uuid, created_at_ms bigint)
    where g.id = r.id and g.created_at = to_timestamp(r.created_at_ms / 1000.0)
    returning (extract(epoch from g.created_at) * 1000)::float8 as created_at_ms, g.project_id, g.api_key_id, g.model,
      coalesce(g.final_provider, g.provider, '') as provider, g.status,
      case when g.semantic_cache_hit then 'semantic' when g.cache_hit then 'exact' else 'miss' end as cache,
      g.customer_id, g.error_code, g.tokens_in, g.tokens_out, g.tokens_cache_read, g.tokens_cache_write, g.tokens_reasoning,
      g.cost_usd, g.saved_usd, g.failover_count, g.latency_ms, g.ttft_ms, g.overhead_ms, g.upstream_ms`);
  return rows.map((row) => ({
    createdAtMs: row.created_at_ms,
    projectId: row.project_id,
    apiKeyId: row.api_key_id,
    model: row.model,
    provider: row.provider,
    status: row.status,
    cache: row.cache,
    customerId: row.customer_id,
    errorCode: row.error_code,
    tokensIn: Number(row.tokens_in),
    tokensOut: Number(row.tokens_out),
    tokensCacheRead: Number(row.tokens_cache_read),
    tokensCacheWrite: Number(row.tokens_cache_write),
    tokensReasoning: Number(row.tokens_reasoning),
    costNanoUsd: nanoFromUsd(row.cost_usd),
    savedNanoUsd: nanoFromUsd(row.saved_usd),
    failovers: row.failover_count,
    latencyMs: row.latency_ms,
    ttftMs: row.ttft_ms,
    overheadMs: row.overhead_ms,
    upstreamMs: row.upstream_ms,
  }));
}
