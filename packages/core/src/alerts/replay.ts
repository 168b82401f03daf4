import type { AlertRule } from './condition';
import type { Firing } from './firings';

export interface ReplayQuery extends AlertRule {
  readonly projectId?: string;
  /** Whole minutes; checks are at each of them, both ends included. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs: number;
}

export interface Replay {
  /** The first check: later than asked for where older requests are gone or too many to be read. */
  readonly fromMs: number;
  readonly firings: readonly Firing[];
  /** The most that was measured, in the unit of the threshold; null where there was nothing to measure. */
  readonly highest: number | null;
}
