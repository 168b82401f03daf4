import { exactCacheKey } from '@llm0/core/cache/cache-key';
import type { ChatRequest } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { chosenGuardrails } from '@llm0/core/guardrails/guardrails';
import type { Principal } from '@llm0/core/keys/api-key';
import type { AdmitPlan } from '@llm0/core/limits/hot-store';
import type { DialectName } from '@llm0/core/logs/log-record';
import {
  estimateHold,
  guessContextTokens,
  guessTokens,
  type HoldEstimate,
  NO_WEIGHT,
  type RequestWeight,
  weighRequest,
} from '@llm0/core/pricing/estimate-cost';
import type { PriceBook } from '@llm0/core/pricing/price-book';
import { keepWarm } from '@llm0/core/routing/keep-warm';
import { withoutOthers } from '@llm0/core/routing/named-targets';
import { narrowRoute } from '@llm0/core/routing/narrow-route';
import { orderTargets } from '@llm0/core/routing/order-targets';
import type { Route, RouteTarget, RoutingTables } from '@llm0/core/routing/resolve-targets';
import { fitsAll } from '@llm0/core/routing/routing-tables';
import { COSTS_AS_USUAL, findCostly } from '@llm0/providers/transport/call-provider';
import type { Services } from '../../services/contract';
import { type CostlyPlan, judgeCostly } from './check-costly';
import type { RequestContext } from './open-context';
import { admitPlan, NO_HOLD, type PreparedRoute, preparedRoute } from './prepared-route';

/** One way to serve the request: route, hold and caching. */
export interface RequestPlan extends Partial<CostlyPlan> {
  readonly request: ChatRequest;
  readonly route: Route;
  readonly admit: AdmitPlan;
  readonly hold: HoldEstimate;
  /** Prices at the decision; the answer is billed by them even after a change. */
  readonly prices: PriceBook;
  /** Absent when the answer may not be cached. */
  readonly cacheKey?: string;
  /** Output limit to send upstream where the request has none (strict caps). */
  readonly outputLimit?: number;
  /** Identifies the route in both caches: dropped parameters change the request. */
  readonly cacheScope: string;
  /** Unsupported parameters are dropped instead of refused. */
  readonly dropParams: boolean;
  /** Attempts the hold covers (strict caps), else unlimited. */
  readonly maxAttempts: number;
}

export interface PlanInput {
  readonly ctx: RequestContext;
  readonly principal: Principal;
  readonly dialect: DialectName;
  readonly request: ChatRequest;
  /** Body for the provider, if guardrails changed it. */
  readonly toSend?: ChatRequest | undefined;
}

/** The larger of requested and sent body, for absolute caps. */
function weighSent(request: ChatRequest, toSend: ChatRequest): RequestWeight {
  const asked = weighRequest(request);
  const sent = weighRequest(toSend);
  const bytesOf = ({ textBytes, unknownBytes }: RequestWeight) => textBytes + unknownBytes;
  return bytesOf(sent) > bytesOf(asked) ? sent : asked;
}

/** Resolves, prices and keys a request; throws for models that may not be called. Touches no store. */
export function planRequest(services: Pick<Services, 'routing'>, input: PlanInput): RequestPlan {
  const { ctx, principal, request } = input;
  const { project } = principal;
  const { controls } = ctx;
  const tables = services.routing();
  const isCount = request.countOnly === true;
  // Counting tokens costs nothing.
  const isChanged = input.toSend !== undefined && input.toSend !== request;
  const weight = isCount ? NO_WEIGHT : isChanged ? weighSent(request, input.toSend) : weighRequest(request);
  if (project.strictCaps) checkBounded(weight, request);
  const choice = controls.failover === undefined ? request : { model: request.model, failover: controls.failover };
  const prepared = preparedRoute(principal, tables, choice);
  const route = planRoute(input, prepared, { tables, weight });
  const { targets } = route;
  const found = isCount || request.wire === undefined ? undefined : findCostly(request.wire.format, request.wire.body);
  const isUsual = found === undefined || found === COSTS_AS_USUAL;
  const costly = isUsual ? undefined : judgeCostly({ principal, targets, prices: tables.prices }, found);
  const own = route === prepared.route ? prepared.prices : targets.map(({ priced }) => priced);
  const prices = costly?.others === undefined ? own : [...own, ...costly.others];
  const hold = isCount ? NO_HOLD : estimateHold(request, weight, prices, prepared.hold);
  const dropParams = controls.dropParams ?? prepared.dropParams;
  const asked = dropParams ? `${route.scope} drop_params` : route.scope;
  const isJudged = principal.guardrails !== undefined || controls.guardrail !== undefined;
  const cacheScope = isJudged ? guardedScope(input, asked) : asked;
  const isCached = project.cacheEnabled && controls.cache !== 'off';
  const cacheKey = isCached ? exactCacheKey(project.id, cacheScope, request) : undefined;
  return {
    request,
    route,
    hold,
    prices: tables.prices,
    cacheKey,
    others: costly?.others,
    isInexact: costly?.isInexact,
    tier: costly?.tier,
    cacheScope,
    dropParams,
    outputLimit: project.strictCaps && request.maxOutputTokens === undefined ? project.defaultOutputTokens : undefined,
    maxAttempts: project.strictCaps ? 1 : Number.POSITIVE_INFINITY,
    admit: admitPlan(input, {
      hold,
      model: route.limitName,
      target: targets[0],
      facts: targets[0] === prepared.route.targets[0] ? prepared.lostFacts : undefined,
      cacheKey: controls.cache === 'normal' ? cacheKey : undefined,
    }),
  };
}

