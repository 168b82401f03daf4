import { exactCacheKey } from '@llm0/core/cache/cache-key';
import type { ChatRequest } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { ApiKey, Principal, Project } from '@llm0/core/keys/api-key';
import type { AdmitPlan } from '@llm0/core/limits/hot-store';
import type { DialectName } from '@llm0/core/logs/log-record';
import { estimateHold } from '@llm0/core/pricing/estimate-cost';
import { guessTokens, type RequestWeight, weighRequest } from '@llm0/core/pricing/estimate-tokens';
import { narrowRoute, notAllowed } from '@llm0/core/routing/narrow-route';
import { orderTargets } from '@llm0/core/routing/order-targets';
import { type Route, type RouteTarget, type RoutingTables, resolveTargets } from '@llm0/core/routing/resolve-targets';
import { type Target, targetKey } from '@llm0/core/routing/target';
import type { Services } from '../../services/contract';
import type { Exchange } from './open-exchange';

/** One way of serving the request: where it would go, what it would hold, and how its answer is cached. */
export interface RequestPlan {
  readonly request: ChatRequest;
  readonly route: Route;
  readonly admit: AdmitPlan;
  /** Absent when the answer may not be cached. */
  readonly cacheKey?: string;
  /** Output limit to send upstream where the request has none (strict caps). */
  readonly outputLimit?: number;
  /** Attempts the hold covers (strict caps), else unlimited. */
  readonly maxAttempts: number;
}

export interface PlanInput {
  readonly exchange: Exchange;
  readonly principal: Principal;
  readonly dialect: DialectName;
  readonly request: ChatRequest;
}

/** Resolves, prices and keys a request; throws for models that may not be called. Touches no store. */
export function planRequest(services: Pick<Services, 'routing'>, input: PlanInput): RequestPlan {
  const { exchange, principal, request } = input;
  const { project } = principal;
  const tables = services.routing();
  const isCount = request.countOnly === true;
  const weight = isCount ? NO_WEIGHT : weighRequest(request);
  if (project.strictCaps) checkBounded(weight, request);
  const route = planRoute(input, tables, weight);
  const hold = isCount
    ? NO_HOLD
    : estimateHold(request, weight, route.targets.map(pricedOf), {
        strict: project.strictCaps,
        defaultOutputTokens: project.defaultOutputTokens,
      });
  const cacheKey = cacheable(project, exchange) ? exactCacheKey(project.id, route.scope, request) : undefined;
  return {
    request,
    route,
    cacheKey,
    outputLimit: project.strictCaps && request.maxOutputTokens === undefined ? project.defaultOutputTokens : undefined,
    maxAttempts: project.strictCaps ? 1 : Number.POSITIVE_INFINITY,
    admit: {
      model: route.limitName,
      holdNanoUsd: hold.holdNanoUsd,
      lostNanoUsd: project.strictCaps ? hold.holdNanoUsd : hold.inputNanoUsd,
      tokens: hold.tokens,
      cacheKey: exchange.controls.cache === 'normal' ? cacheKey : undefined,
      lostRecord: lostRecord(input, route.targets[0], project.strictCaps ? hold.holdNanoUsd : hold.inputNanoUsd),
    },
  };
}

/** Counting tokens costs nothing, however large the input. */
const NO_HOLD = { holdNanoUsd: 0, inputNanoUsd: 0, tokens: 0 } as const;
const NO_WEIGHT: RequestWeight = {
  textBytes: 0,
  unknownBytes: 0,
  messages: 0,
  images: 0,
  audios: 0,
  files: 0,
  builtInTools: 0,
};

function cacheable(project: Project, exchange: Exchange): boolean {
  return project.cacheEnabled && exchange.controls.cache !== 'off';
}

/** `allowed_models` holds one of the names; an entry that ends in `*` matches as a prefix. */
export function isModelAllowed(key: ApiKey, names: readonly string[]): boolean {
  if (key.allowedModels === null) return true;
  return key.allowedModels.some((entry) =>
    entry.endsWith('*') ? names.some((name) => name.startsWith(entry.slice(0, -1))) : names.includes(entry),
  );
}

const pricedOf = (target: RouteTarget) => target.priced;

