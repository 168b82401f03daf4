import { GatewayError, invalidRequest } from '../errors/gateway-error';
import { coversClasses, TEXT_CLASSES, type TokenClass } from '../pricing/class-prices';
import { shownName } from './near-names';
import {
  fitsAll,
  type PassedOver,
  type RequestSize,
  type Route,
  type RouteTarget,
  takesImages,
} from './routing-tables';
import { isSameTarget } from './target';

/** A request's call to the targets of its route. */
export interface RouteNeeds extends RequestSize {
  /** The name as asked for; for messages. */
  readonly model: string;
  /** Field that demands the limit; absent if it may be lowered to the model's. */
  readonly outputParam?: string;
  /** Under a cap, models without a price are refused. */
  readonly refusesUnpriced: boolean;
  /** Classes that need a price; text's unless given. */
  readonly pricedBy?: readonly TokenClass[];
}

/**
 * The route without the targets that can't serve this request; the very same one where all can. Throws
 * `model_not_priced` or `context_length_exceeded` when nothing is left, and `invalid_request` where only the caller's
 * output limit is too much for the first of them, or none of them has vision.
 */
export function narrowRoute(route: Route, needs: RouteNeeds): Route {
  const { pricedBy } = needs;
  const isPriced = ({ priced }: RouteTarget) => coversClasses(priced, pricedBy);
  const isBilled = route.isPriced || !needs.refusesUnpriced || route.targets.every(isPriced);
  if (fitsAll(route, needs) && isBilled) return route;
  const targets = isBilled ? route.targets : keepPriced(route, isPriced, pricedBy);
  const [wanted] = required(targets, () => notPriced(route.targets, pricedBy));
  // All targets of an alias count by its name; fallbacks of a model don't.
  const isAlias = route.alias !== undefined && wanted.isStandIn !== true;
  const named = isAlias ? targets.filter(({ isStandIn }) => isStandIn !== true) : [wanted];
  if (named.every((target) => demandsTooMuch(target, needs))) throw tooMuchOutput(named, needs);
  const fitting = targets.filter((target) => misfit(target, route, needs) === undefined);
  const [first] = required(fitting, () => unfit(wanted, route, needs));
  // Another model may not answer for a pinned version before that was asked.
  if (route.isPinned && isRequested(route, route.targets[0]) && !isRequested(route, first)) {
    throw unfit(route.targets[0], route, needs);
  }
  const reasonOf = (target: RouteTarget) =>
    fitting.includes(target) ? undefined : (misfit(target, route, needs) ?? 'unpriced');
  return passOver(route, reasonOf) ?? route;
}

/** The route without the targets that have a reason against them; undefined if none is left. */
export function passOver(
  route: Route,
  reasonOf: (target: RouteTarget) => PassedOver['reason'] | undefined,
): Route | undefined {
  const reasons = new Map(route.targets.map((target) => [target, reasonOf(target)]));
  const [first, ...rest] = route.targets.filter((target) => reasons.get(target) === undefined);
  if (first === undefined) return undefined;
  const start = route.targets.indexOf(first);
  const skipped = (from: number, to?: number) =>
    route.targets.slice(from, to).flatMap((target): readonly PassedOver[] => {
      const reason = reasons.get(target);
      return reason === undefined ? [] : [{ target, reason }];
    });
  const passedOver = [...(route.passedOver ?? []), ...skipped(0, start)];
  const unfit = [...(route.unfit ?? []), ...skipped(start)];
  return {
    ...{ ...route, targets: [first, ...rest] },
    ...(passedOver.length === 0 ? {} : { passedOver }),
    ...(unfit.length === 0 ? {} : { unfit }),
  };
}

/** True if every target has room for this many tokens, and takes images if there are any. */

const isRequested = (route: Route, target: RouteTarget) => isSameTarget(route.requested, target);

function keepPriced(
  route: Route,
  isPriced: (target: RouteTarget) => boolean,
  pricedBy: RouteNeeds['pricedBy'],
): readonly RouteTarget[] {
  const { targets } = route;
  const [first] = targets;
  const refused = !isPriced(first) && route.alias === undefined && isRequested(route, first);
  return required(refused ? [] : targets.filter(isPriced), () => notPriced(targets, pricedBy));
}

