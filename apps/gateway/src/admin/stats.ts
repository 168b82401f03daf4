import { createRoute, z } from '@hono/zod-openapi';
import {
  type BucketQuery,
  type BucketResult,
  loadBuckets,
  loadHistogram,
  loadOverview,
  needsRows,
  SPEND_SUMS,
  type StatsBucket,
  type SumColumn,
} from '@llm0/drizzle/queries/stats';
import { answers, createRouter } from './admin-router';
import type { AdminServices } from './admin-services';
import { instantShown, showInstant, usdShown } from './fields';
import { histogramSchema, showHistogram } from './histogram-schema';
import { jsonUsd } from './json-money';
import {
  bucketQuerySchema,
  durationFields,
  histogramQuerySchema,
  latencyQuerySchema,
  overviewQuerySchema,
  showDurations,
  toBucketQuery,
  toStatsQuery,
} from './stats-schema';
import { takeTurns } from './take-turns';

const tags = ['stats'];
const total = z.int();
/** Each keeps a core of Postgres busy: a page asks for many, and on a small machine they would leave requests none. */
const AT_ONCE = 1;

const overviewSchema = z
  .object({
    requests: total,
    success: total,
    cost_usd: usdShown,
    saved_usd: usdShown,
    tokens_in: total,
    tokens_out: total,
    cache_hits: total.openapi({ description: 'From the exact cache' }),
    semantic_hits: total,
    ...durationFields,
  })
  .openapi('Overview');

const place = {
  start: instantShown,
  group: z.string().nullable().openapi({ description: "The group's id or name, '' for none; null without group_by" }),
  requests: total,
};
const bucketsOf = <T extends z.ZodRawShape>(name: string, fields: T) =>
  z
    .object({
      buckets: z.array(z.object({ ...place, ...fields })),
      groups: z.int().openapi({ description: 'How many groups there are, shown or not' }),
      partial: z.boolean().openapi({ description: 'Not all of the range could be read in time' }),
      partial_from: instantShown.nullable().openapi({ description: 'What was read begins here' }),
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
  misses: total,
  hit_ratio: z.number(),
  saved_usd: usdShown,
});
const errorsSchema = bucketsOf('ErrorBuckets', {
  success: total,
  errors: total,
  rate_limited: total,
  cap_exceeded: total,
  aborted: total,
  failovers: total,
  error_rate: z.number(),
});

const CACHE_SUMS = ['requests', 'exact_hits', 'semantic_hits', 'saved_usd'] as const satisfies readonly SumColumn[];
const ERROR_SUMS = [
  'requests',
  'success',
  'errors',
  'rate_limited',
  'cap_exceeded',
  'aborted',
  'failovers',
] as const satisfies readonly SumColumn[];

const overview = createRoute({
  method: 'get',
  path: '/stats/overview',
  tags,
  summary: 'Totals and percentiles of a range; the last 24 h by default',
  request: { query: overviewQuerySchema },
  responses: { 200: answers(overviewSchema, 'Counts, tokens and money are exact') },
});

const bucketRoute = <P extends string, T extends z.ZodType>(path: P, summary: string, schema: T) =>
  createRoute({
    method: 'get',
    path,
    tags,
    summary,
    description: 'Buckets without requests are left out.',
    request: { query: bucketQuerySchema },
    responses: { 200: answers(schema, 'Buckets, oldest first') },
  });

const spend = bucketRoute('/stats/spend', 'Money and tokens over time', spendSchema);
const latency = createRoute({
  method: 'get',
  path: '/stats/latency',
  tags,
  summary: 'Percentiles of durations over time',
  description: 'Buckets without requests are left out.',
  request: { query: latencyQuerySchema },
  responses: { 200: answers(latencySchema, 'Buckets, oldest first') },
});
const cache = bucketRoute('/stats/cache', 'Cache hits over time', cacheSchema);
const errors = bucketRoute('/stats/errors', 'What failed, was refused or aborted over time', errorsSchema);
const histogram = createRoute({
  method: 'get',
  path: '/stats/histogram',
  tags,
  summary: 'How a duration is spread over a range',
  request: { query: histogramQuerySchema },
  responses: { 200: answers(histogramSchema, 'Bins without requests are left out') },
});

