import { CACHED_TASK_CODEC, type CachedTask, taskCacheKey } from '@llm0/core/cache/cached-task';
import type { JsonObject } from '@llm0/core/chat/json';
import { completionTokens, promptTokens, type Usage } from '@llm0/core/chat/usage';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Principal, Project } from '@llm0/core/keys/api-key';
import type { AdmitPlan } from '@llm0/core/limits/hot-store';
import { type Cost, computeCost, UNPRICED } from '@llm0/core/pricing/compute-cost';
import { isFree, type PriceBook, type PricedModel } from '@llm0/core/pricing/price-book';
import { mayAnswer, withoutOthers } from '@llm0/core/routing/named-targets';
import { passOver } from '@llm0/core/routing/narrow-route';
import { shownName } from '@llm0/core/routing/near-names';
import type { Route, RouteTarget } from '@llm0/core/routing/resolve-targets';
import { isSameTarget, type Target } from '@llm0/core/routing/target';
import type { TaskRequest } from '@llm0/core/tasks/task-request';
import type { Services } from '../../services/contract';
import type { AdmitInput, Planner } from '../request/admit';
import { type CostlyPlan, checkCostly, pricesOf } from '../request/check-costly';
import type { RequestContext } from '../request/open-context';
import { guardedScope, orderedRoute } from '../request/plan-request';
import { admitPlan, preparedRoute } from '../request/prepared-route';
import { builtInRoute } from '../upstream/built-in-route';
import type { Task } from './task';

/** One request on its way to the decision. */
export interface TaskJob<R extends TaskRequest> {
  readonly model: string;
  readonly request: R;
  /** See `digestTask`; absent where nothing is kept. */
  readonly digest?: string | undefined;
  /** Body for the provider, if guardrails changed it; caches use the original. */
  readonly toSend?: R | undefined;
}

export interface TaskPlan<R extends TaskRequest> extends CostlyPlan {
  readonly request: R;
  readonly toSend?: R | undefined;
  readonly route: Route;
  readonly admit: AdmitPlan;
  /** Prices of a model that works beside the target; empty where there is none. */
  readonly helpers: readonly PricedModel[];
  /** See `RequestPlan`. */
  readonly prices: PriceBook;
  /** Absent where the answer may not be cached. */
  readonly cacheKey?: string | undefined;
  /** Unsupported parameters are dropped instead of refused. */
  readonly dropParams: boolean;
  /** Attempts the hold covers (strict caps), else unlimited. */
  readonly maxAttempts: number;
}

type Needs = Pick<Services, 'routing' | 'connect'>;

/** Plans requests of one task for the decision. */
export function taskPlanner<R extends TaskRequest, A extends JsonObject>(
  task: Task<R, A>,
): Planner<TaskJob<R>, TaskPlan<R>, CachedTask<A>> {
  return {
    plan: (services, input) => planTask(services, task, input),
    // A model for text is no answer.
    withModel: () => {
      const message = `This customer reached its spend limit. A request for ${task.noun} can't be downgraded.`;
      throw new GatewayError('customer_spend_limit', message, { param: 'customer' });
    },
    decodeStored: (value, { route }) => {
      const stored = CACHED_TASK_CODEC.decode(value) as CachedTask<A> | undefined;
      return stored !== undefined && mayAnswer(route, stored) ? stored : undefined;
    },
  };
}

