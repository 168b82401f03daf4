import { type ApiKey, type Labels, labelsOf, levelWithout, type Principal } from '@llm0/core/keys/api-key';
import type { AdmitPlan } from '@llm0/core/limits/hot-store';
import { type DialectName, MODALITY_OF } from '@llm0/core/logs/log-record';
import type { HoldEstimate, HoldOptions } from '@llm0/core/pricing/estimate-cost';
import type { PricedModel } from '@llm0/core/pricing/price-book';
import type { FailoverSetting } from '@llm0/core/routing/failover-mode';
import { allowedTargets, providerNotAllowed, soleTarget, withinProviders } from '@llm0/core/routing/named-targets';
import { type Route, type RoutingTables, resolveTargets } from '@llm0/core/routing/resolve-targets';
import type { Target } from '@llm0/core/routing/target';
import type { RequestContext } from './open-context';

/** What key, project and tables decide about requests for a model: made once, shared by all of them. */
export interface PreparedRoute {
  /** Every target that the key may ask; a request narrows it by its size. */
  readonly route: Route;
  /** Every target has a price where one is required. */
  readonly isPriced: boolean;
  /** Models without a price are refused. */
  readonly refusesUnpriced: boolean;
  /** Prices of its targets; undefined without one. */
  readonly prices: readonly (PricedModel | undefined)[];
  readonly hold: HoldOptions;
  /** Unless the request says otherwise. */
  readonly dropParams: boolean;
  /** The first target's part of a lost request's row. */
  readonly lostFacts: string;
}

export interface RouteChoice {
  readonly model: string;
  /** `X-LLM0-Failover`. */
  readonly failover?: 'off' | undefined;
}

/** Callers make up names, so all of them go at once beyond this number. */
const MOST_PREPARED = 10_000;

/** Prepared routes of the same tables: new tables, keys or projects are new objects, so nothing is invalidated. */
class PreparedRoutes {
  byPrincipal = new WeakMap<Principal, Map<string, PreparedRoute>>();
  private size = 0;

  keep(principal: Principal, model: string, prepared: PreparedRoute): void {
    if (this.size >= MOST_PREPARED) {
      this.byPrincipal = new WeakMap();
      this.size = 0;
    }
    const known = this.byPrincipal.get(principal) ?? new Map<string, PreparedRoute>();
    this.byPrincipal.set(principal, known.set(model, prepared));
    this.size += 1;
  }
}

const BY_TABLES = new WeakMap<RoutingTables, PreparedRoutes>();

/** The prepared route of a name; throws for models that may not be called. */
export function preparedRoute(principal: Principal, tables: RoutingTables, choice: RouteChoice): PreparedRoute {
  if (choice.failover === 'off') return prepareRoute(principal, tables, choice);
  let routes = BY_TABLES.get(tables);
  if (routes === undefined) {
    routes = new PreparedRoutes();
    BY_TABLES.set(tables, routes);
  }
  const known = routes.byPrincipal.get(principal)?.get(choice.model);
  if (known !== undefined) return known;
  const prepared = prepareRoute(principal, tables, choice);
  routes.keep(principal, choice.model, prepared);
  return prepared;
}

function prepareRoute(principal: Principal, tables: RoutingTables, choice: RouteChoice): PreparedRoute {
  const { key, project } = principal;
  const { model } = choice;
  let route = resolveTargets(model, tables, project.id);
  if (choosesModels(key)) {
    route = allowedTargets(route, { model, isAllowed: (names) => isModelAllowed(key, names) });
    if (route.isOwnAlias === true) {
      route = allowedTargets(route, { model, isAllowed: (names) => isWithinLevels(key, names), ignoresName: true });
    }
  }
  const isOff = tables.mode === 'off' || choice.failover === 'off' || failoverOf(principal, route) === 'off';
  if (choosesProviders(key)) {
    route = withinProviders(route, { levelWithout: (provider) => levelWithout(key, provider), isSole: isOff });
  }
  if (isOff) route = soleTarget(route, model);
  const refuses = refusesUnpriced(principal);
  return {
    route,
    isPriced: route.isPriced || !refuses,
    refusesUnpriced: refuses,
    prices: route.targets.map(({ priced }) => priced),
    hold: { strict: project.strictCaps, defaultOutputTokens: project.defaultOutputTokens },
    dropParams: key.dropParams ?? project.dropParams ?? false,
    lostFacts: lostFacts(principal, model, route.targets[0]),
  };
}

/** Key and alias override the project; in a conflict, no fallback. */
function failoverOf({ key, project }: Principal, { failover }: Route): FailoverSetting {
  if (key.failover === 'off' || failover === 'off') return 'off';
  return key.failover ?? failover ?? project.failover ?? 'on';
}

/** Key, project or a level above names the models it may call. */
export const choosesModels = ({ allowedModels, modelsAbove }: ApiKey): boolean =>
  allowedModels !== null || modelsAbove !== undefined;

/** Each `allowed_models` of the key and above it holds one of the names. */
export const isModelAllowed = ({ allowedModels, modelsAbove = [] }: ApiKey, names: readonly string[]): boolean =>
  (allowedModels === null || hasOneOf(allowedModels, names)) && modelsAbove.every((list) => hasOneOf(list, names));