/** Answers that were judged by other guardrails are other answers. */
export function guardedScope({ ctx, principal }: Pick<PlanInput, 'ctx' | 'principal'>, scope: string): string {
  const guardrails = chosenGuardrails(principal.guardrails, ctx.controls.guardrail);
  return guardrails === undefined ? scope : `${scope} guardrails ${guardrails.cacheScope(ctx.customerId)}`;
}

interface Weighed {
  readonly tables: RoutingTables;
  readonly weight: RequestWeight;
}

/** The prepared route with a large enough context, in its strategy's order. */
function planRoute(
  { request, principal, ctx }: PlanInput,
  prepared: PreparedRoute,
  { tables, weight }: Weighed,
): Route {
  const { project } = principal;
  const strictOutput = project.strictCaps ? project.defaultOutputTokens : 0;
  const size = {
    inputTokens: request.prompt === undefined ? guessTokens(weight.textBytes) : guessContextTokens(request.prompt),
    outputTokens: request.maxOutputTokens ?? strictOutput,
    hasImages: weight.images > 0,
  };
  const isFit = prepared.isPriced && fitsAll(prepared.route, size);
  const { model } = request;
  const { refusesUnpriced } = prepared;
  const route = isFit
    ? prepared.route
    : narrowRoute(prepared.route, { ...size, model, outputParam: demandedLimit(request), refusesUnpriced });
  if (route.alias === undefined || route.targets.length === 1) return route;
  const ordered = orderedRoute(
    route,
    tables,
    ({ priced }) => priced && estimateHold(request, weight, [priced], { ...prepared.hold, strict: false }).holdNanoUsd,
  );
  return withoutOthers(keepWarm(ordered, { projectId: project.id, session: ctx.session, request }, tables));
}

/** The route in its strategy's order. `costOf`: undefined for a target without a price. */
export function orderedRoute(
  route: Route,
  tables: RoutingTables,
  costOf: (target: RouteTarget) => number | undefined,
): Route {
  const [first = route.targets[0], ...rest] = orderTargets(route.strategy, route.targets, { ...tables, costOf });
  return { ...route, targets: [first, ...rest] };
}

/** Formats in which every request must name a limit are full of limits that no model has. */
function demandedLimit({ wire }: ChatRequest): string | undefined {
  if (wire === undefined || wire.format === 'anthropic-messages') return undefined;
  return LIMIT_FIELDS.find((name) => wire.body[name] != null);
}

const LIMIT_FIELDS = ['max_completion_tokens', 'max_tokens', 'max_output_tokens'] as const;

/** An absolute cap refuses requests without a bound on their cost. */
function checkBounded(weight: RequestWeight, request: ChatRequest): void {
  const media = weight.images + weight.audios + weight.files;
  if (media === 0 && weight.builtInTools === 0 && request.extra.audio === undefined) return;
  throw new GatewayError(
    'request_over_limit',
    'This project has strict caps: media and vendor-built-in tools are refused because their cost has no bound.',
    { param: weight.builtInTools > 0 ? 'tools' : 'messages' },
  );
}
