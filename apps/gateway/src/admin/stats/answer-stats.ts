import type { ReplayQuery } from '@llm0/core/alerts/replay';
import { failureRate } from '@llm0/core/errors/outcome';
import type { Db } from '@llm0/drizzle/client';
import { type CustomerQuery, type CustomerUsage, listCustomers } from '@llm0/drizzle/queries/limits/customers';
import { type FailoverQuery, groupFailovers } from '@llm0/drizzle/queries/logs/failovers';
import { type DifferenceQuery, loadDifferences } from '@llm0/drizzle/queries/stats/read/differences';
import type { Durations, Percentiles } from '@llm0/drizzle/queries/stats/read/durations';
import { loadFlows } from '@llm0/drizzle/queries/stats/read/flows';
import {
  type HistogramQuery,
  loadBuckets,
  loadHistogram,
  loadOverview,
  needsRows,
} from '@llm0/drizzle/queries/stats/read/load-stats';
import {
  type HealthBucket,
  type HealthQuery,
  loadProviderHealth,
} from '@llm0/drizzle/queries/stats/read/provider-health';
import {
  type BucketQuery,
  type MetricName,
  SPEND_SUMS,
  type StatsQuery,
  type SumColumn,
} from '@llm0/drizzle/queries/stats/read/questions';
import { replayAlert } from '@llm0/drizzle/queries/stats/read/replay-alert';
import type { SampleQuery } from '@llm0/drizzle/queries/stats/read/sample-rows';
import { loadSpendTable, type SpendTableQuery, tableNeedsRows } from '@llm0/drizzle/queries/stats/read/spend-table';
import type { BucketResult, StatsBucket } from '@llm0/drizzle/queries/stats/read/stats-bucket';
import { reachedCaches } from '@llm0/drizzle/queries/stats/read/totals';
import { showReplay } from '../alerts/preview-schema';
import { showCustomerPage } from '../customers/listed-customers';
import { showGroupedFailovers } from '../failovers/grouped-failovers';
import { jsonUsd } from '../fields/json-money';
import { showInstant, showMsOrNull } from '../fields/show-fields';
import { loadSpendByDay } from '../fields/spend-days';
import { showHistogram } from './show-histogram';
import { showDifferences, showFlows } from './show-sampled';
import { showSpendTable } from './spend-table-schema';
import { takeTurns } from './take-turns';

/** Each query occupies a core of Postgres: a page sends many, and a small machine would have none left for requests. */
const AT_ONCE = 1;

type BucketKind = 'spend' | 'latency' | 'cache' | 'errors';
/** The kind determines the sums. */
type BucketQuestion = { readonly kind: BucketKind; readonly query: BucketRange };
type BucketRange = Omit<BucketQuery, 'withDurations' | 'sums'>;

/** Query of a chart or card; plain data, so that another thread can run it. */
export type StatsQuestion =
  | { readonly kind: 'overview'; readonly query: StatsQuery }
  | { readonly kind: 'histogram'; readonly query: HistogramQuery; readonly metric: MetricName }
  | { readonly kind: 'health'; readonly query: HealthQuery }
  | { readonly kind: 'failovers'; readonly query: FailoverQuery }
  | { readonly kind: 'spend_table'; readonly query: SpendTableQuery }
  | { readonly kind: 'differences'; readonly query: DifferenceQuery }
  | { readonly kind: 'flows'; readonly query: SampleQuery }
  | { readonly kind: 'customers'; readonly query: CustomerQuery; readonly spendDays: number | undefined }
  | { readonly kind: 'alert_preview'; readonly query: ReplayQuery }
  | BucketQuestion;

export interface StatsAnswer<Json = string | Uint8Array<ArrayBuffer>> {
  readonly json: Json;
  /** True for a large or slow answer, which the cache may repeat for a while. */
  readonly isWorthKeeping: boolean;
}

export interface StatsReader {
  /** JSON of the answer, as text or bytes. Throws the database's error. */
  answer(question: StatsQuestion): Promise<StatsAnswer>;
}

