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
    rules: guardrailRules.optional().openapi({ description: "Instead of the project's own" }),
    from: z.iso.datetime({ offset: true }).optional().openapi({ description: 'A week ago unless given' }),
    to: z.iso.datetime({ offset: true }).optional(),
    limit: count(1, MOST_REPLAYED).default(200).openapi({ description: 'Requests, the newest' }),
  })
  .openapi('GuardrailReplay');

export const replayedSchema = z
  .object({
    requests: z.int().openapi({ description: 'Requests with bodies that were judged' }),
    from: instantShown.openapi({ description: 'The oldest that was judged; `from` where all were' }),
    to: instantShown,
    is_complete: z.boolean().openapi({ description: 'false: there are older ones, or it took too long' }),
    blocked: z.int().openapi({ description: 'Requests that would not have passed' }),
    rules: z.array(
      z.object({
        name: z.string(),
        action: z.string(),
        requests: z.int(),
        matches: z.int(),
        failures: z.int(),
        is_skipped: z.boolean().openapi({ description: 'It asks a model or a webhook: not about what is over' }),
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
      .openapi({ description: 'watched: nothing was done; failed, timeout: the check could not be made' }),
    group_by: z.enum(GUARDRAIL_GROUPS).optional(),
  });

const bucketSchema = z.object({
  start: instantShown,
  group: z.string().nullable(),
  requests: z
    .int()
    .openapi({ description: 'Requests and tool calls in which a rule found something; each rule counts' }),
  matches: z.int(),
  ms: z.number().openapi({ description: 'Milliseconds that its checks took there' }),
});
const sumsSchema = bucketSchema.omit({ start: true });

export const guardrailStatsSchema = z.object({ buckets: z.array(bucketSchema) }).openapi('GuardrailBuckets');

export const showBucket = ({ startMs, ...sums }: GuardrailBucket): z.output<typeof bucketSchema> => ({
  start: showInstant(startMs),
  ...showFields(sumsSchema, sums),
});
