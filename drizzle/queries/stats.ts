import { type Histogram, histogramQuantile } from '@llm0/core/logs/histogram';
import type { Db } from '../client';
import { nanoFromUsd } from '../money';
import { type StatsSegment, splitRange } from './stats-range';
import { binsQuery, METRIC_NAMES, type MetricName, type StatsScope, totalsQuery } from './stats-sources';

/** Sums over a stretch of time; exact. */
export interface UsageTotals {
  readonly requests: number;
  readonly success: number;
  readonly errors: number;
  readonly rateLimited: number;
  readonly capExceeded: number;
  readonly aborted: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly tokensCacheRead: number;
  readonly tokensCacheWrite: number;
  readonly tokensReasoning: number;
  readonly costNanoUsd: number;
  readonly savedNanoUsd: number;
  /** Served from the exact cache. */
  readonly exactHits: number;
  readonly semanticHits: number;
  readonly failovers: number;
}

/** Milliseconds, within 2 % of the exact ones; null when nothing was measured. */
export interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export type Durations = Readonly<Record<MetricName, Percentiles>>;

export interface StatsQuery {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly nowMs: number;
  readonly projectId?: string;
}

export type GroupBy = 'project' | 'key' | 'model' | 'provider' | 'customer' | 'status' | `label.${string}`;

export interface BucketQuery extends StatsQuery {
  /** Whole seconds; buckets start at multiples of it since the epoch (UTC). */
  readonly intervalMs: number;
  readonly groupBy?: GroupBy;
  /** Percentiles cost a second query. */
  readonly withDurations: boolean;
}

export interface StatsBucket extends UsageTotals {
  readonly startMs: number;
  /** The group's id or name, '' where the rows have none; null without `groupBy`. */
  readonly group: string | null;
  /** Absent unless asked for. */
  readonly durations?: Durations;
}

/** Totals and percentiles of a range: from rows up to 1 h, beyond from the roll-ups, exact to the millisecond. */
export async function loadOverview(
  db: Db,
  query: StatsQuery,
): Promise<UsageTotals & { readonly durations: Durations }> {
  const segments = splitRange(query);
  const scope: StatsScope = { projectId: query.projectId };
  const totals = (await loadTotals(db, segments, scope))[0]?.totals ?? ZERO;
  const histograms = await loadHistograms(db, segments, scope);
  return { ...totals, durations: durationsOf(histograms.get(bucketKey(0, null))) };
}

/** Buckets that have requests, oldest first; a gap is a bucket that is missing. By customer or label: from rows only. */
export async function loadBuckets(db: Db, query: BucketQuery): Promise<readonly StatsBucket[]> {
  const rowsOnly = query.groupBy === 'customer' || query.groupBy?.startsWith('label.') === true;
  const whole: StatsSegment = { source: 'rows', fromMs: query.fromMs, toMs: query.toMs };
  const segments = rowsOnly ? [whole] : splitRange(query);
  const scope: StatsScope = { projectId: query.projectId, intervalMs: query.intervalMs, groupBy: query.groupBy };
  const totals = await loadTotals(db, segments, scope);
  const histograms = query.withDurations ? await loadHistograms(db, segments, scope) : undefined;
  return totals.map(({ startMs, group, totals: sums }) => {
    const bucket = { startMs, group, ...sums };
    if (histograms === undefined) return bucket;
    return { ...bucket, durations: durationsOf(histograms.get(bucketKey(startMs, group))) };
  });
}

interface TotalsRow extends Record<string, unknown> {
  start_ms: string;
  grp: string | null;
  requests: string;
  success: string;
  errors: string;
  rate_limited: string;
  cap_exceeded: string;
  aborted: string;
  tokens_in: string;
  tokens_out: string;
  tokens_cache_read: string;
  tokens_cache_write: string;
  tokens_reasoning: string;
  cost_usd: string;
  saved_usd: string;
  exact_hits: string;
  semantic_hits: string;
  failovers: string;
}

async function loadTotals(db: Db, segments: readonly StatsSegment[], scope: StatsScope) {
  if (segments.length === 0) return [];
  const rows = await db.execute<TotalsRow>(totalsQuery(segments, scope));
  return rows.map((row) => ({ startMs: Number(row.start_ms), group: row.grp, totals: toTotals(row) }));
}

function toTotals(row: TotalsRow): UsageTotals {
  return {
    requests: Number(row.requests),
    success: Number(row.success),
    errors: Number(row.errors),
    rateLimited: Number(row.rate_limited),
    capExceeded: Number(row.cap_exceeded),
    aborted: Number(row.aborted),
    tokensIn: Number(row.tokens_in),
    tokensOut: Number(row.tokens_out),
    tokensCacheRead: Number(row.tokens_cache_read),
    tokensCacheWrite: Number(row.tokens_cache_write),
    tokensReasoning: Number(row.tokens_reasoning),
    costNanoUsd: nanoFromUsd(row.cost_usd),
    savedNanoUsd: nanoFromUsd(row.saved_usd),
    exactHits: Number(row.exact_hits),
    semanticHits: Number(row.semantic_hits),
    failovers: Number(row.failovers),
  };
}

const ZERO: UsageTotals = {
  requests: 0,
  success: 0,
  errors: 0,
  rateLimited: 0,
  capExceeded: 0,
  aborted: 0,
  tokensIn: 0,
  tokensOut: 0,
  tokensCacheRead: 0,
  tokensCacheWrite: 0,
  tokensReasoning: 0,
  costNanoUsd: 0,
  savedNanoUsd: 0,
  exactHits: 0,
  semanticHits: 0,
  failovers: 0,
};

type Histograms = Partial<Record<MetricName, Histogram>>;

interface BinRow extends Record<string, unknown> {
  start_ms: string;
  grp: string | null;
  metric: MetricName;
  bin: number;
  n: string;
}

async function loadHistograms(db: Db, segments: readonly StatsSegment[], scope: StatsScope) {
  const byBucket = new Map<string, Histograms>();
  if (segments.length === 0) return byBucket;
  for (const row of await db.execute<BinRow>(binsQuery(segments, scope))) {
    const key = bucketKey(Number(row.start_ms), row.grp);
    const histograms = byBucket.get(key) ?? {};
    byBucket.set(key, histograms);
    const histogram = histograms[row.metric] ?? new Map<number, number>();
    histograms[row.metric] = histogram.set(row.bin, Number(row.n));
  }
  return byBucket;
}

const bucketKey = (startMs: number, group: string | null) => `${startMs} ${group}`;

function durationsOf(histograms: Histograms | undefined): Durations {
  const percentiles = (name: MetricName): Percentiles => {
    const histogram = histograms?.[name] ?? new Map<number, number>();
    const at = (share: number) => histogramQuantile(histogram, share);
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
  };
  const entries = METRIC_NAMES.map((name) => [name, percentiles(name)] as const);
  return Object.fromEntries(entries) as Record<MetricName, Percentiles>;
}