/** Over fewer requests than these each new one shows at once, and Postgres is asked soon enough … */
const MANY_REQUESTS = 5000;
/** Slow answers are cached at any size. */
const SLOW_MS = 300;

/** Answers in this thread, one question at a time. */
export function createStatsReader(
  db: Db,
  slowMs = SLOW_MS,
): { answer(question: StatsQuestion): Promise<StatsAnswer<string>> } {
  const inTurn = takeTurns(AT_ONCE);
  // Reading rows takes up to three seconds; charts from roll-ups don't wait for it.
  const inTurnOfRows = takeTurns(AT_ONCE);
  return {
    answer: async (question) => {
      const take = readsRows(question) ? inTurnOfRows : inTurn;
      return take(async () => {
        const startMs = performance.now();
        const { body, requests } = await answerStats(db, question);
        const isWorthKeeping = requests >= MANY_REQUESTS || performance.now() - startMs >= slowMs;
        return { json: JSON.stringify(body), isWorthKeeping };
      });
    },
  };
}

const OF_ROWS: ReadonlySet<string> = new Set<StatsQuestion['kind']>(['alert_preview', 'differences', 'flows']);

const readsRows = (question: StatsQuestion): boolean =>
  OF_ROWS.has(question.kind) ||
  (question.kind === 'spend_table' && tableNeedsRows(question.query)) ||
  (question.kind in BUCKETS && needsRows(bucketQueryOf(question as BucketQuestion)));

/** Body of the answer and its number of requests. */
async function answerStats(db: Db, question: StatsQuestion): Promise<{ body: object; requests: number }> {
  if (question.kind === 'overview') {
    const overview = await loadOverview(db, question.query);
    return { body: showOverview(overview), requests: overview.requests };
  }
  if (question.kind === 'histogram') {
    const body = showHistogram(await loadHistogram(db, question.query, question.metric));
    return { body, requests: body.requests };
  }
  if (question.kind === 'health') {
    const buckets = await loadProviderHealth(db, question.query);
    const requests = buckets.reduce((sum, { answered, failed }) => sum + answered + failed, 0);
    return { body: { buckets: buckets.map(showHealth) }, requests };
  }
  if (question.kind === 'failovers') {
    const groups = await groupFailovers(db, question.query);
    return { body: showGroupedFailovers(groups), requests: groups.reduce((sum, { times }) => sum + times, 0) };
  }
  if (question.kind === 'spend_table') {
    const table = await loadSpendTable(db, question.query);
    return { body: showSpendTable(table), requests: table.cells.reduce((sum, cell) => sum + cell.requests, 0) };
  }
  if (question.kind === 'differences') {
    const found = await loadDifferences(db, question.query);
    return { body: showDifferences(found), requests: found.inside + found.outside };
  }
  if (question.kind === 'flows') {
    const found = await loadFlows(db, question.query);
    return { body: showFlows(found), requests: found.requests };
  }
  if (question.kind === 'alert_preview') {
    return { body: showReplay(question.query, await replayAlert(db, question.query)), requests: 0 };
  }
  if (question.kind === 'customers') {
    const { limit, nowMs } = question.query;
    const rows = await listCustomers(db, { ...question.query, limit: limit + 1 });
    const requests = rows.reduce((sum, row) => sum + row.requests, 0);
    const listed = await withDays(db, rows, { nowMs, days: question.spendDays });
    return { body: showCustomerPage(listed, question.query), requests };
  }
  const result = await loadBuckets(db, bucketQueryOf(question));
  const requests = result.buckets.reduce((sum, bucket) => sum + bucket.requests, 0);
  return { body: show(result, BUCKETS[question.kind].show), requests };
}

