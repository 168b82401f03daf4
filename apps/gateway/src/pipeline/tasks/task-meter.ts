import { CACHED_TASK_CODEC, type CachedTask } from '@llm0/core/cache/cached-task';
import type { JsonObject } from '@llm0/core/chat/json';
import { addUsage, sideOf, type Usage } from '@llm0/core/chat/usage';
import { isLongJson } from '@llm0/core/chat/write-json-in-slices';
import type { AttemptSummary } from '@llm0/core/errors/gateway-error';
import type { CacheWrite } from '@llm0/core/limits/hot-store';
import { type Cost, computeCost } from '@llm0/core/pricing/compute-cost';
import { isFree } from '@llm0/core/pricing/price-book';
import { firstChoice, type RouteTarget } from '@llm0/core/routing/resolve-targets';
import type { Target } from '@llm0/core/routing/target';
import type { TaskRequest } from '@llm0/core/tasks/task-request';
import type { UpstreamEffort } from '@llm0/core/upstream/upstream-response';
import type { TaskSummary } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import { Booking, type BookingInput, type BookingNeeds, cacheTtlMs, type Ending } from '../metering/booking';
import type { Outcome } from '../metering/build-record';
import { isEstimate } from '../request/check-costly';
import type { TaskPlan } from './plan-task';

/** What one target answered and reported. */
export interface AnsweredTask<A> {
  /** Absent for a stream, which is not kept. */
  readonly answer?: A;
  readonly usage: Usage | undefined;
  /** Usage for what the vendor left out. */
  readonly guess: () => Usage;
  readonly effort: UpstreamEffort<RouteTarget> & { readonly dropped: readonly string[] };
}

type Needs = BookingNeeds & Pick<Services, 'config'>;

/** Measures one task, and settles it once. */
export class TaskMeter<R extends TaskRequest, A extends JsonObject> extends Booking<
  BookingInput<TaskPlan<R>, CachedTask<A>>
> {
  private answered: AnsweredTask<A> | undefined;
  private overheadMs: number | undefined;
  private ttftMs: number | undefined;

  constructor(
    private readonly needs: Needs,
    input: BookingInput<TaskPlan<R>, CachedTask<A>>,
  ) {
    super(needs, input);
  }

  /** The first output is about to go to the caller; gives the gateway's own part of the time so far. */
  markFirstOutput(upstreamMs: number): number {
    this.ttftMs ??= this.elapsedMs();
    this.overheadMs ??= Math.max(0, this.ttftMs - upstreamMs - (this.input.admission.queuedMs ?? 0));
    return this.overheadMs;
  }

  /** Books an answer of the cache, or a replay: it costs nothing. */
  completeStored(stored: CachedTask<A>): TaskSummary {
    const cache = this.input.admission.decision.type === 'replayed' ? 'miss' : 'exact';
    const { usage } = stored;
    this.settle({
      ...this.described(stored),
      ...{ cache, usage, costNanoUsd: 0, savedNanoUsd: stored.costNanoUsd },
      ...this.timing({ firstWaitMs: 0 }),
      ...{ attempts: [], failoverCount: 0, status: 'success', httpStatus: 200 },
    });
    return this.summary(stored, { cache, usage, costNanoUsd: 0 });
  }

  /** A provider has answered: whatever becomes of that, this is the bill. */
  attach(answered: AnsweredTask<A>): void {
    this.answered = answered;
  }

  /** Books a complete answer of a provider, and caches it. */
  complete(answered: AnsweredTask<A>): TaskSummary & { readonly kept: CachedTask | undefined } {
    const { target } = answered.effort;
    const bill = this.billOf(answered);
    const { usage, costNanoUsd } = bill;
    const kept = answered.answer === undefined ? undefined : this.keptOf(answered, bill);
    this.settle({ ...bill, status: 'success', httpStatus: 200 }, kept && this.cacheWrite(kept));
    return { ...this.summary(target, { usage, costNanoUsd, cache: 'miss' }), kept };
  }

  /** As the cache keeps it. */
  keptOf(
    answered: AnsweredTask<A>,
    bill: Pick<Outcome, 'usage' | 'costNanoUsd'> = this.billOf(answered),
  ): CachedTask<A> {
    const { usage, costNanoUsd } = bill;
    const { provider, model } = answered.effort.target;
    return { provider, model, answer: answered.answer as A, usage, costNanoUsd };
  }

  protected end(ending: Ending, failed?: readonly AttemptSummary[]): void {
    if (this.answered !== undefined) {
      this.settle({ ...this.billOf(this.answered), ...ending });
      return;
    }
    this.settle({
      ...this.described(),
      ...{ savedNanoUsd: 0, cache: 'miss' },
      ...this.timing(),
      ...this.unanswered(failed),
      ...ending,
    });
  }

  private billOf({ usage: told, guess, effort }: AnsweredTask<A>): Omit<Outcome, keyof Ending> {
    const { target, wastedNanoUsd, attempts, failoverCount, dropped } = effort;
    const { plan } = this.input.admission;
    const { helper, ...filled } = fillTask(told, guess, target);
    // A guess at a price of nothing is the exact cost.
    const isExact = target.priced !== undefined && isFree(target.priced.prices) && plan.others === undefined;
    const own: Usage = isExact ? { ...filled, estimated: false } : filled;
    const helped = helper && this.helped(helper, target);
    const usage =
      helper === undefined ? own : addUsage(own, { ...helper.usage, ...(helped ? {} : { estimated: true }) });
    const isInexact = (plan.isInexact !== false && isEstimate(plan, usage)) || effort.wasteEstimated === true;
    const known = addCost(this.costOf(helped === undefined ? usage : own, target), helped);
    const isHidden = usage.estimated === true || plan.others !== undefined;
    const shown = isInexact ? { ...usage, estimated: true } : usage;
    return {
      ...this.described(target),
      ...this.unfinished(shown, known.costNanoUsd + wastedNanoUsd, { isBilled: isHidden }),
      ...{ cache: 'miss', savedNanoUsd: 0, attempts, failoverCount, dropped },
      costDetail: { ...known.detail, ...(wastedNanoUsd === 0 ? {} : { other_attempts: wastedNanoUsd }) },
      ...this.timing(effort),
    };
  }

  /** Cost of a model that worked beside the target; undefined without its price. */
  private helped({ model = '', usage }: NonNullable<Usage['helper']>, { provider }: Target): Cost | undefined {
    const { helpers, prices } = this.input.admission.plan;
    const asked = helpers.find((one) => model === one.model || model.startsWith(`${one.model}-20`)) ?? helpers[0];
    // The vendor chooses one where the request names none.
    const priced = asked ?? prices.find(provider, model);
    return priced && computeCost(usage, priced);
  }

  /** The dearest of the models that may have answered. */
  private costOf(usage: Usage, { priced }: RouteTarget): Cost {
    const { others = [] } = this.input.admission.plan;
    let dearest: Cost = { costNanoUsd: 0, detail: {} };
    for (const one of priced === undefined ? others : [priced, ...others]) {
      const cost = computeCost(usage, one);
      if (cost.costNanoUsd >= dearest.costNanoUsd) dearest = cost;
    }
    return dearest;
  }

  private cacheWrite(kept: CachedTask): CacheWrite | undefined {
    const { cacheKey: key } = this.input.admission.plan;
    const { cacheMaxBodyBytes } = this.needs.config;
    if (key === undefined || isLongJson(kept.answer, cacheMaxBodyBytes)) return undefined;
    const value = CACHED_TASK_CODEC.encode(kept);
    if (value.length > cacheMaxBodyBytes) return undefined;
    const { provider, model } = kept;
    const ttlMs = cacheTtlMs(this.needs, this.input, kept);
    return { key, value, ttlMs, provider, model };
  }

  private timing(effort?: Pick<UpstreamEffort, 'firstWaitMs' | 'pausedMs'>) {
    const latencyMs = this.elapsedMs();
    if (effort === undefined) return { latencyMs };
    const overheadMs = this.markFirstOutput(effort.firstWaitMs);
    const upstreamMs = Math.max(0, effort.firstWaitMs - (effort.pausedMs ?? 0));
    return { latencyMs, overheadMs, upstreamMs, ttftMs: this.ttftMs ?? latencyMs };
  }

  private summary(target: Target, booked: Pick<TaskSummary, 'cache' | 'usage' | 'costNanoUsd'>): TaskSummary {
    const { admission, ctx } = this.input;
    return {
      ...booked,
      ...{ requestId: ctx.requestId, model: target.model, latencyMs: this.elapsedMs() },
      createdSeconds: Math.floor(admission.decision.nowMs / 1000),
    };
  }

  private described(answered?: Target) {
    const { admission } = this.input;
    const { requestedModel, plan } = admission;
    return {
      ...{ requestedModel, stream: plan.request.stream },
      provider: firstChoice(plan.route).provider,
      finalProvider: answered?.provider,
      model: answered?.model ?? plan.route.targets[0].model,
    };
  }
}

