import type { Durations } from './durations';
import type { UsageTotals } from './totals';

export interface StatsBucket extends UsageTotals {
  readonly startMs: number;
  /** The group's id or name, '' where the rows have none; null without `groupBy`. */
  readonly group: string | null;
  /** Absent unless asked for. */
  readonly durations?: Durations;
}

export interface BucketResult {
  /** Buckets with requests, oldest first; empty ones are missing. */
  readonly buckets: readonly StatsBucket[];
  /** Number of groups, hidden ones included. */
  readonly groups: number;
  /** The first moment that was read, where the bounds of reading rows were met. */
  readonly partialFromMs?: number;
}
