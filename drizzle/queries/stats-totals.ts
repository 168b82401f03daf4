import type { Db } from '../client';
import { nanoFromUsd } from '../money';
import type { StatsSegment } from './stats-range';
import { type StatsScope, totalsQuery } from './stats-sources';

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

export function addTotals(a: UsageTotals, b: UsageTotals): UsageTotals {
  const names = Object.keys(ZERO) as (keyof UsageTotals)[];
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as unknown as UsageTotals;
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

export const bucketKey = (startMs: number, group: string | null) => `${startMs} ${group}`;