/**
 * Reason why a target can't serve the request. A fallback refuses an output limit above its maximum; the requested
 * target decides by itself. A limit that may be lowered always fits.
 */
function misfit(target: RouteTarget, route: Route, needs: RouteNeeds): PassedOver['reason'] | undefined {
  if (needs.hasImages === true && !takesImages(target)) return 'no_vision';
  const { contextWindow, maxOutputTokens } = limitsOf(target);
  const isDemanded = needs.outputParam !== undefined;
  const outputTokens = isDemanded ? needs.outputTokens : Math.min(needs.outputTokens, maxOutputTokens);
  if (needs.inputTokens + outputTokens > contextWindow) return 'context_window';
  return outputTokens <= maxOutputTokens || isRequested(route, target) ? undefined : 'max_output_tokens';
}

/** The prompt fits, but not beside an output that exceeds the model's maximum anyway. */
function demandsTooMuch(target: RouteTarget, { inputTokens, outputTokens, outputParam }: RouteNeeds): boolean {
  const isBeyond = outputTokens > mostOutput(target);
  return outputParam !== undefined && isBeyond && inputTokens + outputTokens > limitsOf(target).contextWindow;
}

function mostOutput(target: RouteTarget): number {
  const { contextWindow, maxOutputTokens } = limitsOf(target);
  return Math.min(maxOutputTokens, contextWindow);
}

function limitsOf({ priced }: RouteTarget) {
  const { contextWindow = Number.POSITIVE_INFINITY, maxOutputTokens = Number.POSITIVE_INFINITY } = priced ?? {};
  return { contextWindow, maxOutputTokens };
}

function required(targets: readonly RouteTarget[], refusal: () => GatewayError): [RouteTarget, ...RouteTarget[]] {
  const [first, ...rest] = targets;
  if (first === undefined) throw refusal();
  return [first, ...rest];
}

function notPriced(targets: readonly RouteTarget[], pricedBy: readonly TokenClass[] = TEXT_CLASSES): GatewayError {
  const [target] = targets;
  const missing = pricedBy.filter((name) => !coversClasses(target?.priced, [name]));
  const kind = target?.priced === undefined ? '' : ` for this kind of request (${missing.join(' and ')})`;
  return new GatewayError(
    'model_not_priced',
    `The model "${target?.provider}/${target?.model}" has no price${kind}, and this project refuses unpriced models. ` +
      'The operator can set a price (PUT /admin/v1/models) or, without strict caps, the policy "allow_unpriced".',
    { param: 'model' },
  );
}

function tooMuchOutput(
  named: readonly RouteTarget[],
  { model, outputTokens, outputParam = 'max_tokens' }: RouteNeeds,
): GatewayError {
  const most = Math.max(...named.map(mostOutput));
  return new GatewayError(
    'invalid_request',
    `"${outputParam}" is ${outputTokens}, but "${shownName(model)}" writes at most ${most} tokens. Lower it.`,
    { param: outputParam },
  );
}

const unfit = (target: RouteTarget, route: Route, needs: RouteNeeds): GatewayError =>
  misfit(target, route, needs) === 'no_vision' ? blind(target, needs) : tooLong(target, needs);

function blind({ provider, model }: RouteTarget, needs: RouteNeeds): GatewayError {
  return invalidRequest(
    'messages',
    `This request has images, but "${shownName(needs.model)}" takes none. Ask a model with vision (GET /v1/models?capability=vision). ` +
      `If ${shownName(`${provider}/${model}`)} has vision, the operator can add it (PATCH /admin/v1/models, capabilities).`,
  );
}

function tooLong(target: RouteTarget, needs: RouteNeeds): GatewayError {
  const output = needs.outputTokens > 0 ? ` and asks for up to ${needs.outputTokens} of output` : '';
  return new GatewayError(
    'context_length_exceeded',
    `This request has about ${needs.inputTokens} tokens of input${output}; "${shownName(needs.model)}" has a context ` +
      `window of ${target.priced?.contextWindow ?? 0} tokens. Shorten the messages or lower max_tokens.`,
    { param: 'messages' },
  );
}
