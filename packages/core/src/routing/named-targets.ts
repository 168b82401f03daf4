import { GatewayError } from '../errors/gateway-error';
import { passOver } from './narrow-route';
import { shownName } from './near-names';
import type { Route, RouteTarget } from './routing-tables';
import { isSameTarget, type Target, targetKey } from './target';

/** The route with just these targets; the very same one where all stay. */
function onlyTargets(route: Route, kept: readonly RouteTarget[]): Route | undefined {
  const [first, ...rest] = kept;
  if (first === undefined) return undefined;
  if (kept.length === route.targets.length) return route;
  return { ...route, targets: [first, ...rest], shared: kept.map(targetKey).join(' ') };
}

export interface AllowedNames {
  /** The name as asked for. */
  readonly model: string;
  /** True if `allowed_models` contains one of the names. */
  isAllowed(names: readonly string[]): boolean;
  /** The name permits nothing: each target needs its own permission. */
  readonly ignoresName?: boolean;
}

/**
 * Targets that a key's `allowed_models` permits. A permitted name includes its targets; stand-ins need their own
 * permission. Throws `model_not_allowed`.
 */
export function allowedTargets(route: Route, { model, isAllowed, ignoresName = false }: AllowedNames): Route {
  const isNameAllowed = !ignoresName && isAllowed([model]);
  const mayAsk = (target: Pick<RouteTarget, 'provider' | 'model'>) => isAllowed([target.model, targetKey(target)]);
  const isOwn = ({ isStandIn }: RouteTarget) => isStandIn !== true;
  // A caller without permission for the name and its targets gets no stand-in.
  const named = route.alias === undefined ? [route.requested] : route.targets.filter(isOwn);
  if (!isNameAllowed && !named.some(mayAsk)) throw notAllowed(model);
  const kept = onlyTargets(
    route,
    route.targets.filter((target) => (isNameAllowed && isOwn(target)) || mayAsk(target)),
  );
  if (kept === undefined) throw notAllowed(model);
  return kept;
}

export interface AllowedProviders {
  /** The level whose `allowed_providers` lacks the provider; undefined = none. */
  levelWithout(provider: string): string | undefined;
  /** Failover is off: a stand-in doesn't help. */
  readonly isSole: boolean;
}

/** Passes over the targets of other providers. Throws `model_not_allowed` with the level. */
export function withinProviders(route: Route, { levelWithout, isSole }: AllowedProviders): Route {
  const [wanted] = route.targets;
  const mayAsk = ({ provider }: Target) => levelWithout(provider) === undefined;
  if (route.targets.every(mayAsk)) return route;
  const kept = passOver(route, (target) => (mayAsk(target) ? undefined : 'provider_not_allowed'));
  const lacksNamed = kept?.targets.every(({ isStandIn }) => isStandIn === true) !== false;
  // Another model may not answer for a pinned version before that was asked.
  const needsNamed = (isSole || route.isPinned) && wanted.isStandIn !== true;
  if (kept === undefined || (needsNamed && lacksNamed)) {
    throw providerNotAllowed(wanted.provider, levelWithout(wanted.provider) ?? 'key');
  }
  return { ...kept, shared: kept.targets.map(targetKey).join(' ') };
}

/** The route without failover: only the named target. Drained ones aren't picked from a list. Throws `model_not_found`. */
export function soleTarget(route: Route, model: string): Route {
  const named = route.targets.filter(({ isStandIn }) => isStandIn !== true);
  const open = named.filter(({ isDrained }) => isDrained !== true);
  const choice = open.length === 0 ? named : open;
  // The first of a list is the one that was named; other strategies pick among all.
  const kept = onlyTargets(route, route.strategy === 'priority' ? named.slice(0, 1) : choice);
  if (kept === undefined) throw onlyStandIns(model);
  return kept.targets.length === 1 ? kept : { ...kept, isSole: true, shared: `${kept.shared ?? ''} alone` };
}

/** Applies once the first target is known. */
export function withoutOthers(route: Route): Route {
  return route.isSole === true ? { ...route, targets: [route.targets[0]], answerers: route.targets } : route;
}

/** True if a stored answer of the target may serve this route. */
export const mayAnswer = ({ targets, answerers = targets }: Route, from: Target): boolean =>
  answerers.some((target) => isSameTarget(target, from));

/** The key's `allowed_models` contain neither the name nor a target of it. */
export function notAllowed(model: string): GatewayError {
  return new GatewayError('model_not_allowed', `This API key may not call the model "${shownName(model)}".`, {
    param: 'model',
  });
}

/** `allowed_providers` of a level doesn't contain the provider. */
export function providerNotAllowed(provider: string, level: string): GatewayError {
  const message =
    `This API key may not use the provider "${shownName(provider)}": "allowed_providers" of its ${level} doesn't ` +
    'contain it.';
  return new GatewayError('model_not_allowed', message.replace('its key', 'the key'), { param: 'model' });
}

function onlyStandIns(model: string): GatewayError {
  return new GatewayError(
    'model_not_found',
    `Only another model could answer for "${shownName(model)}" here, and failover is off for this request. ` +
      'The operator can configure its provider.',
    { param: 'model' },
  );
}
