import type { JsonObject, WireFormat } from '@llm0/core/chat/json';
import type { Usage } from '@llm0/core/chat/usage';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Principal } from '@llm0/core/keys/api-key';
import { coversClasses } from '@llm0/core/pricing/class-prices';
import type { PriceBook, PricedModel } from '@llm0/core/pricing/price-book';
import { notAllowed } from '@llm0/core/routing/named-targets';
import { shownName } from '@llm0/core/routing/near-names';
import { COSTS_AS_USUAL, type Costly, type CostlyUse, findCostly } from '@llm0/providers/transport/call-provider';
import { choosesModels, isCapped, isModelAllowed, refusesUnpriced } from './prepared-route';

/** Priced targets. */
export interface CostlyTarget {
  readonly provider: string;
  readonly model: string;
  readonly priced?: PricedModel;
}

/** Effect of a request's fields on its bill. */
export interface CostlyPlan {
  /** Priced models that may answer instead of the target. */
  readonly others?: readonly PricedModel[];
  /** Part of the cost is an estimate, which the row shows; `untold`: unless the usage tells media or fees. */
  readonly isInexact: boolean | 'untold';
  /** Requested tier in lower case. */
  readonly tier?: string;
}

export interface CostlyRequest {
  /** The caller's body. */
  readonly wire: { readonly format: WireFormat; readonly body: JsonObject } | undefined;
  readonly targets: readonly CostlyTarget[];
}

const EXACT: CostlyPlan = { isInexact: false };

/** Throws for models outside of the key's list, and under a cap for fields with an unbounded or unknown cost. */
export function checkCostly(principal: Principal, { wire, targets }: CostlyRequest, prices: PriceBook): CostlyPlan {
  const costly = wire === undefined ? COSTS_AS_USUAL : findCostly(wire.format, wire.body);
  return costly === COSTS_AS_USUAL ? EXACT : judgeCostly({ principal, targets, prices }, costly);
}

interface Judging {
  readonly principal: Principal;
  readonly targets: readonly CostlyTarget[];
  readonly prices: PriceBook;
}

/** Judges what `findCostly` found. */
export function judgeCostly({ principal, targets, prices }: Judging, costly: Costly): CostlyPlan {
  const { uses, tier } = costly;
  const isAsked = (name: string) => targets.some(({ provider, model }) => withoutPrefix(name, provider) === model);
  const names = costly.names.filter(({ name }) => !isAsked(name));
  if (uses.length === 0 && names.length === 0 && tier === undefined) return EXACT;
  for (const use of uses) refuseUse(principal, use);
  const others = names.flatMap(({ name, field }) => pricesOf(principal, { name, field, targets }, prices));
  const isOddTier = checkTier(principal, costly, targets);
  const isOpen = names.length > 0 || uses.some(({ effect }) => effect === 'answers');
  // The price of a tool that usage tells is part of the fee, and not of the answer.
  const isTold = uses.every((use) => use.isTold) && names.every(({ field }) => field === TOOL_MODEL);
  const isUsed = uses.length + names.length > 0;
  const isInexact = isOddTier || (isTold ? isUsed && 'untold' : isUsed);
  return { others: isOpen ? others : undefined, isInexact, tier };
}

const TOOL_MODEL = 'tools.model';

/** True if the bill of this usage is an estimate. */
export function isEstimate({ isInexact = false }: Partial<CostlyPlan>, usage: Usage): boolean {
  if (isInexact !== 'untold') return isInexact;
  const { outputAudioTokens, outputImageTokens = 0, feeNanoUsd = 0 } = usage;
  return outputAudioTokens + outputImageTokens + feeNanoUsd === 0;
}

function refuseUse(principal: Principal, { field, effect }: CostlyUse): void {
  const { key, project } = principal;
  if (effect === 'answers' && choosesModels(key)) {
    const message = `"${field}" lets models answer that this API key may not use. Leave it out.`;
    throw new GatewayError('model_not_allowed', message, { param: field });
  }
  const isRefused = effect === 'strict' ? project.strictCaps : isCapped(principal);
  if (!isRefused) return;
  const caps = effect === 'strict' ? 'strict caps' : 'a spend cap';
  const message = `"${field}" is refused under ${caps}: its cost has no bound, or isn't known in advance. Leave it out.`;
  throw new GatewayError('request_over_limit', message, { param: field });
}

export interface Named {
  readonly name: string;
  readonly field: string;
  readonly targets: readonly CostlyTarget[];
}

/** The name's price at each provider that may be asked. Throws for models outside of the key's list. */
export function pricesOf(
  principal: Principal,
  { name, field, targets }: Named,
  prices: PriceBook,
): readonly PricedModel[] {
  const providers = [...new Set(targets.map(({ provider }) => provider))];
  const spellings = providers.flatMap((provider) => {
    const model = withoutPrefix(name, provider);
    return [model, `${provider}/${model}`];
  });
  if (!isModelAllowed(principal.key, [name, ...spellings])) throw notAllowed(name);
  const found = providers.flatMap((provider) => prices.find(provider, withoutPrefix(name, provider)) ?? []);
  // A tool makes something else than text.
  const isCovered = field === TOOL_MODEL || found.every((priced) => coversClasses(priced));
  if ((found.length > 0 && isCovered) || !refusesUnpriced(principal)) return found;
  const message = `"${shownName(name)}" (in "${field.slice(0, 80)}") has no price, and this project refuses unpriced models.`;
  throw new GatewayError('model_not_priced', message, { param: field.slice(0, 80) });
}

/** `models/x` is how some vendors write `x`. */
function withoutPrefix(name: string, provider: string): string {
  const prefix = ['models/', `${provider}/`].find((one) => name.startsWith(one));
  return prefix === undefined ? name : name.slice(prefix.length);
}

/** Tiers at most as expensive as the default. */
const USUAL_TIERS: ReadonlySet<string> = new Set([
  ...['default', 'standard', 'standard_only', 'auto', 'flex', 'batch', 'on_demand', 'scale', 'reserved'],
]);

const RENAMED_TIERS: Readonly<Record<string, string>> = { fast: 'priority' };

/** True if the price book lacks the tier. */
function checkTier(principal: Principal, { tier }: Costly, targets: readonly CostlyTarget[]): boolean {
  if (tier === undefined || USUAL_TIERS.has(tier)) return false;
  const name = RENAMED_TIERS[tier] ?? tier;
  const isPriced = targets.every(({ priced }) => priced?.prices[`output_${name}`] !== undefined);
  if (!isPriced) refuseUse(principal, { field: 'service_tier', effect: 'capped' });
  return !isPriced;
}
