import { type ApiKey, levelWithout, type Principal } from '@llm0/core/keys/api-key';
import type { HoldOptions } from '@llm0/core/pricing/estimate-cost';
import type { PricedModel } from '@llm0/core/pricing/price-book';
import type { FailoverSetting } from '@llm0/core/routing/failover-mode';
import { allowedTargets, providerNotAllowed, soleTarget, withinProviders } from '@llm0/core/routing/named-targets';
import { type Route, type RoutingTables, resolveTargets } from '@llm0/core/routing/resolve-targets';
import { lostFacts } from './admit-plan';

/** What key, project and tables decide about requests for a model: made once, shared by all of them. */
export interface PreparedRoute {
  /** Every target that the key may ask; a request narrows it by its size. */
  readonly route: Route;
  /** Every target has a price where one is required. */
  readonly isPriced: boolean;
  /** Models without a price are refused. */
  readonly refusesUnpriced: boolean;
  /** Prices of its targets; undefined without one. */
  readonly prices: readonly (PricedModel | undefined)[];
  readonly hold: HoldOptions;
  /** Unless the request says otherwise. */
  readonly dropParams: boolean;
  /** The first target's part of a lost request's row. */
  readonly lostFacts: string;
}

export interface RouteChoice {
  readonly model: string;
  /** `X-LLM0-Failover`. */
  readonly failover?: 'off' | undefined;
}

/** Callers make up names, so all of them go at once beyond this number. */
const MOST_PREPARED = 10_000;

/** Prepared routes of the same tables: new tables, keys or projects are new objects, so nothing is invalidated. */
class PreparedRoutes {
  private byPrincipal = new WeakMap<Principal, Map<string, PreparedRoute>>();
  private size = 0;

  find(principal: Principal, model: string): PreparedRoute | undefined {
    return this.byPrincipal.get(principal)?.get(model);
  }

  keep(principal: Principal, model: string, prepared: PreparedRoute): void {
    if (this.size >= MOST_PREPARED) {
      this.byPrincipal = new WeakMap();
      this.size = 0;
    }
    const known = this.byPrincipal.get(principal) ?? new Map<string, PreparedRoute>();
    this.byPrincipal.set(principal, known.set(model, prepared));
    this.size += 1;
  }
}

const BY_TABLES = new WeakMap<RoutingTables, PreparedRoutes>();

/** The prepared route of a name; throws for models that may not be called. */
export function preparedRoute(principal: Principal, tables: RoutingTables, choice: RouteChoice): PreparedRoute {
  if (choice.failover === 'off') return prepareRoute(principal, tables, choice);
  let routes = BY_TABLES.get(tables);
  if (routes === undefined) {
    routes = new PreparedRoutes();
    BY_TABLES.set(tables, routes);
  }
  const known = routes.find(principal, choice.model);
  if (known !== undefined) return known;
  const prepared = prepareRoute(principal, tables, choice);
  routes.keep(principal, choice.model, prepared);
  return prepared;
}

function prepareRoute(principal: Principal, tables: RoutingTables, choice: RouteChoice): PreparedRoute {
  const { key, project } = principal;
  const { model } = choice;
  let route = resolveTargets(model, tables, project.id);
  if (choosesModels(key)) {
    route = allowedTargets(route, { model, isAllowed: (names) => isModelAllowed(key, names) });
    if (route.isOwnAlias === true) {
      route = allowedTargets(route, { model, isAllowed: (names) => isWithinLevels(key, names), ignoresName: true });
    }
  }
  const isOff = tables.mode === 'off' || choice.failover === 'off' || failoverOf(principal, route) === 'off';
  if (choosesProviders(key)) {
    route = withinProviders(route, { levelWithout: (provider) => levelWithout(key, provider), isSole: isOff });
  }
  if (isOff) route = soleTarget(route, model);
  const refuses = refusesUnpriced(principal);
  return {
    route,
    isPriced: route.isPriced || !refuses,
    refusesUnpriced: refuses,
    prices: route.targets.map(({ priced }) => priced),
    hold: { strict: project.strictCaps, defaultOutputTokens: project.defaultOutputTokens },
    dropParams: key.dropParams ?? project.dropParams ?? false,
    lostFacts: lostFacts(principal, model, route.targets[0]),
  };
}

/** Key and alias override the project; in a conflict, no fallback. */
function failoverOf({ key, project }: Principal, { failover }: Route): FailoverSetting {
  if (key.failover === 'off' || failover === 'off') return 'off';
  return key.failover ?? failover ?? project.failover ?? 'on';
}

/** Key, project or a level above names the models it may call. */
export const choosesModels = ({ allowedModels, modelsAbove }: ApiKey): boolean =>
  allowedModels !== null || modelsAbove !== undefined;

/** Each `allowed_models` of the key and above it holds one of the names. */
export const isModelAllowed = ({ allowedModels, modelsAbove = [] }: ApiKey, names: readonly string[]): boolean =>
  (allowedModels === null || hasOneOf(allowedModels, names)) && modelsAbove.every((list) => hasOneOf(list, names));

/** Each `allowed_models` of team, organization and user holds one of the names. */
export const isWithinLevels = ({ modelsOfLevels = [] }: ApiKey, names: readonly string[]): boolean =>
  modelsOfLevels.every((list) => hasOneOf(list, names));

/** Key, project or a level above names the providers that may answer. */
const choosesProviders = ({ allowedProviders, providersAbove }: ApiKey): boolean =>
  allowedProviders !== null || providersAbove !== undefined;

/** Throws `model_not_allowed` where an `allowed_providers` lacks the provider. */
export function refuseProvider(key: ApiKey, provider: string): void {
  if (!choosesProviders(key)) return;
  const level = levelWithout(key, provider);
  if (level !== undefined) throw providerNotAllowed(provider, level);
}

/** An entry that ends in `*` matches as a prefix. */
const hasOneOf = (list: readonly string[], names: readonly string[]): boolean =>
  list.some((entry) =>
    entry.endsWith('*') ? names.some((name) => name.startsWith(entry.slice(0, -1))) : names.includes(entry),
  );

/** Under a cap or by policy, models without a price are refused. */
export function refusesUnpriced(principal: Principal): boolean {
  const { project } = principal;
  if (project.strictCaps) return true;
  return (project.unknownModelPolicy ?? (isCapped(principal) ? 'refuse' : 'allow_unpriced')) === 'refuse';
}

/** True if project, key or one of its labels has a spend limit. */
export function isCapped({ key, project, budgets }: Principal): boolean {
  const isMonthly = project.monthlyCapNanoUsd !== null || key.budgetNanoUsd !== null;
  return project.strictCaps || isMonthly || budgets !== undefined;
}