export function statsRoutes({ db, clock }: Pick<AdminServices, 'db' | 'clock'>) {
  const inTurn = takeTurns(AT_ONCE);
  // Single requests are read for up to three seconds: charts from the roll-ups do not wait behind that.
  const inTurnOfRows = takeTurns(AT_ONCE);
  const load = (
    query: z.output<typeof bucketQuerySchema>,
    more: Partial<Pick<BucketQuery, 'withDurations' | 'sums' | 'metrics'>> = {},
  ) => {
    const wanted = { ...toBucketQuery(query, clock.nowMs()), withDurations: false, ...more };
    return (needsRows(wanted) ? inTurnOfRows : inTurn)(() => loadBuckets(db, wanted));
  };
  return createRouter()
    .openapi(overview, async (c) => {
      const wanted = toStatsQuery(c.req.valid('query'), clock.nowMs());
      const totals = await inTurn(() => loadOverview(db, wanted));
      const answer = {
        requests: totals.requests,
        success: totals.success,
        cost_usd: jsonUsd(totals.costNanoUsd),
        saved_usd: jsonUsd(totals.savedNanoUsd),
        tokens_in: totals.tokensIn,
        tokens_out: totals.tokensOut,
        cache_hits: totals.exactHits,
        semantic_hits: totals.semanticHits,
        ...showDurations(totals.durations),
      };
      return c.json(answer, 200);
    })
    .openapi(spend, async (c) => c.json(show(await load(c.req.valid('query'), { sums: SPEND_SUMS }), showSpend), 200))
    .openapi(latency, async (c) => {
      const { metric, ...query } = c.req.valid('query');
      const metrics = metric === undefined ? undefined : [metric];
      return c.json(show(await load(query, { withDurations: true, metrics, sums: ['requests'] }), showLatency), 200);
    })
    .openapi(cache, async (c) => c.json(show(await load(c.req.valid('query'), { sums: CACHE_SUMS }), showCache), 200))
    .openapi(errors, async (c) => c.json(show(await load(c.req.valid('query'), { sums: ERROR_SUMS }), showErrors), 200))
    .openapi(histogram, async (c) => {
      const { metric, ...range } = c.req.valid('query');
      const wanted = toStatsQuery(range, clock.nowMs());
      const found = await inTurn(() => loadHistogram(db, wanted, metric));
      return c.json(showHistogram(found), 200);
    });
}

function show<T>({ buckets, groups, partialFromMs }: BucketResult, showBucket: (bucket: StatsBucket) => T) {
  const partialFrom = partialFromMs === undefined ? null : showInstant(partialFromMs);
  return { buckets: buckets.map(showBucket), groups, partial: partialFrom !== null, partial_from: partialFrom };
}

const showPlace = (bucket: StatsBucket) => ({
  start: showInstant(bucket.startMs),
  group: bucket.group,
  requests: bucket.requests,
});

const showSpend = (bucket: StatsBucket) => ({
  ...showPlace(bucket),
  cost_usd: jsonUsd(bucket.costNanoUsd),
  saved_usd: jsonUsd(bucket.savedNanoUsd),
  tokens_in: bucket.tokensIn,
  tokens_out: bucket.tokensOut,
  tokens_cache_read: bucket.tokensCacheRead,
  tokens_cache_write: bucket.tokensCacheWrite,
  tokens_reasoning: bucket.tokensReasoning,
});

const showLatency = (bucket: StatsBucket) => ({ ...showPlace(bucket), ...showDurations(bucket.durations) });

const showCache = (bucket: StatsBucket) => {
  const hits = bucket.exactHits + bucket.semanticHits;
  return {
    ...showPlace(bucket),
    cache_hits: bucket.exactHits,
    semantic_hits: bucket.semanticHits,
    misses: bucket.requests - hits,
    hit_ratio: hits / bucket.requests,
    saved_usd: jsonUsd(bucket.savedNanoUsd),
  };
};

const showErrors = (bucket: StatsBucket) => ({
  ...showPlace(bucket),
  success: bucket.success,
  errors: bucket.errors,
  rate_limited: bucket.rateLimited,
  cap_exceeded: bucket.capExceeded,
  aborted: bucket.aborted,
  failovers: bucket.failovers,
  error_rate: bucket.errors / bucket.requests,
});
