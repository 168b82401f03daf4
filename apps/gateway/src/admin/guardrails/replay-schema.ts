import { z } from '@hono/zod-openapi';
import type { PastVerdict, RuleSum } from '@llm0/core/guardrails/replay-rules';
import { GUARDRAIL_GROUPS, type GuardrailBucket } from '@llm0/drizzle/queries/guardrails/guardrail-stats';
import { count, instantShown, text } from '../fields/fields';
import { showFields } from '../fields/map-fields';
import { showInstant } from '../fields/show-fields';
import { bucketQuerySchema } from '../stats/schema';
import { guardrailRules } from './schema';

export const MOST_REPLAYED = 1000;

export const replaySchema = z
  .strictObject({
    rules: guardrailRules.optional().openapi({ description: "Replaces the project's value" }),
    from: z.iso.datetime({ offset: true }).optional().openapi({ description: 'A week ago by default' }),
    to: z.iso.datetime({ offset: true }).optional(),
    limit: count(1, MOST_REPLAYED).default(200).openapi({ description: 'Newest requests' }),
  })
  .openapi('GuardrailReplay');

export const replayedSchema = z
  .object({
    requests: z.int().openapi({ description: 'Checked requests with bodies' }),
    from: instantShown.openapi({ description: 'Oldest checked request; `from` if all were checked' }),
    to: instantShown,
    is_complete: z.boolean().openapi({ description: 'false: older ones exist, or the query took too long' }),
    blocked: z.int().openapi({ description: 'Requests that would have been blocked' }),
    rules: z.array(
      z.object({
        name: z.string(),
        action: z.string(),
        requests: z.int(),
        matches: z.int(),
        failures: z.int(),
        is_skipped: z
          .boolean()
          .openapi({ description: "The check calls a model or webhook, so it doesn't run on past requests" }),
      }),
    ),
    hits: z
      .array(
        z.object({
          request_id: z.string(),
          created_at: instantShown,
          blocked_by: z.string().nullable(),
          rules: z.array(z.object({ name: z.string(), matches: z.int() })),
        }),
      )
      .openapi({ description: 'The newest 100' }),
  })
  .openapi('GuardrailReplayed');

export const showSum = ({ isSkipped, ...sum }: RuleSum) => ({ ...sum, is_skipped: isSkipped });

export const showHit = ({ requestId, createdAtMs, blockedBy, rules }: PastVerdict) => ({
  request_id: requestId,
  created_at: showInstant(createdAtMs),
  blocked_by: blockedBy,
  rules: rules.map(({ name, matches }) => ({ name, matches })),
});

export const guardrailStatsQuerySchema = bucketQuerySchema
  .omit({ model: true, provider: true, customer_id: true, group_by: true, api_key_id: true, status: true, top: true })
  .extend({
    rule: text(100).optional(),
    outcome: z
      .enum(['done', 'watched', 'failed', 'timeout'])
      .optional()
      .openapi({ description: 'watched: recorded only; failed, timeout: the check failed' }),
    group_by: z.enum(GUARDRAIL_GROUPS).optional(),
  });

const bucketSchema = z.object({
  start: instantShown,
  group: z.string().nullable(),
  requests: z.int().openapi({ description: 'Requests and tool calls with a finding; each rule counts' }),
  matches: z.int(),
  ms: z.number().openapi({ description: 'Milliseconds of its checks' }),
});
const sumsSchema = bucketSchema.omit({ start: true });

export const guardrailStatsSchema = z.object({ buckets: z.array(bucketSchema) }).openapi('GuardrailBuckets');

export const showBucket = ({ startMs, ...sums }: GuardrailBucket): z.output<typeof bucketSchema> => ({
  start: showInstant(startMs),
  ...showFields(sumsSchema, sums),
});
