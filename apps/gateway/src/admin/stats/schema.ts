import { z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { OUTCOMES, STATUSES } from '@llm0/core/errors/outcome';
import { MODALITIES } from '@llm0/core/logs/log-record';
import type { HistogramQuery } from '@llm0/drizzle/queries/stats/read/load-stats';
import type { BucketQuery, GroupBy, StatsQuery } from '@llm0/drizzle/queries/stats/read/questions';
import { id, projectIds, queryInstant, text } from '../fields/fields';

const GROUPS = [
  'project',
  'key',
  'model',
  'provider',
  'target',
  'customer',
  'status',
  'outcome',
  'error_code',
  'team',
  'cost_center',
  'modality',
] as const;
const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Longest range for reading rows where no roll-up matches the interval. */
const MAX_ROWS_MS = 7 * DAY_MS;
const DEFAULT_RANGE_MS = DAY_MS;
/** Rows carry the store's clock, which may run a little ahead of this process's. */
const CLOCK_TOLERANCE_MS = 75_000;
/** Step of the default range, well within the tolerance. */
const DEFAULT_STEP_MS = 15_000;
const MAX_BUCKETS = 5000;
const MAX_GROUPS = 1000;
const WHOLE = 'all';

const interval = z
  .string()
  .transform((value, context) => {
    if (value === WHOLE) return WHOLE;
    const match = /^(\d{0,6})\s*(s|m|h|d|second|minute|hour|day)?s?$/.exec(value);
    const ms =
      value === '' || match === null ? Number.NaN : Number(match[1] || 1) * (UNIT_MS[match[2] ?? 's'] ?? Number.NaN);
    if (ms > 0) return ms;
    context.addIssue({ code: 'custom', message: 'must be a length of time such as 5m, 1h, 1d, or seconds' });
    return z.NEVER;
  })
  .openapi({
    type: 'string',
    description:
      'Such as 5m, 1h, 1d, seconds, or all (one bucket); by default it suits the range. Whole hours beyond 7 days',
  });

const groupBy = z
  .union(
    [z.enum(GROUPS), z.templateLiteral(['label.', text(100)])],
    `must be one of ${GROUPS.join(', ')}, label.<name>`,
  )
  .openapi({
    type: 'string',
    description:
      'project, key, model, provider, target (provider/model), customer, status, outcome, error_code, team (of the project now), cost_center, modality (tool calls are `tool`) or label.<name>. ' +
      'By modality or label, rows of at most 7 days are read for 3 s',
  });

const range = {
  from: queryInstant.optional().openapi({ description: 'Default: 24 h before `to`' }),
  to: queryInstant.optional().openapi({ description: 'Exclusive; default: now' }),
  project_id: projectIds,
  api_key_id: id.optional(),
  model: text(512).optional().openapi({ description: 'Model that answered' }),
  provider: text().optional(),
  status: z.enum(STATUSES).optional(),
  outcome: z.enum(OUTCOMES).optional().openapi({ description: 'The status, with `caller_error` apart from `error`' }),
  cache: z.enum(['exact', 'semantic', 'miss']).optional().openapi({ description: '`miss`: no cache answered' }),
};

export const overviewQuerySchema = z.strictObject(range);
export const rangeQuerySchema = overviewQuerySchema.pick({ from: true, to: true, project_id: true });
export const bucketQuerySchema = z.strictObject({
  ...range,
  interval: interval.optional(),
  group_by: groupBy.optional(),
  customer_id: text(256).optional().openapi({ description: 'Reads rows: at most 92 days and 3 s' }),
  modality: z.enum(MODALITIES).optional().openapi({ description: 'Reads rows: at most 7 days and 3 s' }),
  top: z
    .string()
    .regex(/^\d{1,4}$/, `must be a whole number from 1 to ${MAX_GROUPS}`)
    .transform(Number)
    .refine((value) => value >= 1 && value <= MAX_GROUPS, `must be from 1 to ${MAX_GROUPS}`)
    .optional()
    .openapi({
      type: 'integer',
      description: 'Number of groups, the most expensive first; the others become "(other)"',
    }),
});
export const healthQuerySchema = bucketQuerySchema.pick({ from: true, to: true, project_id: true, interval: true });
export const metricField = z.enum(['latency', 'ttft', 'overhead', 'upstream']);
export const histogramQuerySchema = z.strictObject({
  ...range,
  metric: metricField.default('latency'),
  interval: interval.optional().openapi({ description: 'Such as 5m, 1h or seconds: the answer has `buckets`' }),
});
export const latencyQuerySchema = bucketQuerySchema.extend({
  metric: metricField.optional().openapi({ description: "Only this duration's percentiles; the others are null" }),
});

export function toStatsQuery(query: z.output<typeof overviewQuerySchema>, nowMs: number): StatsQuery {
  // Rounded to steps, so that concurrent callers share a question.
  const latestMs = nowMs - (nowMs % DEFAULT_STEP_MS);
  const toMs = query.to ?? latestMs + CLOCK_TOLERANCE_MS;
  const fromMs = query.from ?? Math.min(toMs, latestMs) - DEFAULT_RANGE_MS;
  if (fromMs > toMs) throw new GatewayError('invalid_request', 'from must not be later than to.', { param: 'from' });
  const { project_id: projectId, api_key_id: apiKeyId, model, provider, status, outcome, cache } = query;
  return { fromMs, toMs, nowMs, projectId, apiKeyId, model, provider, status, outcome, cache };
}

export function toBucketQuery(
  query: z.output<typeof bucketQuerySchema>,
  nowMs: number,
): Omit<BucketQuery, 'withDurations' | 'sums'> {
  const stretch = toStatsQuery(query, nowMs);
  const lengthMs = stretch.toMs - stretch.fromMs;
  const intervalMs =
    query.interval === WHOLE ? undefined : (query.interval ?? defaultIntervalMs(lengthMs, query.group_by));
  if (intervalMs !== undefined && lengthMs / intervalMs > MAX_BUCKETS) {
    const message = `The range has more than ${MAX_BUCKETS} buckets. Choose a longer interval or a shorter range.`;
    throw new GatewayError('invalid_request', message, { param: 'interval' });
  }
  if (intervalMs !== undefined && intervalMs % HOUR_MS !== 0 && lengthMs > MAX_ROWS_MS) {
    const message =
      'Beyond two days only whole hours are rolled up: take an interval of whole hours or a range of up to 7 days.';
    throw new GatewayError('invalid_request', message, { param: 'interval' });
  }
  const { customer_id: customerId, group_by: groupBy, modality, top } = query;
  return { ...stretch, customerId, modality, intervalMs, top, groupBy: groupBy as GroupBy | undefined };
}

/** Buckets only for an interval. */
export function toHistogramQuery(
  { interval, metric: _, ...query }: z.output<typeof histogramQuerySchema>,
  nowMs: number,
): HistogramQuery {
  return interval === undefined ? toStatsQuery(query, nowMs) : toBucketQuery({ ...query, interval }, nowMs);
}

function defaultIntervalMs(lengthMs: number, groupBy: string | undefined): number {
  // Beyond a day, customers only have daily data.
  if (groupBy === 'customer' && lengthMs > DAY_MS) return DAY_MS;
  if (lengthMs <= 4 * HOUR_MS) return 60_000;
  return lengthMs <= 8 * DAY_MS ? HOUR_MS : DAY_MS;
}

const milliseconds = z.number().nullable();
export const percentilesSchema = z
  .object({ p50: milliseconds, p95: milliseconds, p99: milliseconds })
  .openapi('Percentiles', { description: 'Milliseconds, within 2.5 %; null without data' });

export const durationFields = {
  latency_ms: percentilesSchema,
  ttft_ms: percentilesSchema,
  overhead_ms: percentilesSchema,
  upstream_ms: percentilesSchema,
};
