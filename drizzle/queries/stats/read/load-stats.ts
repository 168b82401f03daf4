import { type Histogram, mergeHistogram } from '@llm0/core/logs/histogram';
import type { Db } from '../../../client';
import { EngineAwayError } from '../../clickhouse/ask-clickhouse';
import { floorOf, type RowsElsewhere, withEngine } from '../../clickhouse/log-engine';
import { divideRows } from '../../clickhouse/segment-rows';
import { type Durations, durationsOf, loadDurations, loadHistograms } from './durations';
import { loadFromRows } from './from-rows';
import {
  type BucketQuery,
  type MetricName,
  OTHER_GROUPS,
  SPEND_SUMS,
  type StatsQuery,
  type StatsScope,
  type SumColumn,
  scopeOf,
} from './questions';
import type { BucketResult } from './stats-bucket';
import { type Ask, askInTime } from './time-limit';
import { type StatsSegment, splitByOne, splitRange } from './time-segments';
import { addTotals, bucketKey, loadTopOfRows, loadTotals, placeOfKey, type UsageTotals, ZERO } from './totals';

/** Ranking of groups. */
const RANKED_BY = ['requests', 'cost_usd'] as const satisfies readonly SumColumn[];
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Totals and percentiles of a range, exact to the millisecond: from rows up to 1 h, beyond that from the roll-ups. */
export async function loadOverview(
  db: Db,
  query: StatsQuery,
): Promise<UsageTotals & { readonly durations: Durations }> {
  return inWholeHours(db, query, (range) =>
    withEngine(db, range, (elsewhere) =>
      askInTime(db, async (ask) => {
        const segments = divideRows(splitRange(range), elsewhere);
        const totals = (await loadTotals(ask, segments, scopeOf(query)))[0]?.totals ?? ZERO;
        const durations = await loadDurations(ask, segments, scopeOf(query));
        return { ...totals, durations: durations.get(bucketKey(0, null)) ?? durationsOf(undefined) };
      }),
    ),
  );
}

/** While the store of the rows is away, a range that begins before Postgres's rows has whole hours: roll-ups know these. */
async function inWholeHours<Q extends StatsQuery, T>(db: Db, query: Q, answer: (query: Q) => Promise<T>): Promise<T> {
  try {
    return await answer(query);
  } catch (error) {
    if (!(error instanceof EngineAwayError)) throw error;
    const floorMs = await floorOf(db);
    const { fromMs, toMs } = query;
    if (fromMs >= floorMs) throw error;
    const wholeMs = toMs < floorMs ? Math.ceil(toMs / HOUR_MS) * HOUR_MS : toMs;
    return answer({ ...query, fromMs: Math.floor(fromMs / HOUR_MS) * HOUR_MS, toMs: wholeMs });
  }
}

export interface HistogramQuery extends StatsQuery {
  /** Absent = no buckets. */
  readonly intervalMs?: number;
}

/** Counts of one duration by bin. */
export interface DurationCounts {
  readonly all: Histogram;
  /** Answers of the gateway's caches. */
  readonly hits: Histogram;
  /** Oldest first; empty ones are missing. */
  readonly buckets: readonly { readonly startMs: number; readonly counts: Histogram }[];
}

/** Counts of one duration over a range, and by interval. */
export async function loadHistogram(db: Db, query: HistogramQuery, metric: MetricName): Promise<DurationCounts> {
  const { intervalMs } = query;
  const scope: StatsScope = { ...scopeOf(query), intervalMs, groupBy: 'cache', metrics: [metric] };
  const histograms = await inWholeHours(db, query, (range) =>
    withEngine(db, range, (elsewhere) =>
      askInTime(db, (ask) => loadHistograms(ask, divideRows(splitRange(range), elsewhere), scope)),
    ),
  );
  const all: Histogram = new Map();
  const hits: Histogram = new Map();
  const buckets = new Map<number, Histogram>();
  for (const [key, { [metric]: counts }] of histograms) {
    // Nothing of it was measured.
    if (counts === undefined) continue;
    const { startMs, group } = placeOfKey(key);
    mergeHistogram(all, counts);
    if (group !== 'miss') mergeHistogram(hits, counts);
    if (intervalMs !== undefined)
      mergeHistogram(
        buckets.getOrInsertComputed(startMs, () => new Map()),
        counts,
      );
  }
  const inOrder = [...buckets].sort(([a], [b]) => a - b);
  return { all, hits, buckets: inOrder.map(([startMs, counts]) => ({ startMs, counts })) };
}

/** Sums by interval and group from the roll-ups; other fields come from rows, within the limits of `readDays`. */
export async function loadBuckets(db: Db, query: BucketQuery): Promise<BucketResult> {
  return inWholeHours(db, query, (range) =>
    withEngine(db, range, (elsewhere) =>
      needsRows(query)
        ? loadFromRows(db, range, elsewhere)
        : askInTime(db, (ask) => loadFromRollups(ask, range, elsewhere)),
    ),
  );
}

