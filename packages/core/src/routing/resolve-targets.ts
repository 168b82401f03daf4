import { GatewayError } from '../errors/gateway-error';
import { coversClasses } from '../pricing/class-prices';
import type { Alias, AliasTarget } from './alias';
import { timeoutsOf } from './attempt-plan';
import { type ChainPlace, chainTargets, findChain } from './chain';
import { checkedTarget } from './checked-provider';
import { applyMode } from './failover-mode';
import { readModelFamily } from './model-name';
import { shownName, unknownModel } from './near-names';
import {
  type ConfiguredProvider,
  type Route,
  type RouteTarget,
  type RoutingTables,
  takesImages,
} from './routing-tables';
import { isSameTarget, type Target, targetKey } from './target';

export {
  type ConfiguredProvider,
  firstChoice,
  type Route,
  type RouteTarget,
  type RoutingTables,
} from './routing-tables';

const ROUTES_REMEMBERED = 10_000;
const NAME_REMEMBERED_CHARACTERS = 256;

/** Resolves a project's model name to targets. Throws `model_not_found` with similar names. */
export function resolveTargets(model: string, allTables: RoutingTables, projectId = ''): Route {
  const tables = allTables.forProject(projectId);
  const alias = tables.aliases.find(projectId, model);
  const known = tables.routes.get(alias ?? model);
  if (known !== undefined) return known;
  const route = alias === undefined ? routeOfName(model, tables, projectId) : routeOfAlias(alias, tables);
  if (model.length <= NAME_REMEMBERED_CHARACTERS) {
    if (tables.routes.size >= ROUTES_REMEMBERED) tables.routes.clear();
    tables.routes.set(alias ?? model, route);
  }
  return route;
}

function routeOfName(model: string, tables: RoutingTables, projectId: string): Route {
  // A provider in the name excludes chains; those apply to bare names only.
  const explicit = explicitTarget(model, tables);
  const requested = explicit ?? detectTarget(model, tables);
  if (requested === undefined) throw unknownModel(model, tables, projectId);
  const { isPinned } = readModelFamily(requested.model);
  const place = explicit === undefined ? placeInChain(requested, tables) : undefined;
  const targets = routeTargets(targetsIn(place, requested, tables), tables, [requested]);
  if (targets === undefined) throw notInMode(model, requested, tables, () => unknownModel(model, tables, projectId));
  const hedgeAfterMs = place?.chain.hedgeAfterMs;
  const scope = targetKey(targets[0]);
  return finishRoute({ requested, targets, isPinned, limitName: requested.model, scope, hedgeAfterMs });
}

/** Its targets in the strategy's order; with failover `on`, their chains follow. */
function routeOfAlias(alias: Alias, tables: RoutingTables): Route {
  const [requested, second] = alias.targets;
  const unusable = () =>
    new GatewayError('model_not_found', `None of the targets of "${shownName(alias.name)}" can be called right now.`, {
      param: 'model',
    });
  if (requested === undefined) throw unusable();
  const isPinned = second === undefined && readModelFamily(requested.model).isPinned;
  const targets = routeTargets(targetsOfAlias(alias, tables), tables, alias.targets);
  if (targets === undefined) throw unusable();
  const { failover, hedgeAfterMs } = alias;
  const inherited = second === undefined && failover === 'on' ? placeInChain(requested, tables) : undefined;
  return finishRoute({
    requested,
    targets,
    isPinned,
    limitName: alias.name,
    alias: alias.name,
    ...(alias.projectId === null ? {} : { isOwnAlias: true }),
    ...(failover == null ? {} : { failover }),
    ...(alias.retryTimeouts === true ? { retryTimeouts: true } : {}),
    hedgeAfterMs: hedgeAfterMs ?? inherited?.chain.hedgeAfterMs,
    strategy: second === undefined ? 'priority' : alias.strategy,
    ...(second === undefined || alias.sessionAffinity === false ? {} : { keepsConversations: true }),
    scope: second === undefined ? targetKey(targets[0]) : `alias ${alias.name} ${alias.version}`,
  });
}

