import { type Histogram, histogramQuantile, mergeHistogram } from '@llm0/core/logs/histogram';
import type { Db } from '../client';
import { nanoFromUsd } from '../money';
import type { StatsSegment } from './stats-range';
import {
  binsQuery,
  METRIC_NAMES,
  type MetricName,
  type StatsScope,
  totalsQuery,
  withCoarseDurations,
} from './stats-sources';

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

export function addTotals(a: UsageTotals, b: UsageTotals): UsageTotals {
  const names = Object.keys(ZERO) as (keyof UsageTotals)[];
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as unknown as UsageTotals;
}

/** Adds `source` to `target`. */
export function mergeDurations(target: Histograms, source: Histograms | undefined): void {
  for (const name of METRIC_NAMES) {
    const from = source?.[name];
    if (from === undefined) continue;
    const to = target[name] ?? new Map<number, number>();
    target[name] = to;
    mergeHistogram(to, from);
  }
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

/** Sums by bucket and group, oldest first. */
export async function loadTotals(db: Db, segments: readonly StatsSegment[], scope: StatsScope) {
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

export const ZERO: UsageTotals = {
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

/** Durations by bin; a metric nobody measured is missing. */
export type Histograms = Partial<Record<MetricName, Histogram>>;

interface BinRow extends Record<string, unknown> {
  start_ms: string;
  grp: string | null;
  metric: MetricName;
  bins: string;
}

/** By `bucketKey`. */
export async function loadHistograms(db: Db, segments: readonly StatsSegment[], scope: StatsScope) {
  const byBucket = new Map<string, Histograms>();
  if (segments.length === 0) return byBucket;
  for (const row of await db.execute<BinRow>(binsQuery(withCoarseDurations(segments, scope), scope))) {
    const key = bucketKey(Number(row.start_ms), row.grp);
    const histograms = byBucket.get(key) ?? {};
    byBucket.set(key, histograms);
    histograms[row.metric] = readBins(row.bins);
  }
  return byBucket;
}

/** `bin:count bin:count …` */
function readBins(text: string): Map<number, number> {
  const histogram = new Map<number, number>();
  for (const pair of text.split(' ')) {
    const colon = pair.indexOf(':');
    histogram.set(Number(pair.slice(0, colon)), Number(pair.slice(colon + 1)));
  }
  return histogram;
}

export const bucketKey = (startMs: number, group: string | null) => `${startMs} ${group}`;

export function durationsOf(histograms: Histograms | undefined): Durations {
  const percentiles = (name: MetricName): Percentiles => {
    const histogram = histograms?.[name] ?? new Map<number, number>();
    const at = (share: number) => histogramQuantile(histogram, share);
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
  };
  const entries = METRIC_NAMES.map((name) => [name, percentiles(name)] as const);
  return Object.fromEntries(entries) as Record<MetricName, Percentiles>;
}