/** Resolves, prices and keys a request; throws for models that may not be called. Touches no store. */
export function planTask<R extends TaskRequest, A extends JsonObject>(
  services: Needs,
  task: Task<R, A>,
  input: AdmitInput<TaskJob<R>>,
): TaskPlan<R> {
  const { ctx, principal } = input;
  const { request, toSend, digest, model } = input.request;
  const { project } = principal;
  const { prices } = services.routing();
  const { id: projectId, strictCaps } = project;
  const bounded = { task, request: toSend ?? request, isStrict: strictCaps, projectId };
  const quoteOf = quotesBy((priced) => boundTask(services, bounded, priced));
  const route = routeOf(services, { task, input, quoteOf });
  const helped = planHelper(services, { task, input, targets: route.targets });
  const wire = { format: 'openai-chat', body: helped.body } as const;
  const costly = checkCostly(principal, { wire, targets: route.targets }, prices);
  const priced = [...route.targets.flatMap((target) => target.priced ?? []), ...(costly.others ?? [])];
  const quotes = priced.map(quoteOf);
  const holdNanoUsd = helped.holdNanoUsd + Math.max(0, ...quotes.map(({ cost }) => cost.costNanoUsd));
  const tokens = Math.max(0, ...quotes.map(({ usage }) => promptTokens(usage) + completionTokens(usage)));
  const scope = guardedScope(input, route.scope);
  const isKept = digest !== undefined && isCacheable(task, { request, ctx, project });
  const cacheKey = isKept ? taskCacheKey({ projectId: project.id, scope }, digest) : undefined;
  return {
    ...{ request, toSend, route, cacheKey, ...costly, helpers: helped.helpers, prices },
    dropParams: ctx.controls.dropParams ?? principal.key.dropParams ?? project.dropParams ?? false,
    maxAttempts: strictCaps ? 1 : Number.POSITIVE_INFINITY,
    admit: admitPlan(
      { ...input, request: { model, stream: request.stream } },
      {
        ...{ model: route.limitName, target: route.targets[0] },
        // A vendor bills all of it as soon as it begins.
        hold: { holdNanoUsd, inputNanoUsd: holdNanoUsd, tokens },
        cacheKey: ctx.controls.cache === 'normal' ? cacheKey : undefined,
      },
    ),
  };
}

interface Helped<R extends TaskRequest, A extends JsonObject> {
  readonly task: Task<R, A>;
  readonly input: AdmitInput<TaskJob<R>>;
  readonly targets: readonly RouteTarget[];
}

/** What works beside the target: its prices, its part of the hold, and the request's other fields. */
function planHelper<R extends TaskRequest, A extends JsonObject>(services: Needs, helped: Helped<R, A>) {
  const { task, input, targets } = helped;
  const { principal } = input;
  const { request, toSend } = input.request;
  const helper = task.helperOf?.(toSend ?? request);
  if (helper === undefined) return { helpers: [], holdNanoUsd: 0, body: request.extra };
  const { field, model: name, boundOf } = helper;
  const helpers = pricesOf(principal, { name, field, targets }, services.routing().prices);
  const [{ provider }] = targets as readonly [RouteTarget];
  if (helpers.length === 0 && refusesWithoutPrice(principal)) throw unpriced({ provider, model: name }, task);
  const { strictCaps } = principal.project;
  const costs = helpers.map((priced) => computeCost(boundOf(priced, strictCaps), priced).costNanoUsd);
  const body = Object.fromEntries(Object.entries(request.extra).filter(([name]) => name !== field));
  return { helpers, holdNanoUsd: Math.max(0, ...costs), body };
}

/** A request whose bill is bounded. */
export interface BoundedTask<R extends TaskRequest, A extends JsonObject> {
  readonly task: Task<R, A>;
  readonly request: R;
  readonly isStrict: boolean;
  readonly projectId: string;
}

/** The most that a target bills, and no less than its vendor always bills. */
export function boundTask<R extends TaskRequest, A extends JsonObject>(
  services: Pick<Services, 'connect'>,
  { task, request, isStrict, projectId }: BoundedTask<R, A>,
  priced: PricedModel,
): Usage {
  const bound = task.boundOf(request, priced, isStrict);
  const seconds = bound.units?.seconds;
  if (seconds === undefined) return bound;
  const provider = services.connect(priced, projectId)?.provider;
  const least = (provider && task.partOf(provider)?.leastSeconds) ?? 0;
  return least <= seconds ? bound : { ...bound, units: { ...bound.units, seconds: least } };
}

/** The most that a target bills. */
interface Quote {
  readonly usage: Usage;
  readonly cost: Cost;
}

/** Each target's quote, worked out once. */
function quotesBy(bound: (priced: PricedModel) => Usage): (priced: PricedModel) => Quote {
  const known = new Map<PricedModel, Quote>();
  return (priced) => {
    let quote = known.get(priced);
    if (quote === undefined) {
      const usage = bound(priced);
      quote = { usage, cost: computeCost(usage, priced) };
      known.set(priced, quote);
    }
    return quote;
  };
}

