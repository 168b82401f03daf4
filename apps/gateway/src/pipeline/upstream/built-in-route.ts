import { BUILT_IN } from '@llm0/core/embedding/built-in-embeddings';
import { type ApiKey, levelWithout } from '@llm0/core/keys/api-key';
import type { PricedModel } from '@llm0/core/pricing/price-book';
import { notAllowed } from '@llm0/core/routing/named-targets';
import type { Route, RouteTarget, RoutingTables } from '@llm0/core/routing/resolve-targets';
import { targetKey } from '@llm0/core/routing/target';
import type { Authenticated } from '../request/authenticate';
import { isModelAllowed, refuseProvider } from '../request/prepared-route';

const BUILT_IN_NAME = targetKey(BUILT_IN);
const NAMES = [BUILT_IN_NAME, BUILT_IN.model];
const BUILT_IN_TARGET: RouteTarget = {
  ...BUILT_IN,
  weight: 1,
  priced: { ...BUILT_IN, mode: 'embedding', prices: { input: 0, output: 0 }, capabilities: ['rerank'] },
};
const BUILT_IN_ROUTE: Route = {
  scope: BUILT_IN_NAME,
  requested: BUILT_IN,
  targets: [BUILT_IN_TARGET],
  isPinned: true,
  limitName: BUILT_IN.model,
  strategy: 'priority',
  isPriced: true,
  contextWindow: Number.POSITIVE_INFINITY,
  maxOutputTokens: Number.POSITIVE_INFINITY,
  takesImages: false,
};

/** True for the model that runs in this process. */
export function isBuiltIn(target: RouteTarget): boolean {
  return target === BUILT_IN_TARGET;
}

/** That model with its price; undefined where the key can't call it. */
export function builtInModel(key: ApiKey, tables: RoutingTables): PricedModel | undefined {
  const isOurs = !tables.providers.has(BUILT_IN.provider);
  const isAllowed = isModelAllowed(key, NAMES) && levelWithout(key, BUILT_IN.provider) === undefined;
  return isOurs && isAllowed ? BUILT_IN_TARGET.priced : undefined;
}

/** The route to that model; undefined for other names. Throws `model_not_allowed`. */
export function builtInRoute(model: string, { key }: Authenticated, tables: RoutingTables): Route | undefined {
  if (model !== BUILT_IN_NAME || tables.providers.has(BUILT_IN.provider)) return undefined;
  if (!isModelAllowed(key, NAMES)) throw notAllowed(model);
  refuseProvider(key, BUILT_IN.provider);
  return BUILT_IN_ROUTE;
}
