import type { ProjectScope } from '../../of-projects';

/** Durations that are measured, as their columns are called without the unit. */
export const METRIC_NAMES = ['latency', 'ttft', 'overhead', 'upstream'] as const;
export type MetricName = (typeof METRIC_NAMES)[number];

/** Sums and their columns. */
export const SUMS = {
  requests: 'requests',
  success: 'success',
  /** All with the status `error`: failures and errors of callers (`packages/core/src/errors/outcome.ts`). */
  errors: 'errors',
  failures: 'failures',
  callerErrors: 'caller_errors',
  rateLimited: 'rate_limited',
  capExceeded: 'cap_exceeded',
  aborted: 'aborted',
  tokensIn: 'tokens_in',
  tokensOut: 'tokens_out',
  tokensCacheRead: 'tokens_cache_read',
  tokensCacheWrite: 'tokens_cache_write',
  tokensReasoning: 'tokens_reasoning',
  costNanoUsd: 'cost_usd',
  savedNanoUsd: 'saved_usd',
  /** Served from the exact cache. */
  exactHits: 'exact_hits',
  semanticHits: 'semantic_hits',
  failovers: 'failovers',
} as const;
export type SumColumn = (typeof SUMS)[keyof typeof SUMS];
export const SUM_COLUMNS: readonly SumColumn[] = Object.values(SUMS);

/** Money and tokens. */
export const SPEND_SUMS = [
  'requests',
  'tokens_in',
  'tokens_out',
  'tokens_cache_read',
  'tokens_cache_write',
  'tokens_reasoning',
  'cost_usd',
  'saved_usd',
] as const satisfies readonly SumColumn[];

/** Name of all groups beyond those asked for. */
export const OTHER_GROUPS = '(other)';

/** Rows that count; all conditions must hold. Labels, customers and modalities are in rows only. */
export interface StatsFilter {
  readonly projectId?: ProjectScope;
  readonly apiKeyId?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly status?: string;
  readonly outcome?: string;
  /** `miss` = answered by no cache of the gateway. */
  readonly cache?: string;
  readonly customerId?: string;
  readonly modality?: string;
}

/** What measures the speed of providers: cache hits and failures take a millisecond and would hide how slow they are. */
export const PROVIDER_ANSWERS = { cache: 'miss', outcome: 'success' } as const satisfies StatsFilter;

export interface StatsQuery extends StatsFilter {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly nowMs: number;
}

export type GroupBy =
  | 'project'
  | 'key'
  | 'model'
  | 'provider'
  | 'target'
  | 'customer'
  | 'status'
  | 'outcome'
  | 'cache'
  | 'error_code'
  | 'team'
  | 'cost_center'
  | 'modality'
  | `label.${string}`;

export interface BucketQuery extends StatsQuery {
  /** Whole seconds; buckets start at multiples of it since the epoch (UTC). Absent = one bucket over all. */
  readonly intervalMs?: number;
  readonly groupBy?: GroupBy;
  /** Maximum of groups, dearest first; the rest is `OTHER_GROUPS`. */
  readonly top?: number;
  /** Percentiles cost a second query. */
  readonly withDurations: boolean;
  /** Only these durations; absent = all. */
  readonly metrics?: readonly MetricName[];
  /** Requested sums, others may be 0; absent = all. With `SPEND_SUMS`, days by customer use their roll-up. */
  readonly sums?: readonly SumColumn[];
}

/** Filter and columns for each segment of time. */
export interface StatsScope extends StatsFilter {
  /** Absent = one total, with start 0. */
  readonly intervalMs?: number;
  readonly groupBy?: GroupBy;
  /** Durations wanted; absent = all. */
  readonly metrics?: readonly MetricName[];
  /** Groups with their own name; all others form `OTHER_GROUPS`. */
  readonly kept?: readonly string[];
  /** Sums wanted; absent = all. */
  readonly sums?: readonly SumColumn[];
}

/** The conditions of a query alone. */
export function scopeOf({
  projectId,
  apiKeyId,
  model,
  provider,
  status,
  outcome,
  cache,
  customerId,
  modality,
}: StatsFilter): StatsScope {
  return { projectId, apiKeyId, model, provider, status, outcome, cache, customerId, modality };
}
