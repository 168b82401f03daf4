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
  /** The field by which the caller demands that limit, whatever model answers. */
  readonly outputParam?: string;
  /** `X-LLM0-Failover`. */
  readonly failover?: 'off' | undefined;
}

/** Where a name leads, as far as key and project allow; throws where that is nowhere. */
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

/** Key and alias go before the project; where the two disagree, nobody else is asked. */
function failoverOf({ key, project }: Principal, { failover }: Route): FailoverSetting {
  if (key.failover === 'off' || failover === 'off') return 'off';
  return key.failover ?? failover ?? project.failover ?? 'on';
}

/** The route in the order its strategy says. `costOf`: undefined where a target has no price. */
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

/** A cap applies (or the policy says so): what has no price may not be called. */
export function refusesUnpriced(principal: Principal): boolean {
  const { project } = principal;
  if (project.strictCaps) return true;
  return (project.unknownModelPolicy ?? (isCapped(principal) ? 'refuse' : 'allow_unpriced')) === 'refuse';
}

/** True where project or key may spend only so much. */
export function isCapped({ key, project }: Principal): boolean {
  return project.strictCaps || project.monthlyCapNanoUsd !== null || key.budgetNanoUsd !== null;
}
