import type { ApiKey, Principal } from '@llm0/core/keys/api-key';
import type { FailoverSetting } from '@llm0/core/routing/failover-mode';
import { allowedTargets, soleTarget } from '@llm0/core/routing/named-targets';
import { narrowRoute } from '@llm0/core/routing/narrow-route';
import { orderTargets } from '@llm0/core/routing/order-targets';
import { type Route, type RouteTarget, type RoutingTables, resolveTargets } from '@llm0/core/routing/resolve-targets';

/** A call to the targets of a route. */
export interface RouteDemand {
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Field that demands the limit for any model. */
  readonly outputParam?: string;
  /** `X-LLM0-Failover`. */
  readonly failover?: 'off' | undefined;
}

/** Route of a name within key and project; throws without one. */
export function allowedRoute(principal: Principal, tables: RoutingTables, demand: RouteDemand): Route {
  const { key, project } = principal;
  const { model } = demand;
  let route = resolveTargets(model, tables, project.id);
  if (key.allowedModels !== null) {
    route = allowedTargets(route, { model, isAllowed: (names) => isModelAllowed(key, names) });
  }
  const isOff = tables.mode === 'off' || demand.failover === 'off' || failoverOf(principal, route) === 'off';
  return narrowRoute(isOff ? soleTarget(route, model) : route, {
    ...demand,
    refusesUnpriced: refusesUnpriced(principal),
  });
}

/** Key and alias override the project; in a conflict, no fallback. */
function failoverOf({ key, project }: Principal, { failover }: Route): FailoverSetting {
  if (key.failover === 'off' || failover === 'off') return 'off';
  return key.failover ?? failover ?? project.failover ?? 'on';
}

/** The route in its strategy's order. `costOf`: undefined for a target without a price. */
export function orderedRoute(
  route: Route,
  tables: RoutingTables,
  costOf: (target: RouteTarget) => number | undefined,
): Route {
  const [first = route.targets[0], ...rest] = orderTargets(route.strategy, route.targets, { ...tables, costOf });
  return { ...route, targets: [first, ...rest] };
}

/** `allowed_models` holds one of the names; an entry that ends in `*` matches as a prefix. */
export function isModelAllowed(key: ApiKey, names: readonly string[]): boolean {
  if (key.allowedModels === null) return true;
  return key.allowedModels.some((entry) =>
    entry.endsWith('*') ? names.some((name) => name.startsWith(entry.slice(0, -1))) : names.includes(entry),
  );
}

/** Under a cap or by policy, models without a price are refused. */
export function refusesUnpriced(principal: Principal): boolean {
  const { project } = principal;
  if (project.strictCaps) return true;
  return (project.unknownModelPolicy ?? (isCapped(principal) ? 'refuse' : 'allow_unpriced')) === 'refuse';
}

/** True if project or key has a spend limit. */
export function isCapped({ key, project }: Principal): boolean {
  return project.strictCaps || project.monthlyCapNanoUsd !== null || key.budgetNanoUsd !== null;
}
