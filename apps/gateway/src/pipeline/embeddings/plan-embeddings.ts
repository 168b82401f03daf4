import { type CachedEmbedding, decodeCachedEmbedding, embeddingCacheKey } from '@llm0/core/cache/cached-embedding';
import {
  type EmbeddingInput,
  type EmbeddingRequest,
  estimateInputTokens,
} from '@llm0/core/embedding/embedding-request';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import type { AdmitPlan } from '@llm0/core/limits/hot-store';
import { priceOf, VECTOR_CLASSES } from '@llm0/core/pricing/class-prices';
import { roundedNanoUsd } from '@llm0/core/pricing/compute-cost';
import { withoutOthers } from '@llm0/core/routing/named-targets';
import { narrowRoute } from '@llm0/core/routing/narrow-route';
import { shownName } from '@llm0/core/routing/near-names';
import type { Route, RouteTarget, RoutingTables } from '@llm0/core/routing/resolve-targets';
import { makesEmbeddings } from '@llm0/providers/transport/call-embeddings';
import type { Services } from '../../services/contract';
import type { AdmitInput, Planner } from '../request/admit';
import { type CostlyPlan, checkCostly } from '../request/check-costly';
import { guardedScope, orderedRoute } from '../request/plan-request';
import { admitPlan, preparedRoute } from '../request/prepared-route';
import { builtInRoute } from '../upstream/built-in-route';

/** A request with its cached vectors. */
export interface EmbeddingJob {
  readonly model: string;
  readonly request: EmbeddingRequest;
  /** By input. */
  readonly known: ReadonlyMap<number, CachedEmbedding>;
  /** Body for the provider, if guardrails changed it; caches use the original. */
  readonly toSend?: EmbeddingRequest;
}

export interface EmbeddingPlan extends CostlyPlan {
  readonly request: EmbeddingRequest;
  readonly toSend?: EmbeddingRequest | undefined;
  readonly route: Route;
  readonly admit: AdmitPlan;
  /** Exact-cache key of each input; absent when nothing may be cached. */
  readonly keys?: readonly string[];
  readonly known: EmbeddingJob['known'];
  /** Inputs, by index, that the cache does not have. */
  readonly missing: readonly number[];
  /** Unsupported parameters are dropped instead of refused. */
  readonly dropParams: boolean;
  /** Attempts the hold covers (strict caps), else unlimited. */
  readonly maxAttempts: number;
}

/** Plans embedding requests for the decision. */
export const EMBEDDINGS: Planner<EmbeddingJob, EmbeddingPlan, CachedEmbedding> = {
  plan: planEmbeddings,
  // Vectors of another model cannot be compared with this one's.
  withModel: () => {
    const message = "This customer reached its spend limit. Embeddings can't be downgraded.";
    throw new GatewayError('customer_spend_limit', message, { param: 'customer' });
  },
  decodeStored: decodeCachedEmbedding,
};

/** Resolves, prices and keys a request; throws for models that may not be called. Touches no store. */
export function planEmbeddings(
  services: Pick<Services, 'routing' | 'connect'>,
  input: AdmitInput<EmbeddingJob>,
): EmbeddingPlan {
  const { ctx, principal } = input;
  const { request, known, toSend } = input.request;
  const { project } = principal;
  const route = routeOf(services, input);
  const missing = request.inputs.flatMap((_input, index) => (known.has(index) ? [] : [index]));
  const cacheable = project.cacheEnabled && ctx.controls.cache !== 'off';
  const scope = guardedScope(input, route.scope);
  const keys = cacheable
    ? request.inputs.map((_one, index) => embeddingCacheKey({ projectId: project.id, scope }, request, index))
    : undefined;
  const inputs = missing.map((index) => (toSend ?? request).inputs[index] as EmbeddingInput);
  const tokens = estimateInputTokens(inputs, project.strictCaps);
  const wire = { format: 'openai-chat', body: request.extra } as const;
  const costly = checkCostly(principal, { wire, targets: route.targets }, services.routing().prices);
  const holdNanoUsd = dearest([...route.targets, ...(costly.others ?? []).map((priced) => ({ priced }))], tokens);
  // Asks for one key: a single input's, or where all are known, so that it counts as a hit.
  const asked = ctx.controls.cache === 'normal' && (request.inputs.length === 1 || missing.length === 0);
  return {
    ...{ request, toSend, route, keys, known, missing, ...costly },
    dropParams: ctx.controls.dropParams ?? principal.key.dropParams ?? project.dropParams ?? false,
    maxAttempts: project.strictCaps ? 1 : Number.POSITIVE_INFINITY,
    admit: admitPlan(
      { ...input, request: { model: request.model, stream: false } },
      {
        ...{ model: route.limitName, target: route.targets[0] },
        hold: { holdNanoUsd, inputNanoUsd: holdNanoUsd, tokens: missing.length === 0 ? 0 : tokens },
        cacheKey: asked ? keys?.[0] : undefined,
      },
    ),
  };
}

function dearest(targets: readonly Pick<RouteTarget, 'priced'>[], tokens: number): number {
  const costs = targets.map(({ priced }) =>
    priced === undefined ? 0 : roundedNanoUsd([[tokens, priceOf(priced.prices, 'input', { promptTokens: tokens })]]),
  );
  return Math.max(0, ...costs);
}

function routeOf(services: Pick<Services, 'routing' | 'connect'>, input: AdmitInput<EmbeddingJob>): Route {
  const { project } = input.principal;
  const { model } = input.request;
  const tables = services.routing().forProject(project.id);
  const builtIn = builtInRoute(model, input.principal, tables);
  if (builtIn !== undefined) return builtIn;
  const { failover } = input.ctx.controls;
  const { route: whole, refusesUnpriced } = preparedRoute(input.principal, tables, { model, failover });
  const route = narrowRoute(whole, {
    ...{ model, inputTokens: 0, outputTokens: 0, refusesUnpriced },
    pricedBy: VECTOR_CLASSES,
  });
  const targets = sameModel(services, { route, tables, projectId: project.id });
  return withoutOthers(orderedRoute({ ...route, targets }, tables, inputPrice));
}

/** Only the same model may stand in: vectors of others aren't comparable. */
function sameModel(
  services: Pick<Services, 'connect'>,
  { route, tables, projectId }: { readonly route: Route; readonly tables: RoutingTables; readonly projectId: string },
): readonly [RouteTarget, ...RouteTarget[]] {
  const [wanted] = route.targets;
  const [first, ...rest] = route.targets.filter((target) => {
    const provider = services.connect(target, projectId)?.provider;
    return target.model === wanted.model && provider !== undefined && makesEmbeddings(provider);
  });
  const isChat = tables.prices.isListed(wanted.provider, wanted.model) && wanted.priced?.mode !== 'embedding';
  if (first !== undefined && !isChat) return [first, ...rest];
  const name = shownName(route.alias ?? wanted.model);
  throw invalidRequest('model', `"${name}" has no embeddings. Name an embedding model.`);
}

const inputPrice = ({ priced }: RouteTarget) => priced && priceOf(priced.prices, 'input', { promptTokens: 0 });
