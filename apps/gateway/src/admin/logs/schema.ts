import { z } from '@hono/zod-openapi';
import type { LogFilter, StoredLog } from '@llm0/drizzle/queries/logs/logs';
import { id, instantShown, pageQuery, queryInstant, queryNumber, text, usd, usdShown } from '../fields/fields';
import { jsonUsd } from '../fields/json-money';
import { readFields, showFields } from '../fields/map-fields';
import { showMs } from '../fields/show-fields';

const STATUSES = ['success', 'rate_limited', 'cap_exceeded', 'aborted', 'error'] as const;
const LABEL = 'label.';

const filterFields = {
  request_id: id.optional(),
  project_id: id.optional(),
  api_key_id: id.optional(),
  model: text(512).optional().openapi({ description: 'Answering or requested model' }),
  provider: text().optional(),
  status: z.enum(STATUSES).optional(),
  cache: z.enum(['exact', 'semantic', 'miss']).optional(),
  customer_id: text(256).optional(),
  from: queryInstant.optional().openapi({ description: 'From this time on' }),
  to: queryInstant.optional().openapi({ description: 'Up to, without, this time' }),
  min_cost: usd.optional(),
  min_latency: queryNumber().optional().openapi({ description: 'Milliseconds' }),
  q: text().optional().openapi({ description: 'Part of a model, customer, client request id or error' }),
  format: z.enum(['json', 'csv', 'ndjson']).optional().openapi({ description: 'csv and ndjson stream every match' }),
};

/** `?label.<name>=` may be any number of further fields; other unknown ones are refused. */
export const logQuerySchema = z.looseObject({ ...filterFields, ...pageQuery }).superRefine((query, context) => {
  const unknown = Object.keys(query).filter(
    (key) => !(key in filterFields || key in pageQuery || key.startsWith(LABEL)),
  );
  if (unknown.length > 0) context.addIssue({ code: 'unrecognized_keys', keys: unknown, input: query });
});

export function toLogFilter(query: z.output<typeof logQuerySchema>): LogFilter {
  const labels = Object.entries(query)
    .filter(([name, value]) => name.startsWith(LABEL) && typeof value === 'string')
    .map(([name, value]) => [name.slice(LABEL.length).toLowerCase(), String(value)]);
  const { from, to, min_cost: minCostNanoUsd, min_latency: minLatencyMs, q } = query;
  const { request_id, project_id, api_key_id, model, provider, status, cache, customer_id } = query;
  return {
    ...readFields({ request_id, project_id, api_key_id, model, provider, status, cache, customer_id }),
    ...{ fromMs: from, toMs: to, minCostNanoUsd, minLatencyMs, q },
    labels: labels.length === 0 ? undefined : Object.fromEntries(labels),
  };
}

const milliseconds = z.number().nullable();

const attemptSchema = z.object({
  provider: z.string(),
  model: z.string(),
  outcome: z.string(),
  status: z.int().nullable(),
  start_ms: z.number(),
  latency_ms: z.number(),
  cost_usd: usdShown.nullable(),
});

export const logSchema = z
  .object({
    id,
    created_at: instantShown,
    project_id: id,
    api_key_id: id,
    request_id: id,
    client_request_id: z.string().nullable(),
    dialect: z.string(),
    model: z.string(),
    requested_model: z.string(),
    provider: z.string().nullable(),
    final_provider: z.string().nullable(),
    tokens_in: z.int(),
    tokens_out: z.int(),
    tokens_total: z.int(),
    tokens_cache_read: z.int(),
    tokens_cache_write: z.int(),
    tokens_reasoning: z.int(),
    cost_usd: usdShown,
    saved_usd: usdShown,
    cost_detail: z
      .record(z.string(), z.union([z.number(), z.string()]))
      .nullable()
      .openapi({ description: 'USD by class of token' }),
    cost_estimated: z.boolean(),
    latency_ms: z.number(),
    overhead_ms: milliseconds,
    upstream_ms: milliseconds,
    ttft_ms: milliseconds,
    stream: z.boolean(),
    cache_hit: z.boolean(),
    semantic_cache_hit: z.boolean(),
    similarity_score: z.number().nullable(),
    failover_count: z.int(),
    failover_occurred: z.boolean(),
    attempts: z.array(attemptSchema).nullable(),
    status: z.enum(STATUSES),
    http_status: z.int(),
    error_code: z.string().nullable(),
    error_message: z.string().nullable(),
    customer_id: z.string().nullable(),
    labels: z.record(z.string(), z.string()).nullable(),
    matched_by: id.nullable().openapi({
      description: 'Of an exact hit: the request for which the semantic cache had found this answer',
    }),
    dropped_params: z.array(z.string()).nullable(),
    refused_count: z.int().nullable().openapi({
      description:
        '429 rate_limit_exceeded: how many refusals this row stands for; beyond 10 a second a key they are folded',
    }),
  })
  .openapi('Log');

export type ShownLog = z.output<typeof logSchema>;

/** Columns in the order of the table; also the header of a CSV export. */
export const LOG_COLUMNS = Object.keys(logSchema.shape) as (keyof ShownLog)[];

export function showLog(log: StoredLog): ShownLog {
  const { costDetail, attempts, status, ...rest } = log;
  return showFields(logSchema, {
    ...rest,
    costDetail: showCostDetail(costDetail),
    attempts: attempts === null ? null : attempts.map(showAttempt),
    status: STATUSES.find((known) => known === status) ?? 'error',
  });
}

function showCostDetail(detail: StoredLog['costDetail']): ShownLog['cost_detail'] {
  if (detail === null) return null;
  return Object.fromEntries(
    Object.entries(detail).map(([name, value]) => [name, Number.isSafeInteger(value) ? jsonUsd(Number(value)) : value]),
  );
}

/** Attempts are stored as they travelled through the queue; what a field lacks there is null here. */
function showAttempt(attempt: Readonly<Record<string, unknown>>): z.output<typeof attemptSchema> {
  const number = (value: unknown) => (typeof value === 'number' ? value : null);
  const cost = number(attempt.costNanoUsd);
  return {
    provider: String(attempt.provider ?? ''),
    model: String(attempt.model ?? ''),
    outcome: String(attempt.outcome ?? ''),
    status: number(attempt.status),
    start_ms: showMs(number(attempt.startMs) ?? 0),
    latency_ms: showMs(number(attempt.latencyMs) ?? 0),
    cost_usd: cost === null ? null : jsonUsd(cost),
  };
}
