import { type AlertRule, burnRate } from './condition';
import { ALERT_KIND_FACTS } from './kinds';

const ALL_FAILED = { success: 0, failures: 1000, costNanoUsd: 0, p95Ms: null };

/** The most that can be measured, in the unit of the kind; null where nothing bounds it. */
export function highestValue({ kind, objective }: Pick<AlertRule, 'kind' | 'objective'>): number | null {
  if (kind === 'error_budget_burn') return burnRate({ objective }, ALL_FAILED, ALL_FAILED);
  return ALERT_KIND_FACTS[kind].unit === 'share' ? 1 : null;
}

/** Reason why an alert would fire always or never; null otherwise. */
export function thresholdProblem(rule: Pick<AlertRule, 'kind' | 'threshold' | 'objective'>): string | null {
  const { kind, threshold } = rule;
  if (ALERT_KIND_FACTS[kind].unit === 'none') return null;
  if (threshold <= 0) return `must be above 0: this alert would fire all the time`;
  const most = highestValue(rule);
  if (most === null || threshold <= most) return null;
  const hint = kind === 'error_budget_burn' ? ', which is when all requests fail' : ' (a share: 0.05 is 5 %)';
  return `must be at most ${Number(most.toPrecision(12))}${hint}: this alert would never fire`;
}
