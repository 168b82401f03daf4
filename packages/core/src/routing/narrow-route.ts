import { GatewayError } from '../errors/gateway-error';
import { shownName } from './near-names';
import type { PassedOver, Route, RouteTarget } from './routing-tables';
import { isSameTarget } from './target';

/** A request's call to the targets of its route. */
export interface RouteNeeds {
  /** The name as asked for; for messages. */
  readonly model: string;
  /** Best guess of the prompt, and the output limit it sets, tokens. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Field that demands the limit; absent if it may be lowered to the model's. */
  readonly outputParam?: string;
  /** Under a cap, models without a price are refused. */
  readonly refusesUnpriced: boolean;
}

/**
 * The route without the targets that can't serve this request; the very same one where all can. Throws
 * `model_not_priced` or `context_length_exceeded` when nothing is left, and `invalid_request` where only the caller's
 * output limit is too much for the first of them.
 */
export function narrowRoute(route: Route, needs: RouteNeeds): Route {
  if (fitsAll(route, needs) && (route.isPriced || !needs.refusesUnpriced)) return route;
  const targets = needs.refusesUnpriced ? keepPriced(route, route.targets) : route.targets;
  const [wanted] = required(targets, () => notPriced(route.targets));
  // All targets of an alias count by its name; fallbacks of a model don't.
  const isAlias = route.alias !== undefined && wanted.isStandIn !== true;
  const named = isAlias ? targets.filter(({ isStandIn }) => isStandIn !== true) : [wanted];
  if (named.every((target) => demandsTooMuch(target, needs))) throw tooMuchOutput(named, needs);
  const fitting = targets.filter((target) => misfit(target, route, needs) === undefined);
  const [first, ...rest] = required(fitting, () => tooLong(wanted, needs));
  // Another model may not answer for a pinned version before that was asked.
  if (route.isPinned && isRequested(route, route.targets[0]) && !isRequested(route, first)) {
    throw tooLong(route.targets[0], needs);
  }
  const passedOver = route.targets.slice(0, route.targets.indexOf(first)).map((target): PassedOver => {
    return { target, reason: misfit(target, route, needs) ?? 'unpriced' };
  });
  return { ...route, targets: [first, ...rest], ...(passedOver.length === 0 ? {} : { passedOver }) };
}

/** True if every target has room for this many tokens. */
export const fitsAll = (
  { contextWindow, maxOutputTokens }: Route,
  { inputTokens, outputTokens }: Pick<RouteNeeds, 'inputTokens' | 'outputTokens'>,
): boolean => inputTokens + outputTokens <= contextWindow && outputTokens <= maxOutputTokens;

const isRequested = (route: Route, target: RouteTarget) => isSameTarget(route.requested, target);

function keepPriced(route: Route, targets: readonly RouteTarget[]): readonly RouteTarget[] {
  const [first] = targets;
  const refused = first?.priced === undefined && route.alias === undefined && first && isRequested(route, first);
  const kept = refused ? [] : targets.filter((target) => target.priced !== undefined);
  return required(kept, () => notPriced(targets));
}

/**
 * Reason why a target can't serve the request. A fallback refuses an output limit above its maximum; the requested
 * target decides by itself. A limit that may be lowered always fits.
 */
function misfit(target: RouteTarget, route: Route, needs: RouteNeeds): PassedOver['reason'] | undefined {
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

function notPriced(targets: readonly RouteTarget[]): GatewayError {
  const [target] = targets;
  return new GatewayError(
    'model_not_priced',
    `The model "${target?.provider}/${target?.model}" has no price, and this project refuses unpriced models. ` +
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

function tooLong(target: RouteTarget, needs: RouteNeeds): GatewayError {
  const output = needs.outputTokens > 0 ? ` and asks for up to ${needs.outputTokens} of output` : '';
  return new GatewayError(
    'context_length_exceeded',
    `This request has about ${needs.inputTokens} tokens of input${output}; "${shownName(needs.model)}" has a context ` +
      `window of ${target.priced?.contextWindow ?? 0} tokens. Shorten the messages or lower max_tokens.`,
    { param: 'messages' },
  );
}
