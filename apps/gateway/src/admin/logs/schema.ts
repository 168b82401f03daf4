import { z } from '@hono/zod-openapi';
import type { Units } from '@llm0/core/chat/usage';
import { OUTCOMES, outcomeOf, STATUSES, statusOf } from '@llm0/core/errors/outcome';
import { type DialectName, MODALITIES, MODALITY_OF } from '@llm0/core/logs/log-record';
import type { StoredLog } from '@llm0/drizzle/queries/logs/logs';
import { id, instantShown, usdShown } from '../fields/fields';
import { jsonUsd } from '../fields/json-money';
import { showFields } from '../fields/map-fields';
import { showMs } from '../fields/show-fields';

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

/** See `GuardrailMark`. */
export const guardrailMarkSchema = z.object({
  rule: z.string(),
  on: z.enum(['input', 'output']),
  part: z.string(),
  check: z.string(),
  action: z.string(),
  count: z.int().openapi({ description: 'Matches' }),
  ms: z.number(),
  shadow: z.literal(true).optional().openapi({ description: 'Shadow mode: the policy only recorded the finding' }),
  error: z.enum(['timeout', 'failed']).optional().openapi({ description: 'The check failed' }),
});

const unitsSchema = z.object({
  images: z.number().optional(),
  seconds: z.number().optional(),
  characters: z.number().optional(),
  pages: z.number().optional(),
  searches: z.number().optional(),
  session_seconds: z.number().optional(),
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
      .openapi({ description: 'USD by token class' }),
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
      description: 'For an exact hit: the request that the semantic cache matched',
    }),
    dropped_params: z.array(z.string()).nullable(),
    run_id: z.string().nullable().openapi({ description: 'Agent run: `X-LLM0-Run-Id`' }),
    guardrails: z
      .array(guardrailMarkSchema)
      .nullable()
      .openapi({ description: 'Guardrail findings: one entry per rule, without content' }),
    trace_id: z.string().nullable().openapi({
      description: "W3C trace id from the caller's `traceparent`, or generated with tracing on",
    }),
    modality: z.enum(MODALITIES),
    units: unitsSchema.nullable().openapi({ description: 'What was used besides tokens' }),
    routing: z
      .array(z.object({ provider: z.string(), model: z.string(), reason: z.string() }))
      .nullable()
      .openapi({ description: 'Why each target was chosen or skipped; null where there was no choice' }),
    refused_count: z.int().nullable().openapi({
      description:
        '429 rate_limit_exceeded: number of refusals in this row; beyond 10 per second and key they share rows',
    }),
    outcome: z.enum(OUTCOMES).openapi({ description: '`caller_error`: an error that the caller has to mend' }),
  })
  .openapi('Log');

export type ShownLog = z.output<typeof logSchema>;

/** Columns in table order; also the header of a CSV export. */
export const LOG_COLUMNS = Object.keys(logSchema.shape) as (keyof ShownLog)[];

export function showLog(log: StoredLog): ShownLog {
  const { costDetail, attempts, status, modality, units, ...rest } = log;
  return showFields(logSchema, {
    ...rest,
    costDetail: showCostDetail(costDetail),
    attempts: attempts === null ? null : attempts.map(showAttempt),
    status: statusOf(status),
    modality: modality ?? MODALITY_OF[log.dialect as DialectName] ?? 'text',
    units: units === null ? null : showUnits(units),
    outcome: outcomeOf(status, log.errorCode),
  });
}

const showUnits = ({ sessionSeconds, ...units }: Units): z.output<typeof unitsSchema> =>
  sessionSeconds === undefined ? units : { ...units, session_seconds: sessionSeconds };

function showCostDetail(detail: StoredLog['costDetail']): ShownLog['cost_detail'] {
  if (detail === null) return null;
  return Object.fromEntries(
    Object.entries(detail).map(([name, value]) => [name, Number.isSafeInteger(value) ? jsonUsd(Number(value)) : value]),
  );
}

/** Attempts in the queue's format; a missing field becomes null. */
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