/** Where this request may go: what the key allows, what has a price where a cap applies, what is large enough. */
function planRoute(input: PlanInput, tables: RoutingTables, weight: RequestWeight): Route {
  const { request, principal } = input;
  const { key, project } = principal;
  const resolved = resolveTargets(request.model, tables, project.id);
  const strictOutput = project.strictCaps ? project.defaultOutputTokens : 0;
  const route = narrowRoute(resolved, {
    model: request.model,
    inputTokens: guessTokens(weight.textBytes),
    outputTokens: request.maxOutputTokens ?? strictOutput,
    refusesUnpriced: refusesUnpriced(principal),
    isAllowed: key.allowedModels === null ? undefined : allowedPart(key, request.model, resolved),
  });
  if (route.strategy === 'priority') return route;
  const costOf = ({ priced }: RouteTarget) =>
    priced && estimateHold(request, weight, [priced], { ...project, strict: false }).holdNanoUsd;
  const [first = route.targets[0], ...rest] = orderTargets(route.strategy, route.targets, { ...tables, costOf });
  return { ...route, targets: [first, ...rest] };
}

/**
 * Who may call a name may call all that stands behind it, fallbacks included: they are the operator's choice. An alias
 * with several targets that is not allowed by its own name is narrowed to those that are. Throws `model_not_allowed`.
 */
export function allowedPart(key: ApiKey, model: string, route: Route): ((target: Target) => boolean) | undefined {
  const isAllowed = (target: Target) => isModelAllowed(key, [target.model, targetKey(target)]);
  const isList = route.alias !== undefined && route.scope !== targetKey(route.targets[0]);
  if (isModelAllowed(key, [model]) || (!isList && isAllowed(route.requested))) return undefined;
  if (isList) return isAllowed;
  throw notAllowed(model);
}

/** A cap applies (or the policy says so): what has no price may not be called. */
export function refusesUnpriced({ key, project }: Principal): boolean {
  if (project.strictCaps) return true;
  const capped = project.monthlyCapNanoUsd !== null || key.budgetNanoUsd !== null;
  return (project.unknownModelPolicy ?? (capped ? 'refuse' : 'allow_unpriced')) === 'refuse';
}

/** Under an absolute cap nothing may be sent whose cost has no bound. */
function checkBounded(weight: RequestWeight, request: ChatRequest): void {
  const media = weight.images + weight.audios + weight.files;
  if (media === 0 && weight.builtInTools === 0 && request.extra.audio === undefined) return;
  throw new GatewayError(
    'request_over_limit',
    'This project has strict caps: media and vendor-built-in tools are refused because their cost has no bound.',
    { param: weight.builtInTools > 0 ? 'tools' : 'messages' },
  );
}

/** The part of a lost request's row that is the same for all, written as JSON once. */
const LOST_CONSTANTS = JSON.stringify({
  tokensIn: 0,
  tokensOut: 0,
  tokensCacheRead: 0,
  tokensCacheWrite: 0,
  tokensReasoning: 0,
  savedNanoUsd: 0,
  costEstimated: true,
  latencyMs: 0,
  cacheHit: false,
  semanticCacheHit: false,
  failoverCount: 0,
  status: 'error',
  httpStatus: 502,
  errorCode: 'gateway_lost',
  errorMessage: 'The gateway process handling this request died; the input part of its hold was booked.',
}).slice(1);

interface LostInput extends Omit<PlanInput, 'request'> {
  readonly request: { readonly model: string; readonly stream: boolean };
}

/** What the reaper writes when this process dies; the store adds `createdAtMs`. */
export function lostRecord(input: LostInput, { provider, model }: Target, lostNanoUsd: number): string {
  const { exchange, principal, request } = input;
  const own = JSON.stringify({
    id: exchange.requestId,
    projectId: principal.project.id,
    apiKeyId: principal.key.id,
    clientRequestId: exchange.clientRequestId,
    dialect: input.dialect,
    model,
    requestedModel: request.model,
    provider,
    costNanoUsd: lostNanoUsd,
    stream: request.stream,
    customerId: exchange.customerId,
    labels: exchange.labels,
  });
  return `${own.slice(0, -1)},${LOST_CONSTANTS}`;
}
