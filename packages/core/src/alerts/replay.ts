import type { AlertRule } from './condition';
import type { Firing } from './firings';

export interface ReplayQuery extends AlertRule {
  /** One, or any of several. */
  readonly projectId?: string | readonly string[] | undefined;
  /** Whole minutes; checks are at each of them, both ends included. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs: number;
}

export interface Replay {
  /** The first check: later than requested if older requests are deleted or too many. */
  readonly fromMs: number;
  readonly firings: readonly Firing[];
  /** Highest measure in the unit of the threshold; null without one. */
  readonly highest: number | null;
}