async function loadFromRollups(
  ask: Ask,
  query: BucketQuery,
  elsewhere: RowsElsewhere | undefined,
): Promise<BucketResult> {
  const { intervalMs, groupBy, top, metrics, sums } = query;
  const segments = divideRows(segmentsOf(query), elsewhere);
  const plain: StatsScope = { ...scopeOf(query), intervalMs, groupBy, metrics, sums };
  const isOfRows = segments.every((one) => one.source === 'rows' && one.elsewhere === undefined);
  if (isOfRows && top !== undefined && groupBy !== undefined && intervalMs !== undefined && !query.withDurations) {
    const scope = { ...plain, sums: sums && [...sums, ...RANKED_BY] };
    const { totals, groups } = await loadTopOfRows(ask, { segments, scope, top });
    return { buckets: totals.map(({ startMs, group, totals: sums }) => ({ startMs, group, ...sums })), groups };
  }
  const ranking =
    top === undefined || groupBy === undefined ? undefined : await rankGroups(ask, { query, scope: plain, elsewhere });
  const ranked = ranking?.map(({ group }) => group ?? '');
  const kept = ranked !== undefined && ranked.length > (top ?? 0) ? ranked.slice(0, top) : undefined;
  const scope = { ...plain, kept };
  const isRead = ranking !== undefined && intervalMs === undefined;
  const totals = isRead ? joinOthers(ranking, kept) : await loadTotals(ask, segments, scope);
  const durations = query.withDurations ? await loadDurations(ask, segments, scope) : undefined;
  const buckets = totals.map(({ startMs, group, totals: sums }) => {
    const bucket = { startMs: intervalMs === undefined ? query.fromMs : startMs, group, ...sums };
    if (durations === undefined) return bucket;
    return { ...bucket, durations: durations.get(bucketKey(startMs, group)) ?? durationsOf(undefined) };
  });
  return { buckets, groups: ranked?.length ?? new Set(buckets.map((bucket) => bucket.group)).size };
}

/** True where no roll-up knows it: `loadBuckets` then reads rows, for up to 3 s. */
export function needsRows(query: BucketQuery): boolean {
  const {
    groupBy,
    customerId,
    modality,
    sums,
    apiKeyId,
    model,
    provider,
    status,
    outcome,
    cache,
    intervalMs = DAY_MS,
    withDurations,
  } = query;
  if (customerId !== undefined || modality !== undefined) return true;
  if (groupBy === 'modality' || groupBy?.startsWith('label.') === true) return true;
  // Roll-ups by one thing have no durations.
  if (withDurations && (groupBy === 'customer' || groupBy === 'error_code')) return true;
  if (groupBy !== 'customer') return groupBy === 'error_code' && apiKeyId !== undefined;
  const onlySpend = sums?.every((name) => SPEND_SUMS.some((one) => one === name)) === true;
  if (!onlySpend || [apiKeyId, model, provider, status, outcome, cache].some((filter) => filter !== undefined))
    return true;
  // Customers are rolled up by day: parts of days are read at once as long as they are few.
  return intervalMs % DAY_MS !== 0 && query.toMs - query.fromMs > DAY_MS;
}

/** Full days and hours by customer, or full hours by error code, from their roll-up; the edges from rows. */
function segmentsOf(query: BucketQuery): readonly StatsSegment[] {
  if (query.groupBy === 'customer') return splitByOne({ ...query, source: 'customer_spend', sizeMs: DAY_MS });
  if (query.groupBy === 'error_code') return splitByOne({ ...query, source: 'rollup_error', sizeMs: HOUR_MS });
  return splitRange(query);
}

/** Sums by group over all of the range, the dearest first, then the busiest. */
async function rankGroups(ask: Ask, { query, scope, elsewhere }: Ranked) {
  // Coarse buckets suffice for totals; those of errors lack costs.
  const coarse = segmentsOf(query.groupBy === 'error_code' ? query : { ...query, intervalMs: undefined });
  const segments = divideRows(coarse, elsewhere);
  const sums = scope.intervalMs === undefined ? scope.sums && [...scope.sums, ...RANKED_BY] : RANKED_BY;
  const rows = await loadTotals(ask, segments, { ...scope, intervalMs: undefined, sums });
  return rows.toSorted((a, b) => b.totals.costNanoUsd - a.totals.costNanoUsd || b.totals.requests - a.totals.requests);
}

interface Ranked {
  readonly query: BucketQuery;
  readonly scope: StatsScope;
  readonly elsewhere: RowsElsewhere | undefined;
}

type GroupSums = Awaited<ReturnType<typeof rankGroups>>;

/** Merges the groups beyond the named ones. */
function joinOthers(sums: GroupSums, kept: readonly string[] | undefined): GroupSums {
  if (kept === undefined) return sums;
  const others = sums.slice(kept.length).map(({ totals }) => totals);
  return [...sums.slice(0, kept.length), { startMs: 0, group: OTHER_GROUPS, totals: others.reduce(addTotals, ZERO) }];
}