function targetsOfAlias({ targets, failover }: Alias, tables: RoutingTables): readonly Target[] {
  const [requested, second] = targets;
  if (failover === 'on' && requested !== undefined && second === undefined) return targetsOf(requested, tables);
  const standIns = failover === 'on' ? targets.flatMap((one) => targetsOf(one, tables)) : [];
  return configured([...allowedTargets(configured(targets, tables), tables), ...standIns], tables);
}

/** The requested target and its fallbacks in the mode's order; empty if none is callable. */
export function targetsOf(requested: Target, tables: RoutingTables): readonly Target[] {
  return targetsIn(placeInChain(requested, tables), requested, tables);
}

function targetsIn(place: ChainPlace | undefined, requested: Target, tables: RoutingTables): readonly Target[] {
  const own = tables.providers.get(requested.provider);
  const { isPinned } = readModelFamily(requested.model);
  // Another one may help out for a pinned version, but never be the first to answer for it.
  if (own === undefined && isPinned) return [];
  const tier = place?.chain.localTier ?? undefined;
  const substitute = tier && tables.substitutes[tier];
  const steps = [...chainTargets(requested, place), ...(substitute === undefined ? [] : [substitute])];
  return inMode(configured(steps, tables), isPinned, tables);
}

/** Local models belong to no chain, because callers choose them explicitly. */
function placeInChain(requested: Target, tables: RoutingTables): ChainPlace | undefined {
  if (tables.mode === 'off') return undefined;
  if (tables.providers.get(requested.provider)?.place === 'local') return undefined;
  return findChain(tables.chains, tables.prices, requested);
}

const configured = <T extends Target>(targets: readonly T[], tables: RoutingTables): readonly T[] =>
  targets.filter(
    (target, index) =>
      tables.providers.has(target.provider) && targets.findIndex((one) => isSameTarget(one, target)) === index,
  );

function inMode(steps: readonly Target[], isPinned: boolean, tables: RoutingTables): readonly Target[] {
  return applyMode(tables.mode, {
    steps,
    isPinned,
    placeOf: ({ provider }) => tables.providers.get(provider)?.place ?? 'cloud',
  });
}

/** Keeps the operator's order and drops targets that the mode forbids. */
function allowedTargets(targets: readonly Target[], tables: RoutingTables): readonly Target[] {
  return tables.mode.endsWith('_only') ? inMode(targets, false, tables) : targets;
}

/** `named`: the targets that the request or its alias names. */
function routeTargets(
  targets: readonly Target[],
  tables: RoutingTables,
  named: readonly (Target & Partial<AliasTarget>)[],
): Route['targets'] | undefined {
  const [first, ...rest] = targets.map(({ provider, model }): RouteTarget => {
    const own = named.find((one) => isSameTarget(one, { provider, model }));
    const priced = tables.prices.find(provider, model);
    const known = tables.providers.get(provider);
    const timeouts = timeoutsOf(own?.timeouts, known?.timeouts);
    return {
      ...{ provider, model, weight: own?.weight ?? 1, priced },
      ...(own === undefined ? { isStandIn: true } : {}),
      ...(timeouts === undefined ? {} : { timeouts }),
      ...(known?.isDrained === true ? { isDrained: true } : {}),
      ...(known?.checkIntervalMs != null ? { checked: checkedTarget(provider) } : {}),
    };
  });
  return first === undefined ? undefined : [first, ...rest];
}

type Described = Pick<Route, 'scope' | 'requested' | 'targets' | 'isPinned' | 'limitName'> & Partial<Route>;

