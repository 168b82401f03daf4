import { z } from '@hono/zod-openapi';
import { loadSpeeds } from '@llm0/drizzle/queries/logs/load-speeds';
import { answers, createRouter, defineRoute } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { instantShown, usdShown } from '../fields/fields';
import { showFields } from '../fields/map-fields';
import { histogramSchema } from './histogram-schema';
import type { AnswerKept } from './keep-answers';
import {
  bucketQuerySchema,
  durationFields,
  healthQuerySchema,
  histogramQuerySchema,
  latencyQuerySchema,
  overviewQuerySchema,
  rangeQuerySchema,
  toBucketQuery,
  toHistogramQuery,
  toStatsQuery,
} from './schema';
import { spendTableQuerySchema, spendTableSchema, toSpendTableQuery } from './spend-table-schema';

const tags = ['stats'];
/** Common options of queries. */
const BOUNDS =
  'An answer that tells of many requests or took long is kept for 20 s, and `Age` says how many seconds ago the database was ' +
  'asked; `Cache-Control: no-cache` asks it again. What would take more than 3 s is 400 and says what to narrow.';
const MISSES = 'Without refused requests and errors of callers';
const total = z.int();

const overviewSchema = z
  .object({
    requests: total,
    success: total,
    errors: total,
    failures: total,
    caller_errors: total,
    rate_limited: total,
    cap_exceeded: total,
    aborted: total,
    cost_usd: usdShown,
    saved_usd: usdShown,
    tokens_in: total,
    tokens_out: total,
    cache_hits: total.openapi({ description: 'Answers from the exact cache' }),
    semantic_hits: total,
    misses: total.openapi({ description: MISSES }),
    ...durationFields,
  })
  .openapi('Overview');

const place = {
  start: instantShown,
  group: z.string().nullable().openapi({ description: "Id or name of the group, '' for none; null without group_by" }),
  requests: total,
};
const bucketsOf = <T extends z.ZodRawShape>(name: string, fields: T) =>
  z
    .object({
      buckets: z.array(z.object({ ...place, ...fields })),
      groups: z.int().openapi({ description: 'Number of all groups, shown or not' }),
      partial: z.boolean().openapi({ description: 'Only part of the range was read in time' }),
      partial_from: instantShown.nullable().openapi({ description: 'Start of the range that was read' }),
    })
    .openapi(name);

const spendSchema = bucketsOf('SpendBuckets', {
  cost_usd: usdShown,
  saved_usd: usdShown,
  tokens_in: total,
  tokens_out: total,
  tokens_cache_read: total,
  tokens_cache_write: total,
  tokens_reasoning: total,
});
const latencySchema = bucketsOf('LatencyBuckets', durationFields);
const cacheSchema = bucketsOf('CacheBuckets', {
  cache_hits: total,
  semantic_hits: total,
  misses: total.openapi({ description: MISSES }),
  hit_ratio: z.number().openapi({ description: 'Share of hits among hits and `misses`' }),
  saved_usd: usdShown,
});
const errorsSchema = bucketsOf('ErrorBuckets', {
  success: total,
  errors: total.openapi({ description: 'Failures and errors of callers' }),
  failures: total.openapi({ description: 'Faults of providers and the gateway' }),
  caller_errors: total.openapi({ description: 'Errors that callers have to mend' }),
  rate_limited: total,
  cap_exceeded: total,
  aborted: total,
  failovers: total,
  error_rate: z.number(),
  failure_rate: z.number().openapi({ description: 'Share of `failures` among `success` and `failures`' }),
});

const healthSchema = z
  .object({
    buckets: z.array(
      z.object({
        start: instantShown,
        provider: z.string(),
        answered: total.openapi({ description: "Without answers of the gateway's caches" }),
        failed: total.openapi({ description: 'Failures of the provider, `failed_over` included' }),
        failed_over: total.openapi({ description: 'Failed there, then answered by another target' }),
        answered_elsewhere: total.openapi({
          description: '`failed_over`, and requests that skipped it while paused: `failover_from` lists them all',
        }),
        main_failure: z.string().nullable().openapi({ description: 'Error code of most failures' }),
      }),
    ),
  })
  .openapi('ProviderHealth');

const speedSchema = z.object({ model: z.string(), tokens_per_second: z.number(), requests: total });
const speedsSchema = z.object({ data: z.array(speedSchema) }).openapi('Speeds');

const overview = defineRoute({
  method: 'get',
  path: '/stats/overview',
  tags,
  summary: 'Totals and percentiles of a range; the last 24 h by default',
  description: BOUNDS,
  request: { query: overviewQuerySchema },
  responses: { 200: answers(overviewSchema, 'Counts, tokens and money are exact') },
});