/** Both parts of a bill. */
function addCost(own: Cost, other: Cost | undefined): Cost {
  if (other === undefined) return own;
  const detail: Record<string, unknown> = { ...own.detail };
  for (const [name, value] of Object.entries(other.detail)) {
    detail[name] = typeof value === 'number' ? Number(detail[name] ?? 0) + value : value;
  }
  return { costNanoUsd: own.costNanoUsd + other.costNanoUsd, detail };
}

/** Counts for all that a vendor bills but leaves out: what the gateway can't read is never free. */
export function fillTask(told: Usage | undefined, guess: () => Usage, { priced }: Pick<RouteTarget, 'priced'>): Usage {
  if (told === undefined || told.untold === 'both') return withHelper(guess(), told?.helper);
  const { untold, totalTokens: _total, ...counts } = told;
  const { imageVariant = counts.units?.images === undefined ? undefined : guess().imageVariant } = counts;
  const usage: Usage = { ...counts, ...(imageVariant === undefined ? {} : { imageVariant }) };
  if (untold !== undefined) return addUsage(usage, { ...sideOf(guess(), untold), estimated: true });
  const isFree = (one: Usage) => priced === undefined || computeCost(one, priced).costNanoUsd === 0;
  // Of an SVG, the helper's part may be all of it.
  if (usage.helper !== undefined || !isFree(usage)) return usage;
  const guessed = scaledTo(usage, guess());
  return isFree(guessed) ? usage : guessed;
}

/** Estimated tokens of audio whose seconds the vendor told, instead of those that the gateway measured. */
function scaledTo({ units: { seconds } = {} }: Usage, guessed: Usage): Usage {
  const { units: { seconds: measured = 0 } = {}, inputAudioTokens, outputTokens } = guessed;
  if (seconds === undefined || measured === 0) return guessed;
  const scale = (tokens: number) => Math.ceil((tokens * seconds) / measured);
  return {
    ...guessed,
    ...{ inputAudioTokens: scale(inputAudioTokens), outputTokens: scale(outputTokens) },
    units: { ...guessed.units, seconds },
  };
}

const withHelper = (usage: Usage, helper: Usage['helper']): Usage =>
  helper === undefined ? usage : { ...usage, helper };
