import type { Route } from '../routing/routing-tables';
import { isSameTarget } from '../routing/target';
import type { LogAttempt, RouteReason } from './log-record';

type Explained = Pick<Route, 'targets' | 'unfit' | 'isWarm' | 'strategy'>;

/** Choices of a call, in its order; undefined where there was none to make. */
export function explainRoute(route: Explained, attempts: readonly LogAttempt[]): readonly RouteReason[] | undefined {
  if (attempts.length === 0) return undefined;
  const [only] = route.targets;
  const isPlain = route.targets.length === 1 && route.unfit === undefined;
  if (isPlain && attempts.every((attempt) => isSameTarget(attempt, only))) return undefined;
  const reasons: RouteReason[] = [];
  let hasFailed = false;
  for (const { provider, model, outcome, latencyMs } of attempts) {
    const reason = outcome === 'ok' ? choiceOf(route, hasFailed) : outcome;
    // Targets that weren't asked took no time.
    hasFailed ||= outcome !== 'ok' && latencyMs > 0;
    const before = reasons.findIndex((one) => isSameTarget(one, { provider, model }));
    if (before >= 0) reasons.splice(before, 1);
    reasons.push({ provider, model, reason });
  }
  for (const target of route.targets) {
    if (reasons.some((one) => isSameTarget(one, target))) continue;
    reasons.push({ provider: target.provider, model: target.model, reason: 'standby' });
  }
  for (const { target, reason } of route.unfit ?? []) {
    reasons.push({ provider: target.provider, model: target.model, reason });
  }
  return reasons;
}

function choiceOf({ isWarm, strategy }: Explained, hasFailed: boolean): string {
  if (hasFailed) return 'failover';
  return isWarm === true ? 'session_affinity' : strategy;
}