const bucketRoute = <P extends string, T extends z.ZodType>(path: P, summary: string, schema: T) =>
  defineRoute({
    method: 'get',
    path,
    tags,
    summary,
    description: `Buckets without requests are omitted. ${BOUNDS}`,
    request: { query: bucketQuerySchema },
    responses: { 200: answers(schema, 'Buckets, oldest first') },
  });

const spend = bucketRoute('/stats/spend', 'Spend and tokens over time', spendSchema);
const spendTable = defineRoute({
  method: 'get',
  path: '/stats/spend-table',
  tags,
  summary: 'Spend by two things at once, such as model and customer',
  description: `Pairs that cost nothing are omitted. ${BOUNDS}`,
  request: { query: spendTableQuerySchema },
  responses: { 200: answers(spendTableSchema, 'Cells of the table') },
});
const latency = defineRoute({
  method: 'get',
  path: '/stats/latency',
  tags,
  summary: 'Percentiles of durations over time',
  description: `Buckets without requests are omitted. ${BOUNDS}`,
  request: { query: latencyQuerySchema },
  responses: { 200: answers(latencySchema, 'Buckets, oldest first') },
});
const cache = bucketRoute('/stats/cache', 'Cache hits over time', cacheSchema);
const errors = bucketRoute('/stats/errors', 'Failed, refused and aborted requests over time', errorsSchema);
const health = defineRoute({
  method: 'get',
  path: '/stats/health',
  tags,
  summary: 'Answers and failures of each provider over time',
  description: `Errors of callers, refusals and answers from caches do not count. Buckets without requests are omitted. ${BOUNDS}`,
  request: { query: healthQuerySchema },
  responses: { 200: answers(healthSchema, 'Buckets, oldest first') },
});
const histogram = defineRoute({
  method: 'get',
  path: '/stats/histogram',
  tags,
  summary: 'Histogram of a duration, also over time',
  description: BOUNDS,
  request: { query: histogramQuerySchema },
  responses: { 200: answers(histogramSchema, 'Bins without requests are omitted') },
});

const speeds = defineRoute({
  method: 'get',
  path: '/stats/speeds',
  tags,
  summary: 'Tokens per second after the first token, by model, of the newest 1,000 requests',
  description: 'Without answers that took less than 50 ms after their first token.',
  request: { query: rangeQuerySchema },
  responses: {
    200: answers(speedsSchema, 'The median of each model that a provider answered with, the busiest first'),
  },
});

export function statsRoutes({ clock, db }: Pick<AdminServices, 'clock' | 'db'>, answer: AnswerKept) {
  return createRouter()
    .openapi(speeds, async (c) => {
      const { fromMs, toMs, projectId } = toStatsQuery(c.req.valid('query'), clock.nowMs());
      const found = await loadSpeeds(db, { fromMs, toMs, projectId });
      return c.json({ data: found.map((speed) => showFields(speedSchema, speed)) }, 200);
    })
    .openapi(overview, (c) => {
      const query = toStatsQuery(c.req.valid('query'), clock.nowMs());
      return answer(c, { kind: 'overview', query });
    })
    .openapi(spend, (c) => {
      const query = toBucketQuery(c.req.valid('query'), clock.nowMs());
      return answer(c, { kind: 'spend', query });
    })
    .openapi(spendTable, (c) => {
      const query = toSpendTableQuery(c.req.valid('query'), clock.nowMs());
      return answer(c, { kind: 'spend_table', query });
    })
    .openapi(latency, (c) => {
      const { metric, ...wanted } = c.req.valid('query');
      const metrics = metric === undefined ? undefined : [metric];
      const query = { ...toBucketQuery(wanted, clock.nowMs()), metrics };
      return answer(c, { kind: 'latency', query });
    })
    .openapi(cache, (c) => {
      const query = toBucketQuery(c.req.valid('query'), clock.nowMs());
      return answer(c, { kind: 'cache', query });
    })
    .openapi(errors, (c) => {
      const query = toBucketQuery(c.req.valid('query'), clock.nowMs());
      return answer(c, { kind: 'errors', query });
    })
    .openapi(health, (c) => {
      const query = toBucketQuery(c.req.valid('query'), clock.nowMs());
      return answer(c, { kind: 'health', query });
    })
    .openapi(histogram, (c) => {
      const asked = c.req.valid('query');
      const query = toHistogramQuery(asked, clock.nowMs());
      return answer(c, { kind: 'histogram', query, metric: asked.metric });
    });
}
