import { z } from '@hono/zod-openapi';
import type { StoredToolCall } from '@llm0/drizzle/queries/tool-calls/tool-calls';
import { TOOL_GROUPS, type ToolStatsBucket, type ToolStatsQuery } from '@llm0/drizzle/queries/tool-calls/tool-stats';
import { id, instantShown, pageOf, pageQuery, queryInstant, text, usdShown } from '../fields/fields';
import { showFields } from '../fields/map-fields';
import { showInstant, showMsOrNull } from '../fields/show-fields';
import { STATUSES } from '../logs/log-query';
import { guardrailMarkSchema, statusOf } from '../logs/schema';
import { bucketQuerySchema, percentilesSchema, toBucketQuery } from '../stats/schema';

export const toolCallSchema = z
  .object({
    id,
    created_at: instantShown,
    project_id: id,
    api_key_id: id,
    customer_id: z.string().nullable(),
    labels: z.record(z.string(), z.string()).nullable(),
    request_id: id,
    client_request_id: z.string().nullable(),
    run_id: z
      .string()
      .openapi({ description: "The agent's run it belongs to: `X-LLM0-Run-Id`, or made by the gateway" }),
    server_id: id,
    server: z.string().openapi({ description: 'The alias it had' }),
    tool: z.string().openapi({ description: "The server's own name; of other requests to a server their method" }),
    status: z.enum(STATUSES),
    is_error: z.boolean().openapi({ description: 'The tool said that it failed, or there was no answer' }),
    error_code: z.string().nullable().openapi({ description: "`rpc_<code>` where it is the server's own" }),
    error_message: z.string().nullable(),
    latency_ms: z.number(),
    bytes_in: z.int(),
    bytes_out: z.int(),
    cost_usd: usdShown,
    guardrails: z
      .array(guardrailMarkSchema)
      .nullable()
      .openapi({ description: 'What the guardrails found: a line for each rule, never any content' }),
    trace_id: z.string().nullable().openapi({ description: 'W3C trace id' }),
  })
  .openapi('ToolCall');

export const showToolCall = ({ status, ...call }: StoredToolCall): z.output<typeof toolCallSchema> =>
  showFields(toolCallSchema, { ...call, status: statusOf(status) });

export const toolCallPageSchema = pageOf(toolCallSchema).extend({
  partial: z.boolean().optional().openapi({
    description: 'Not all of the range could be read in 3 s; next_cursor goes on from there',
  }),
  partial_from: instantShown.optional(),
});

export const toolCallQuerySchema = z.strictObject({
  project_id: id.optional(),
  api_key_id: id.optional(),
  customer_id: text(256).optional(),
  server: text(64).optional().openapi({ description: 'Its alias' }),
  tool: text(256).optional(),
  status: z.enum(STATUSES).optional(),
  is_error: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional(),
  run_id: text(128).optional(),
  trace_id: text(32).optional(),
  request_id: id.optional(),
  from: queryInstant.optional().openapi({ description: 'From this time on' }),
  to: queryInstant.optional().openapi({ description: 'Up to, without, this time' }),
  ...pageQuery,
});

export const toolBodiesSchema = z
  .object({
    request_id: id,
    project_id: id,
    created_at: instantShown,
    arguments: z.unknown().openapi({ description: 'JSON as the caller sent it; null when none was kept' }),
    result: z.unknown().openapi({ description: "The server's result, or `{error}`; null where none came" }),
  })
  .openapi('ToolCallBodies', { description: 'Without secrets. Long ones are `{truncated: true, characters, text}`' });

export const toolStatsQuerySchema = bucketQuerySchema
  .omit({ model: true, provider: true, customer_id: true, group_by: true })
  .extend({
    server: text(64).optional().openapi({ description: 'Its alias' }),
    tool: text(256).optional().openapi({ description: "The server's own name" }),
    group_by: z
      .enum(TOOL_GROUPS)
      .optional()
      .openapi({ description: 'tool: `alias__name`, `alias__` for calls of tools that were not found' }),
  });

export function toToolStatsQuery(query: z.output<typeof toolStatsQuerySchema>, nowMs: number): ToolStatsQuery {
  const { server, tool, group_by: groupBy, ...rest } = query;
  const { fromMs, toMs, intervalMs, top, projectId, apiKeyId, status } = toBucketQuery(rest, nowMs);
  return { fromMs, toMs, nowMs, intervalMs, top, projectId, apiKeyId, status, server, tool, groupBy };
}

const toolBucketSchema = z.object({
  start: instantShown,
  group: z.string().nullable().openapi({ description: "The group's id or name; null without group_by" }),
  calls: z.int(),
  errors: z.int(),
  error_rate: z.number(),
  bytes_in: z.int(),
  bytes_out: z.int(),
  cost_usd: usdShown,
  latency_ms: percentilesSchema,
});

export const toolStatsSchema = z
  .object({
    buckets: z.array(toolBucketSchema),
    groups: z.int().openapi({ description: 'How many groups there are, shown or not' }),
  })
  .openapi('ToolBuckets');

const sumsSchema = toolBucketSchema.omit({ start: true, error_rate: true, latency_ms: true });

export function showToolBucket({ startMs, latency, ...sums }: ToolStatsBucket): z.output<typeof toolBucketSchema> {
  const { p50, p95, p99 } = latency;
  return {
    start: showInstant(startMs),
    ...showFields(sumsSchema, sums),
    error_rate: sums.errors / sums.calls,
    latency_ms: { p50: showMsOrNull(p50), p95: showMsOrNull(p95), p99: showMsOrNull(p99) },
  };
}
