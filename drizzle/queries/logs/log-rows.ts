import type { LogRecord } from '@llm0/core/logs/log-record';
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { sqlState } from '../../sql-state';
import { toArrayText } from '../array-text';
import { executePrepared } from '../execute-prepared';
import { innerRow } from '../inner-names';
import { parseJson } from '../parse-json';
import { MODALITY_OF_ROW } from '../stats/read/segment-sql';
import type { UsageFact } from '../stats/write/rollup-deltas';

/** Field of a record → its column of `gateway_logs` and type. */
export const FIELDS = {
  id: ['id', 'uuid'],
  projectId: ['project_id', 'uuid'],
  apiKeyId: ['api_key_id', 'uuid'],
  dialect: ['dialect', 'text'],
  model: ['model', 'text'],
  requestedModel: ['requested_model', 'text'],
  provider: ['provider', 'text'],
  finalProvider: ['final_provider', 'text'],
  tokensIn: ['tokens_in', 'bigint'],
  tokensOut: ['tokens_out', 'bigint'],
  tokensCacheRead: ['tokens_cache_read', 'bigint'],
  tokensCacheWrite: ['tokens_cache_write', 'bigint'],
  tokensReasoning: ['tokens_reasoning', 'bigint'],
  costDetail: ['cost_detail', 'jsonb'],
  costEstimated: ['cost_estimated', 'boolean'],
  latencyMs: ['latency_ms', 'double precision'],
  overheadMs: ['overhead_ms', 'double precision'],
  upstreamMs: ['upstream_ms', 'double precision'],
  ttftMs: ['ttft_ms', 'double precision'],
  stream: ['stream', 'boolean'],
  cacheHit: ['cache_hit', 'boolean'],
  semanticCacheHit: ['semantic_cache_hit', 'boolean'],
  failoverCount: ['failover_count', 'integer'],
  attempts: ['attempts', 'jsonb'],
  status: ['status', 'text'],
  httpStatus: ['http_status', 'integer'],
} as const satisfies Fields;

/** Fields that most rows don't have: a statement without them costs Postgres a sixth less. */
export const RARE_FIELDS = {
  clientRequestId: ['client_request_id', 'text'],
  similarityScore: ['similarity_score', 'real'],
  errorCode: ['error_code', 'text'],
  errorMessage: ['error_message', 'text'],
  customerId: ['customer_id', 'text'],
  labels: ['labels', 'jsonb'],
  refusedCount: ['refused_count', 'integer'],
  matchedBy: ['matched_by', 'uuid'],
  droppedParams: ['dropped_params', 'jsonb'],
  runId: ['run_id', 'text'],
  guardrails: ['guardrails', 'jsonb'],
  traceId: ['trace_id', 'text'],
  modality: ['modality', 'text'],
  units: ['units', 'jsonb'],
  routing: ['routing', 'jsonb'],
} as const satisfies Fields;

type Fields = Partial<Record<keyof LogRecord, readonly [column: string, type: string]>>;

/** Fields that only columns of `DERIVED` are made of. */
const SOURCES = ['createdAtMs', 'costNanoUsd', 'savedNanoUsd'] as const;

/** Columns that are made from fields. */
const DERIVED = {
  request_id: 'r.id',
  created_at: 'to_timestamp(r."createdAtMs" / 1000.0)',
  cost_usd: 'r."costNanoUsd" * 0.000000001',
  saved_usd: 'r."savedNanoUsd" * 0.000000001',
  tokens_total: 'r."tokensIn" + r."tokensOut"',
  failover_occurred: 'r."failoverCount" > 0',
} as const;

const NARROW = toStatement(FIELDS);
const WIDE = toStatement({ ...FIELDS, ...RARE_FIELDS });
const RARE = Object.keys(RARE_FIELDS) as (keyof typeof RARE_FIELDS)[];

interface Statement {
  readonly inserted: SQL;
  readonly selected: SQL;
  readonly names: SQL;
  /** Of the arrays, one for each of `names`. */
  readonly fields: readonly (readonly [field: keyof LogRecord, type: SQL])[];
}

function toStatement(fields: Fields): Statement {
  const given = Object.entries(fields) as [keyof LogRecord, readonly [string, string]][];
  const names = [...SOURCES, ...given.map(([field]) => field)];
  return {
    inserted: sql.raw([...given.map(([, [column]]) => column), ...Object.keys(DERIVED)].join(', ')),
    selected: sql.raw([...given.map(([field]) => `r."${field}"`), ...Object.values(DERIVED)].join(', ')),
    names: sql.raw(names.map((field) => `"${field}"`).join(', ')),
    fields: names.map((field) => [field, sql.raw(`${fields[field]?.[1] ?? 'bigint'}[]`)]),
  };
}

/** From here on a savepoint costs less than to look for each row first. */
const MANY = 50;

/**
 * Inserts rows that are not there yet. Returns the ids really written; null = all, which is nearly always so: many rows are
 * inserted as if they were new, and compared only if one of them is not.
 */
export async function insertRows(tx: Db, records: readonly LogRecord[]): Promise<readonly string[] | null> {
  const isWide = records.some((record) => RARE.some((field) => record[field] != null));
  const { inserted, selected, names, fields } = isWide ? WIDE : NARROW;
  const arrays = fields.map(([field, type]) => sql`${toArrayText(records.map((record) => record[field]))}::${type}`);
  const insert = sql`insert into gateway_logs (${inserted})
    select ${selected} from unnest(${sql.join(arrays, sql`, `)}) as r(${names})`;
  if (records.length >= MANY) {
    try {
      await tx.transaction((part) => executePrepared(part, insert));
      return null;
    } catch (error) {
      if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
    }
  }
  const [reply] = await executePrepared<{ written: number; ids: string | null }>(
    tx,
    sql`
    with inserted as (${insert} on conflict (created_at, id) do nothing returning id)
    select count(*)::int as written, case when count(*) < ${records.length} then string_agg(id::text, ',') end as ids
    from inserted`,
  );
  if (reply?.written === records.length) return null;
  return reply?.ids?.split(',') ?? [];
}

const UNIQUE_VIOLATION = '23505';

/** Deletes the rows that the corrections replace, and returns their sums. */
export async function takeOutRows(tx: Db, corrections: readonly LogRecord[]): Promise<readonly UsageFact[]> {
  const keys = corrections.map((record) => ({ id: record.id, created_at_ms: record.createdAtMs }));
  const rows = await tx.execute(sql`
    delete from gateway_logs g
    using jsonb_to_recordset(${JSON.stringify(keys)}::jsonb) as r(id uuid, created_at_ms bigint)
    where g.id = r.id and g.created_at = to_timestamp(r.created_at_ms / 1000.0)
    returning (extract(epoch from g.created_at) * 1000)::float8 as created_at_ms, g.project_id, g.api_key_id, g.model,
      coalesce(g.final_provider, g.provider, '') as provider, g.status,
      case when g.semantic_cache_hit then 'semantic' when g.cache_hit then 'exact' else 'miss' end as cache,
      ${MODALITY_OF_ROW} as modality, coalesce(g.refused_count, 1) as requests, g.customer_id, g.labels, g.error_code, g.tokens_in::float8, g.tokens_out::float8, g.tokens_cache_read::float8,
      g.tokens_cache_write::float8, g.tokens_reasoning::float8, g.cost_usd, g.saved_usd, g.failover_count as failovers, g.latency_ms, g.ttft_ms, g.overhead_ms, g.upstream_ms`);
  return rows.map((row) => innerRow<UsageFact>({ ...row, labels: parseJson(row.labels) }));
}
