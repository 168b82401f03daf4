import type { Strategy } from './alias';
import type { RouteTarget } from './routing-tables';
import type { TargetHealth } from './target-health';

export interface OrderContext {
  readonly health: TargetHealth;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
  /** Nano-USD this request is expected to cost there; undefined without a price. */
  costOf(target: RouteTarget): number | undefined;
}

/** The targets in order of attempts, each once. */
export function orderTargets(
  strategy: Strategy,
  targets: readonly RouteTarget[],
  context: OrderContext,
): readonly RouteTarget[] {
  return ORDERS[strategy](targets, context);
}

const ORDERS = {
  priority: (targets) => targets,
  /** Draws targets by their share of the remaining weight; weight 0 comes last, in the operator's order. */
  weighted: (targets, { random }) => {
    const left = targets.filter((target) => target.weight > 0);
    const drawn: RouteTarget[] = [];
    while (left.length > 0) {
      let point = random() * left.reduce((sum, target) => sum + target.weight, 0);
      const index = left.findIndex((target) => {
        point -= target.weight;
        return point < 0;
      });
      drawn.push(...left.splice(index < 0 ? left.length - 1 : index, 1));
    }
    return [...drawn, ...targets.filter((target) => target.weight <= 0)];
  },
  /** Unmeasured targets come first, to be measured; unavailable ones come last. */
  least_latency: (targets, { health }) =>
    sortBy(targets, (target) => (health.isOpen(target) ? Number.POSITIVE_INFINITY : (health.latencyMs(target) ?? 0))),
  cheapest: (targets, { costOf }) => sortBy(targets, (target) => costOf(target) ?? Number.POSITIVE_INFINITY),
} as const satisfies Record<
  Strategy,
  (targets: readonly RouteTarget[], context: OrderContext) => readonly RouteTarget[]
>;

/** Stable; every rank is worked out once. */
function sortBy(targets: readonly RouteTarget[], rankOf: (target: RouteTarget) => number): readonly RouteTarget[] {
  return targets
    .map((target) => ({ target, rank: rankOf(target) }))
    .sort((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank))
    .map(({ target }) => target);
}