/** Precomputes per-route facts of all targets. */
function finishRoute(route: Described): Route {
  const { targets, requested } = route;
  const least = (values: readonly (number | undefined)[]) =>
    Math.min(...values.map((value) => value ?? Number.POSITIVE_INFINITY));
  const standIns = targets.slice(1).filter(({ isStandIn }) => isStandIn);
  return {
    strategy: 'priority',
    ...route,
    ...(standIns.length === 0 ? {} : { shared: standIns.map(targetKey).join(' ') }),
    takesImages: targets.every(takesImages),
    isPriced: targets.every(({ priced }) => coversClasses(priced)),
    contextWindow: least(targets.map((target) => target.priced?.contextWindow)),
    maxOutputTokens: least(
      targets.filter((target) => !isSameTarget(target, requested)).map((target) => target.priced?.maxOutputTokens),
    ),
  };
}

/** Resolves a name: a server's list or the longest pattern, then a price, then a chain's family. */
function detectTarget(model: string, tables: RoutingTables): Target | undefined {
  return (
    listedBy(model, tables) ?? matchingName(model, tables) ?? pricedBy(model, tables) ?? knownFamily(model, tables)
  );
}

/** An added server's list takes no name from a configured provider. */
function listedBy(model: string, tables: RoutingTables): Target | undefined {
  const lists = ({ liveModels }: ConfiguredProvider) => liveModels.has(model);
  const sure = servedBy(model, tables, (one) => one.yieldsToVendors !== true && lists(one));
  if (sure !== undefined) return sure;
  const found = servedBy(model, tables, lists);
  return found !== undefined && vendorWithPrice(model, tables) === undefined ? found : undefined;
}

const pricedBy = (model: string, tables: RoutingTables): Target | undefined =>
  vendorWithPrice(model, tables) ?? servedBy(model, tables, ({ name }) => tables.prices.isListed(name, model));

const vendorWithPrice = (model: string, tables: RoutingTables): Target | undefined =>
  servedBy(
    model,
    tables,
    ({ name, yieldsToVendors }) => yieldsToVendors !== true && tables.prices.isListed(name, model),
  );

/** `provider/model`, when the prefix names a configured provider (model names may contain slashes themselves). */
function explicitTarget(model: string, tables: RoutingTables): Target | undefined {
  const slash = model.indexOf('/');
  if (slash <= 0 || slash === model.length - 1) return undefined;
  const provider = tables.providers.get(model.slice(0, slash));
  return provider === undefined ? undefined : { provider: provider.name, model: model.slice(slash + 1) };
}

function servedBy(
  model: string,
  tables: RoutingTables,
  isServing: (provider: ConfiguredProvider) => boolean,
): Target | undefined {
  const found = tables.providers.values().find(isServing);
  return found && { provider: found.name, model };
}

function matchingName(model: string, tables: RoutingTables): Target | undefined {
  let found: Target | undefined;
  let longest = 0;
  for (const provider of tables.providers.values()) {
    for (const pattern of provider.modelPatterns) {
      const length = pattern.exec(model)?.[0].length ?? 0;
      if (length <= longest) continue;
      found = { provider: provider.name, model };
      longest = length;
    }
  }
  return found;
}

/** A model of an unconfigured vendor whose chain has configured members. */
function knownFamily(model: string, tables: RoutingTables): Target | undefined {
  const place = findChain(tables.chains, tables.prices, { model });
  return place && { provider: place.step.provider, model };
}

function notInMode(model: string, requested: Target, tables: RoutingTables, unknown: () => GatewayError): GatewayError {
  if (!tables.providers.has(requested.provider)) return unknown();
  const what =
    tables.mode === 'cloud_only'
      ? `"${shownName(model)}" runs on a local server, and this gateway calls cloud providers only (FAILOVER_MODE=cloud_only).`
      : `"${shownName(model)}" is a cloud model without a local substitute, and this gateway calls local models only (FAILOVER_MODE=local_only).`;
  return new GatewayError('model_not_found', what, { param: 'model' });
}