interface Asked {
  readonly request: TaskRequest;
  readonly ctx: RequestContext;
  readonly project: Project;
}

/** Large answers and streams stay out of the cache, unless the caller names a lifetime. */
export function isCacheable({ isCached }: Pick<Task, 'isCached'>, { request, ctx, project }: Asked): boolean {
  const { controls } = ctx;
  const isWanted = (isCached && !request.stream) || controls.cacheTtlSeconds !== undefined;
  return isWanted && project.cacheEnabled && controls.cache !== 'off';
}

interface Routed<R extends TaskRequest, A extends JsonObject> {
  readonly task: Task<R, A>;
  readonly input: AdmitInput<TaskJob<R>>;
  readonly quoteOf: (priced: PricedModel) => Quote;
}

function routeOf<R extends TaskRequest, A extends JsonObject>(services: Needs, routed: Routed<R, A>): Route {
  const { task, input, quoteOf } = routed;
  const { principal } = input;
  const { model } = input.request;
  const tables = services.routing().forProject(principal.project.id);
  const builtIn = task.answerHere && builtInRoute(model, principal, tables);
  if (builtIn !== undefined) return builtIn;
  const { failover } = input.ctx.controls;
  const { route: whole } = preparedRoute(principal, tables, { model, failover });
  const refusesUnpriced = refusesWithoutPrice(principal);
  const reasonOf = (target: RouteTarget) => {
    if (!isAble(services, routed, target)) return 'no_endpoint';
    return refusesUnpriced && !isPriced(target, task.pricedBy, quoteOf) ? 'unpriced' : undefined;
  };
  const [first] = whole.targets;
  const isNamed = whole.alias === undefined && isSameTarget(whole.requested, first);
  const route = isNamed && reasonOf(first) !== undefined ? undefined : passOver(whole, reasonOf);
  if (route === undefined) throw refusal(whole, task, reasonOf(first));
  const costOf = ({ priced }: RouteTarget) => priced && quoteOf(priced).cost.costNanoUsd;
  return withoutOthers(orderedRoute(route, tables, costOf));
}

/** True if the target's provider has this task for its model. */
function isAble<R extends TaskRequest, A extends JsonObject>(
  services: Pick<Services, 'connect'>,
  { task, input }: Routed<R, A>,
  target: RouteTarget,
): boolean {
  const provider = services.connect(target, input.principal.project.id)?.provider;
  const part = provider && task.partOf(provider);
  return part !== undefined && part.serves?.(target.model) !== false;
}

function refusal({ alias, targets }: Route, { noun, pricedBy }: Pick<Task, 'noun' | 'pricedBy'>, reason?: string) {
  const [{ provider, model, priced }] = targets;
  if (reason !== 'unpriced') {
    const message = `"${shownName(alias ?? model)}" has no ${noun}. Name a model for ${noun}.`;
    // A name that nobody has ever heard of is no model of another kind.
    return new GatewayError(priced === undefined ? 'model_not_found' : 'invalid_request', message, { param: 'model' });
  }
  return unpriced({ provider, model }, { noun, pricedBy });
}

function unpriced({ provider, model }: Target, { noun, pricedBy }: Pick<Task, 'noun' | 'pricedBy'>): GatewayError {
  const message =
    `The model "${provider}/${model}" has no price for ${noun} as asked for (${pricedBy.join(' or ')}). ` +
    'The operator can set one (PUT /admin/v1/models) or, without strict caps, the policy "allow_unpriced".';
  return new GatewayError('model_not_priced', message, { param: 'model' });
}

/** What has no price would be free: unlike text, it is refused without a cap too, unless the project says otherwise. */
function refusesWithoutPrice({ project }: Principal): boolean {
  return project.strictCaps || project.unknownModelPolicy !== 'allow_unpriced';
}

function isPriced(
  { priced }: RouteTarget,
  pricedBy: readonly string[],
  quoteOf: (priced: PricedModel) => Quote,
): boolean {
  if (priced === undefined) return false;
  const { prices } = priced;
  if (isFree(prices)) return true;
  const hasOne = Object.keys(prices).some((name) => pricedBy.some((one) => name === one || name.startsWith(`${one}_`)));
  return hasOne && quoteOf(priced).cost.detail.price_source !== UNPRICED;
}