/** Adds the days of spend: one question for the customers of each project. */
async function withDays(
  db: Db,
  rows: readonly CustomerUsage[],
  { nowMs, days }: { readonly nowMs: number; readonly days: number | undefined },
) {
  const found = new Map<string, Awaited<ReturnType<typeof loadSpendByDay>>>();
  for (const [projectId, own] of Map.groupBy(rows, (row) => row.projectId)) {
    const ids = own.map(({ customerId }) => customerId);
    found.set(projectId, await loadSpendByDay(db, { nowMs, days, by: 'customer', projectId, ids }));
  }
  return rows.map((row) => ({ ...row, spendByDay: found.get(row.projectId)?.(row.customerId) ?? null }));
}

interface BucketAnswer {
  readonly sums: readonly SumColumn[];
  readonly withDurations?: true;
  readonly show: (bucket: StatsBucket) => object;
}

function bucketQueryOf({ kind, query }: BucketQuestion): BucketQuery {
  const { sums, withDurations = false } = BUCKETS[kind];
  return { ...query, sums, withDurations };
}

const showOverview = (totals: Awaited<ReturnType<typeof loadOverview>>) => ({
  requests: totals.requests,
  success: totals.success,
  errors: totals.errors,
  failures: totals.failures,
  caller_errors: totals.callerErrors,
  rate_limited: totals.rateLimited,
  cap_exceeded: totals.capExceeded,
  aborted: totals.aborted,
  cost_usd: jsonUsd(totals.costNanoUsd),
  saved_usd: jsonUsd(totals.savedNanoUsd),
  tokens_in: totals.tokensIn,
  tokens_out: totals.tokensOut,
  cache_hits: totals.exactHits,
  semantic_hits: totals.semanticHits,
  misses: reachedCaches(totals) - totals.exactHits - totals.semanticHits,
  ...showDurations(totals.durations),
});

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
  const asked = reachedCaches(bucket);
  return {
    ...showPlace(bucket),
    cache_hits: bucket.exactHits,
    semantic_hits: bucket.semanticHits,
    misses: asked - hits,
    hit_ratio: asked === 0 ? 0 : hits / asked,
    saved_usd: jsonUsd(bucket.savedNanoUsd),
  };
};

const showErrors = (bucket: StatsBucket) => ({
  ...showPlace(bucket),
  success: bucket.success,
  errors: bucket.errors,
  failures: bucket.failures,
  caller_errors: bucket.callerErrors,
  rate_limited: bucket.rateLimited,
  cap_exceeded: bucket.capExceeded,
  aborted: bucket.aborted,
  failovers: bucket.failovers,
  error_rate: bucket.errors / bucket.requests,
  failure_rate: failureRate(bucket) ?? 0,
});

const showHealth = (bucket: HealthBucket) => ({
  start: showInstant(bucket.startMs),
  provider: bucket.provider,
  answered: bucket.answered,
  failed: bucket.failed,
  failed_over: bucket.failedOver,
  answered_elsewhere: bucket.answeredElsewhere,
  main_failure: bucket.mainFailure,
});

const NOTHING: Percentiles = { p50: null, p95: null, p99: null };

const showPercentiles = ({ p50, p95, p99 }: Percentiles = NOTHING) => ({
  p50: showMsOrNull(p50),
  p95: showMsOrNull(p95),
  p99: showMsOrNull(p99),
});

function showDurations(durations: Durations | undefined) {
  return {
    latency_ms: showPercentiles(durations?.latency),
    ttft_ms: showPercentiles(durations?.ttft),
    overhead_ms: showPercentiles(durations?.overhead),
    upstream_ms: showPercentiles(durations?.upstream),
  };
}

const BUCKETS: Readonly<Record<BucketKind, BucketAnswer>> = {
  spend: { sums: SPEND_SUMS, show: showSpend },
  latency: { sums: ['requests'], withDurations: true, show: showLatency },
  cache: {
    sums: ['requests', 'rate_limited', 'cap_exceeded', 'caller_errors', 'exact_hits', 'semantic_hits', 'saved_usd'],
    show: showCache,
  },
  errors: {
    sums: [
      'requests',
      'success',
      'errors',
      'failures',
      'caller_errors',
      'rate_limited',
      'cap_exceeded',
      'aborted',
      'failovers',
    ],
    show: showErrors,
  },
};