/** Each `allowed_models` of team, organization and user holds one of the names. */
export const isWithinLevels = ({ modelsOfLevels = [] }: ApiKey, names: readonly string[]): boolean =>
  modelsOfLevels.every((list) => hasOneOf(list, names));

/** Key, project or a level above names the providers that may answer. */
const choosesProviders = ({ allowedProviders, providersAbove }: ApiKey): boolean =>
  allowedProviders !== null || providersAbove !== undefined;

/** Throws `model_not_allowed` where an `allowed_providers` lacks the provider. */
export function refuseProvider(key: ApiKey, provider: string): void {
  if (!choosesProviders(key)) return;
  const level = levelWithout(key, provider);
  if (level !== undefined) throw providerNotAllowed(provider, level);
}

/** An entry that ends in `*` matches as a prefix. */
const hasOneOf = (list: readonly string[], names: readonly string[]): boolean =>
  list.some((entry) =>
    entry.endsWith('*') ? names.some((name) => name.startsWith(entry.slice(0, -1))) : names.includes(entry),
  );

/** Under a cap or by policy, models without a price are refused. */
export function refusesUnpriced(principal: Principal): boolean {
  const { project } = principal;
  if (project.strictCaps) return true;
  return (project.unknownModelPolicy ?? (isCapped(principal) ? 'refuse' : 'allow_unpriced')) === 'refuse';
}

/** True if project, key or one of its labels has a spend limit. */
export function isCapped({ key, project, budgets }: Principal): boolean {
  const isMonthly = project.monthlyCapNanoUsd !== null || key.budgetNanoUsd !== null;
  return project.strictCaps || isMonthly || budgets !== undefined;
}

/** Hold of a request until its settlement. Once sent, the input is certainly billed. */
export type PlannedHold = Pick<HoldEstimate, 'holdNanoUsd' | 'inputNanoUsd' | 'tokens'>;

/** Free of charge, however large the input. */
export const NO_HOLD: HoldEstimate = {
  ...{ holdNanoUsd: 0, inputNanoUsd: 0, tokens: 0, outputTokens: 0, answers: 1 },
  context: { promptTokens: 0 },
};

export interface PlannedAdmission {
  /** Name for per-model limits. */
  readonly model: string;
  /** Tried first. */
  readonly target: Target;
  readonly hold: PlannedHold;
  readonly cacheKey?: string | undefined;
  /** See `lostFacts`; absent unless prepared. */
  readonly facts?: string | undefined;
}

/** Hold in the store, and the row for the reaper. If the process dies, the input is booked; under strict caps all of it. */
export function admitPlan(input: AdmittedInput, planned: PlannedAdmission): AdmitPlan {
  const { ctx, principal, dialect, request } = input;
  const { model, target, cacheKey } = planned;
  const { holdNanoUsd, inputNanoUsd, tokens } = planned.hold;
  const isAbsolute = principal.project.strictCaps;
  const lostNanoUsd = isAbsolute ? holdNanoUsd : inputNanoUsd;
  const facts = planned.facts ?? lostFacts(principal, request.model, target);
  const modality = MODALITY_OF[dialect] ?? ctx.modality;
  const labels = labelsOf(principal, ctx.labels);
  const { clientRequestId, runId, trace, customerId } = ctx;
  const hasMore = (clientRequestId ?? runId ?? trace ?? customerId ?? labels) !== undefined;
  const lostRecord =
    `{"id":${JSON.stringify(ctx.requestId)},"dialect":"${dialect}","stream":${request.stream},` +
    `"costNanoUsd":${lostNanoUsd},${facts}${modality === undefined ? '' : `,"modality":"${modality}"`}` +
    `${hasMore ? moreOfLost(ctx, labels) : ''}}`;
  return { model, holdNanoUsd, lostNanoUsd, tokens, isAbsolute, cacheKey, lostRecord };
}

/** Owner of the request, and its row fields. */
export interface AdmittedInput {
  readonly ctx: RequestContext;
  readonly principal: Principal;
  readonly dialect: DialectName;
  readonly request: { readonly model: string; readonly stream: boolean };
}

/** The part of a lost request's row that all requests of the principal to this target share, as JSON members. */
export function lostFacts({ key, project }: Principal, requestedModel: string, { provider, model }: Target): string {
  return JSON.stringify({
    ...{ projectId: project.id, apiKeyId: key.id, model, requestedModel, provider },
    ...{ tokensIn: 0, tokensOut: 0, tokensCacheRead: 0, tokensCacheWrite: 0, tokensReasoning: 0, savedNanoUsd: 0 },
    ...{ costEstimated: true, latencyMs: 0, cacheHit: false, semanticCacheHit: false, failoverCount: 0 },
    ...{ status: 'error', httpStatus: 502, errorCode: 'gateway_lost' },
    errorMessage: 'The gateway process handling this request died; the input part of its hold was booked.',
  }).slice(1, -1);
}

/** Members of a lost request's row that few requests have. */
function moreOfLost({ clientRequestId, runId, trace, customerId }: RequestContext, labels: Labels | undefined): string {
  const { traceId, mark } = trace ?? {};
  const more = JSON.stringify({ clientRequestId, runId, traceId, trace: mark, customerId, labels });
  return more === '{}' ? '' : `,${more.slice(1, -1)}`;
}
