import type { Db } from '../../../client';
import type { RowsElsewhere } from '../../clickhouse/log-engine';
import { divideRows } from '../../clickhouse/segment-rows';
import { durationsOf, type Histograms, loadHistograms, mergeDurations } from './durations';
import { type BucketQuery, OTHER_GROUPS, type StatsScope, scopeOf } from './questions';
import { MAX_CUSTOMER_DAYS, MAX_ROW_DAYS, readDays, type Stretch } from './read-days';
import type { BucketResult } from './stats-bucket';
import { type Ask, askInTime, askOf } from './time-limit';
import { addTotals, bucketKey, loadTotals, type UsageTotals, ZERO } from './totals';

interface Sum {
  readonly startMs: number;
  readonly group: string | null;
  readonly totals: UsageTotals;
  readonly histograms: Histograms;
}

/**
 * Reads rows day by day, newest first, until the time limit; then the answer is partial. Where another store has the rows,
 * one question takes all of them.
 */
export async function loadFromRows(
  db: Db,
  query: BucketQuery,
  elsewhere: RowsElsewhere | undefined,
): Promise<BucketResult> {
  const { intervalMs, groupBy, top } = query;
  const scope: StatsScope = { ...scopeOf(query), intervalMs, groupBy, metrics: query.metrics };
  const sums = new Map<string, Sum>();
  const addRows = async (ask: Ask, stretch: Stretch) => {
    const segments = divideRows([{ source: 'rows', ...stretch }], elsewhere);
    const found = await loadTotals(ask, segments, scope);
    const histograms = query.withDurations ? await loadHistograms(ask, segments, scope) : undefined;
    for (const { startMs, group, totals } of found) {
      addSum(sums, { startMs, group, totals, histograms: histograms?.get(bucketKey(startMs, group)) ?? {} });
    }
    return false;
  };
  const { fromMs, toMs } = query;
  const days = query.customerId === undefined ? MAX_ROW_DAYS : MAX_CUSTOMER_DAYS;
  const readFromMs =
    elsewhere === undefined
      ? await readDays(db, query, (tx, day) => addRows(askOf(tx), day), days)
      : await askInTime(db, (ask) => addRows(ask, { fromMs, toMs })).then(() => fromMs);
  const ranked = rankSums([...sums.values()]);
  const kept = new Set(top === undefined ? ranked : ranked.slice(0, top));
  const buckets = new Map<string, Sum>();
  for (const sum of sums.values()) {
    addSum(buckets, { ...sum, group: sum.group === null || kept.has(sum.group) ? sum.group : OTHER_GROUPS });
  }
  return {
    buckets: [...buckets.values()].sort(oldestFirst).map(({ startMs, group, totals, histograms }) => ({
      startMs: intervalMs === undefined ? query.fromMs : startMs,
      group,
      ...totals,
      ...(query.withDurations ? { durations: durationsOf(histograms) } : {}),
    })),
    groups: ranked.length,
    ...(readFromMs > query.fromMs ? { partialFromMs: readFromMs } : {}),
  };
}

const oldestFirst = (a: Sum, b: Sum) => a.startMs - b.startMs || ((a.group ?? '') < (b.group ?? '') ? -1 : 1);

function addSum(sums: Map<string, Sum>, { startMs, group, totals, histograms }: Sum): void {
  const key = bucketKey(startMs, group);
  const known = sums.get(key) ?? { startMs, group, totals: ZERO, histograms: {} };
  mergeDurations(known.histograms, histograms);
  sums.set(key, { ...known, totals: addTotals(known.totals, totals) });
}

function rankSums(sums: readonly Sum[]): readonly string[] {
  const byGroup = new Map<string, UsageTotals>();
  for (const { group, totals } of sums) byGroup.set(group ?? '', addTotals(byGroup.get(group ?? '') ?? ZERO, totals));
  return [...byGroup]
    .sort(([, a], [, b]) => b.costNanoUsd - a.costNanoUsd || b.requests - a.requests)
    .map(([group]) => group);
}
