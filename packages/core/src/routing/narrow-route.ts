import { GatewayError } from '../errors/gateway-error';
import { shownName } from './near-names';
import type { Route, RouteTarget } from './routing-tables';
import { isSameTarget } from './target';

/** What one request asks of the targets of its route. */
export interface RouteNeeds {
  /** The name as asked for; for messages. */
  readonly model: string;
  /** Best guess of the prompt, and the output limit it sets, tokens. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** A cap applies: what has no price may not be called. */
  readonly refusesUnpriced: boolean;
  /** Set where the key may not use the whole alias: which of its targets it may. */
  readonly isAllowed?: (target: RouteTarget) => boolean;
}

/**
 * The route without the targets that can't serve this request; the very same one where all can. Throws
 * `model_not_allowed`, `model_not_priced` or `context_length_exceeded` when nothing is left.
 */
export function narrowRoute(route: Route, needs: RouteNeeds): Route {
  const total = needs.inputTokens + needs.outputTokens;
  const fitsAll = total <= route.contextWindow && needs.outputTokens <= route.maxOutputTokens;
  if (fitsAll && needs.isAllowed === undefined && (route.isPriced || !needs.refusesUnpriced)) return route;
  let targets: readonly RouteTarget[] = route.targets;
  if (needs.isAllowed !== undefined) targets = required(targets.filter(needs.isAllowed), () => notAllowed(needs.model));
  if (needs.refusesUnpriced) targets = keepPriced(route, targets);
  const [first, ...rest] = required(
    targets.filter((target) => fits(target, route, needs)),
    () => tooLong(needs, targets),
  );
  // Another model may not answer for a pinned version before that was asked.
  if (route.isPinned && isRequested(route, route.targets[0]) && !isRequested(route, first)) {
    throw tooLong(needs, [route.targets[0]]);
  }
  return { ...route, targets: [first, ...rest] };
}

const isRequested = (route: Route, target: RouteTarget) => isSameTarget(route.requested, target);

function keepPriced(route: Route, targets: readonly RouteTarget[]): readonly RouteTarget[] {
  const [first] = targets;
  const refused = first?.priced === undefined && route.alias === undefined && first && isRequested(route, first);
  const kept = refused ? [] : targets.filter((target) => target.priced !== undefined);
  return required(kept, () => notPriced(targets));
}

/** Where the output limit is above a stand-in's maximum it would refuse; the requested one decides that for itself. */
function fits(target: RouteTarget, route: Route, needs: RouteNeeds): boolean {
  const { contextWindow = Number.POSITIVE_INFINITY, maxOutputTokens = Number.POSITIVE_INFINITY } = target.priced ?? {};
  if (needs.inputTokens + needs.outputTokens > contextWindow) return false;
  return needs.outputTokens <= maxOutputTokens || isRequested(route, target);
}

function required(targets: readonly RouteTarget[], refusal: () => GatewayError): [RouteTarget, ...RouteTarget[]] {
  const [first, ...rest] = targets;
  if (first === undefined) throw refusal();
  return [first, ...rest];
}

/** The key's `allowed_models` have neither the name nor any target behind it. */
export function notAllowed(model: string): GatewayError {
  return new GatewayError('model_not_allowed', `This API key may not call the model "${shownName(model)}".`, {
    param: 'model',
  });
}

function notPriced(targets: readonly RouteTarget[]): GatewayError {
  const [target] = targets;
  return new GatewayError(
    'model_not_priced',
    `The model "${target?.provider}/${target?.model}" has no price, and this project refuses unpriced models. ` +
      'The operator can set a price (PUT /admin/v1/models) or the policy "allow_unpriced".',
    { param: 'model' },
  );
}

function tooLong(needs: RouteNeeds, targets: readonly RouteTarget[]): GatewayError {
  const windows = targets.map((target) => target.priced?.contextWindow ?? 0);
  const output = needs.outputTokens > 0 ? ` and asks for up to ${needs.outputTokens} of output` : '';
  return new GatewayError(
    'context_length_exceeded',
    `This request has about ${needs.inputTokens} tokens of input${output}; "${shownName(needs.model)}" has a context ` +
      `window of ${Math.max(...windows)} tokens. Shorten the messages or lower max_tokens.`,
    { param: 'messages' },
  );
}
