import { GatewayError } from '../errors/gateway-error';
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
  /** Whether one of a model's names is among the key's `allowed_models`. */
  isAllowed(names: readonly string[]): boolean;
}

/**
 * The targets that a key's `allowed_models` allow. Who may use a name may use the targets it names; what stands in for
 * them has to be allowed itself. Throws `model_not_allowed`.
 */
export function allowedTargets(route: Route, { model, isAllowed }: AllowedNames): Route {
  const isNameAllowed = isAllowed([model]);
  const mayAsk = (target: Pick<RouteTarget, 'provider' | 'model'>) => isAllowed([target.model, targetKey(target)]);
  const isOwn = ({ isStandIn }: RouteTarget) => isStandIn !== true;
  // Who may call neither the name nor what it names gets no stand-in for it.
  const named = route.alias === undefined ? [route.requested] : route.targets.filter(isOwn);
  if (!isNameAllowed && !named.some(mayAsk)) throw notAllowed(model);
  const kept = onlyTargets(
    route,
    route.targets.filter((target) => (isNameAllowed && isOwn(target)) || mayAsk(target)),
  );
  if (kept === undefined) throw notAllowed(model);
  return kept;
}

/** The route without failover: one target that was named, and nobody beside it. Throws `model_not_found`. */
export function soleTarget(route: Route, model: string): Route {
  const named = route.targets.filter(({ isStandIn }) => isStandIn !== true);
  // The first of a list is the one that was named; other strategies pick among all.
  const kept = onlyTargets(route, route.strategy === 'priority' ? named.slice(0, 1) : named);
  if (kept === undefined) throw onlyStandIns(model);
  return kept.targets.length === 1 ? kept : { ...kept, isSole: true, shared: `${kept.shared ?? ''} alone` };
}

/** Once it is known which target comes first. */
export function withoutOthers(route: Route): Route {
  return route.isSole === true ? { ...route, targets: [route.targets[0]], answerers: route.targets } : route;
}

/** Whether what a target once answered may be served: of those that could answer now. */
export const mayAnswer = ({ targets, answerers = targets }: Route, from: Target): boolean =>
  answerers.some((target) => isSameTarget(target, from));

/** The key's `allowed_models` have neither the name nor any target behind it. */
export function notAllowed(model: string): GatewayError {
  return new GatewayError('model_not_allowed', `This API key may not call the model "${shownName(model)}".`, {
    param: 'model',
  });
}

function onlyStandIns(model: string): GatewayError {
  return new GatewayError(
    'model_not_found',
    `Only another model could answer for "${shownName(model)}" here, and failover is off for this request. ` +
      'The operator can configure its provider.',
    { param: 'model' },
  );
}
