import type { ApiKey, Principal } from '@llm0/core/keys/api-key';
import { narrowRoute, notAllowed } from '@llm0/core/routing/narrow-route';
import { orderTargets } from '@llm0/core/routing/order-targets';
import { type Route, type RouteTarget, type RoutingTables, resolveTargets } from '@llm0/core/routing/resolve-targets';
import { type Target, targetKey } from '@llm0/core/routing/target';

/** What is asked of the targets of a route. */
export interface RouteDemand {
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The field by which the caller demands that limit, whatever model answers. */
  readonly outputParam?: string;
}

/** Where a name leads, as far as key and project allow; throws where that is nowhere. */
export function allowedRoute(principal: Principal, tables: RoutingTables, demand: RouteDemand): Route {
  const { key, project } = principal;
  const { model } = demand;
  const resolved = resolveTargets(model, tables, project.id);
  return narrowRoute(resolved, {
    ...demand,
    refusesUnpriced: refusesUnpriced(principal),
    isAllowed: key.allowedModels === null ? undefined : allowedPart(key, model, resolved),
  });
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

/**
 * Who may call a name may call all that stands behind it, fallbacks included: they are the operator's choice. An alias
 * with several targets that is not allowed by its own name is narrowed to those that are. Throws `model_not_allowed`.
 */
function allowedPart(key: ApiKey, model: string, route: Route): ((target: Target) => boolean) | undefined {
  const isAllowed = (target: Target) => isModelAllowed(key, [target.model, targetKey(target)]);
  const isList = route.alias !== undefined && route.scope !== targetKey(route.targets[0]);
  if (isModelAllowed(key, [model]) || (!isList && isAllowed(route.requested))) return undefined;
  if (isList) return isAllowed;
  throw notAllowed(model);
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
