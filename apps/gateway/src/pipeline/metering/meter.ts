import { encodeCachedAnswer, mayCache, type PackedResponse } from '@llm0/core/cache/cached-answer';
import type { ChatResponse } from '@llm0/core/chat/response';
import { type FilledUsage, type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import type { AttemptSummary } from '@llm0/core/errors/gateway-error';
import type { CacheWrite } from '@llm0/core/limits/hot-store';
import type { CostDetail, LogRecord } from '@llm0/core/logs/log-record';
import { computeCost } from '@llm0/core/pricing/compute-cost';
import { finalUsage, lastUsage, partialUsage, wholeUsage } from '@llm0/core/pricing/guess-usage';
import { type PricedModel, pricedAnswer } from '@llm0/core/pricing/price-book';
import { firstChoice } from '@llm0/core/routing/resolve-targets';
import { isSameTarget } from '@llm0/core/routing/target';
import type { ResponseSummary } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import type { Admission } from '../request/admit';
import { isEstimate } from '../request/check-costly';
import type { RequestPlan } from '../request/plan-request';
import type { MeteredCompletion } from '../upstream/completion';
import { Booking, type BookingInput, type BookingNeeds, cacheTtlMs, type Ending } from './booking';
import type { Outcome } from './build-record';
import { describeForSpan } from './describe-for-span';
import { heldFor } from './held-for';

type Needs = BookingNeeds & Pick<Services, 'warmCache' | 'config'>;

export type MeterInput = BookingInput<RequestPlan> & { readonly admission: Admission };

/** Measures one chat request; `complete`, `fail` and `abort` settle it, the first of them for good. */
export class Meter extends Booking<MeterInput> {
  private answer: MeteredCompletion | undefined;
  private ttftMs: number | undefined;

  constructor(
    private readonly needs: Needs,
    input: MeterInput,
  ) {
    super(needs, input);
  }

  attach(answer: MeteredCompletion): void {
    this.answer = answer;
  }

  /** The first output is about to go to the caller; gives the gateway's own part of the time so far. */
  markFirstOutput(): number {
    this.ttftMs ??= this.elapsedMs();
    return this.overheadMs() ?? 0;
  }

  /** Completes an answer; `packed`: a large one in cache format. Returns the caller's summary. */
  complete(response: ChatResponse, reported: Usage | undefined, packed?: PackedResponse): ResponseSummary {
    const answer = this.answer as MeteredCompletion;
    const { admission, ctx } = this.input;
    const { request } = admission.plan;
    const pays = answer.pays();
    const told = wholeUsage(request, answer.received(), reported);
    const known = pays ? this.costOf(told, answer) : { usage: told.usage, ...ZERO_COST };
    const { usage, costNanoUsd } = known;
    const latencyMs = this.elapsedMs();
    const outcome = this.outcomeOf(usage, latencyMs, response);
    if (pays) {
      outcome.costNanoUsd = costNanoUsd;
      outcome.costDetail = known.detail;
    } else outcome.savedNanoUsd = this.savedBy(answer, usage);
    const isKept = pays && answer.cache === 'miss';
    const cache = isKept ? this.cacheEntry(known, response, packed) : undefined;
    const record = this.settle(outcome, cache);
    if (cache !== undefined && record !== undefined) this.writeWarm(cache, record);
    return {
      requestId: ctx.requestId,
      provider: answer.target.provider,
      model: answer.target.model,
      cache: answer.cache,
      usage,
      costNanoUsd,
      latencyMs,
      createdSeconds: Math.floor(admission.decision.nowMs / 1000),
      request,
    };
  }

  protected end(ending: Ending, failed?: readonly AttemptSummary[]): void {
    const { answer } = this;
    if (answer === undefined) {
      const unanswered = this.unanswered(failed);
      this.settle({ ...this.outcomeOf(unanswered.usage, this.elapsedMs()), ...unanswered, ...ending });
      return;
    }
    const received = answer.received();
    const pays = answer.pays();
    const { request } = this.input.admission.plan;
    // A complete answer may also end here: refused by a guardrail.
    const final = pays ? finalUsage(request, received) : undefined;
    const cut = (): FilledUsage => ({ usage: partialUsage(request, received, lastUsage(received)), untold: 'both' });
    const told = () => (final === undefined ? cut() : wholeUsage(request, received, final));
    const { usage, costNanoUsd, detail } = pays ? this.costOf(told(), answer) : { ...ZERO_COST, usage: ZERO_USAGE };
    const costDetail = pays ? detail : undefined;
    this.settle({ ...this.outcomeOf(usage, this.elapsedMs()), costNanoUsd, costDetail, ...ending });
  }

  /** A success without cost. */
  private outcomeOf(usage: Usage, latencyMs: number, response?: ChatResponse): Changing<Outcome> {
    const { answer } = this;
    const { ctx, admission } = this.input;
    const { route, request, isInexact } = admission.plan;
    const isGuess = isInexact !== undefined && answer?.pays() === true && isEstimate({ isInexact }, usage);
    const overheadMs = this.overheadMs();
    const waitedMs = (admission.queuedMs ?? 0) + (answer?.pausedMs ?? 0);
    return {
      requestedModel: admission.requestedModel,
      stream: request.stream,
      provider: firstChoice(route).provider,
      finalProvider: answer?.target.provider,
      model: answer?.target.model ?? route.targets[0].model,
      usage: answer?.wasteEstimated === true || isGuess ? { ...usage, estimated: true } : usage,
      costNanoUsd: 0,
      costDetail: undefined,
      savedNanoUsd: 0,
      latencyMs,
      overheadMs,
      // A provider that wasn't asked has no duration: zeros would be its fastest answers.
      upstreamMs: answer?.cache === 'miss' ? Math.max(0, latencyMs - (overheadMs ?? 0) - waitedMs) : undefined,
      ttftMs: this.ttftMs,
      cache: answer?.cache ?? 'miss',
      similarity: answer?.similarity,
      matchedBy: answer?.matchedBy,
      attempts: answer?.attempts ?? NO_ATTEMPTS,
      failoverCount: answer?.failoverCount ?? 0,
      dropped: answer?.dropped,
      detail: ctx.trace?.mark && describeForSpan(request, response),
      status: 'success',
      httpStatus: 200,
    };
  }

  private writeWarm({ key, value, ttlMs, provider, model }: CacheWrite, record: LogRecord): void {
    const { projectId, tokensIn: promptTokens, tokensOut: completionTokens } = record;
    const kept = { projectId, cacheKey: key, value, ttlMs, provider, model, promptTokens, completionTokens };
    this.needs.warmCache.write(kept);
    this.answer?.onCached?.(kept);
  }

  private costOf(told: FilledUsage, answer: MeteredCompletion): Costs {
    const { usage, untold } = told;
    const { others, prices } = this.input.admission.plan;
    const billed = pricedAnswer(prices, answer.target, answer.answeredBy);
    const priced =
      others === undefined ? billed : this.dearest(usage, answer, [...(billed ? [billed] : []), ...others]);
    const { costNanoUsd, detail } = priced === undefined ? ZERO_COST : computeCost(usage, priced);
    const all = costNanoUsd + answer.wastedNanoUsd;
    if (untold === undefined && answer.wastedNanoUsd === 0) return { usage, costNanoUsd, detail };
    const heldNanoUsd = heldFor(told, this.input.admission.plan.hold, priced);
    const booked = this.unfinished(usage, all, { isBilled: untold !== undefined, heldNanoUsd });
    const wasted = answer.wastedNanoUsd === 0 ? {} : { other_attempts: answer.wastedNanoUsd };
    const source = booked.costNanoUsd > all ? { price_source: 'hold' } : {};
    return { ...booked, detail: { ...detail, ...wasted, ...source } };
  }

  /** The answering model; if unknown, the dearest possible one. */
  private dearest(
    usage: Usage,
    { target, answeredBy }: MeteredCompletion,
    possible: readonly PricedModel[],
  ): PricedModel | undefined {
    const { prices } = this.input.admission.plan;
    const named = answeredBy === undefined ? undefined : prices.find(target.provider, answeredBy);
    let dearest: PricedModel | undefined;
    let mostNanoUsd = -1;
    for (const priced of named === undefined ? possible : [named]) {
      const { costNanoUsd } = computeCost(usage, priced);
      if (costNanoUsd > mostNanoUsd) dearest = priced;
      mostNanoUsd = Math.max(mostNanoUsd, costNanoUsd);
    }
    return dearest;
  }

  /** Followers and hits save the price of the answer. */
  private savedBy(answer: MeteredCompletion, usage: Usage): number {
    if (answer.cache === 'miss') return 0;
    return answer.savedNanoUsd || this.costOf({ usage }, answer).costNanoUsd;
  }

  private cacheEntry(
    { usage, costNanoUsd }: Costs,
    given: ChatResponse,
    packed: PackedResponse | undefined,
  ): CacheWrite | undefined {
    const { target: answered, dropped, original } = this.answer as MeteredCompletion;
    const { cacheKey: key, route } = this.input.admission.plan;
    const response = original === undefined ? given : original();
    if (key === undefined || response === undefined) return;
    if (!mayCache(response, this.input.admission.principal.project)) return;
    for (const { finishReason } of response.choices) if (finishReason === 'content_filter') return;
    const { cacheMaxBodyBytes } = this.needs.config;
    if (packed !== undefined && (packed.text === undefined || packed.bytes > cacheMaxBodyBytes)) return;
    const { provider, model } = answered;
    const kept = {
      v: 1,
      provider,
      model,
      response,
      usage,
      costNanoUsd,
      packed: packed?.text,
      packedBytes: packed?.bytes,
    } as const;
    const value = encodeCachedAnswer(dropped.length === 0 ? kept : { ...kept, dropped });
    // No character takes more than three bytes.
    if (3 * value.length > cacheMaxBodyBytes && Buffer.byteLength(value) > cacheMaxBodyBytes) return;
    if (route.isPinned && !isSameTarget(answered, route.targets[0])) return;
    return { key, value, ttlMs: cacheTtlMs(this.needs, this.input, answered), provider, model };
  }

  private overheadMs(): number | undefined {
    if (this.ttftMs === undefined) return undefined;
    return Math.max(0, this.ttftMs - (this.answer?.firstWaitMs ?? 0) - (this.input.admission.queuedMs ?? 0));
  }
}

type Changing<T> = { -readonly [K in keyof T]: T[K] };

const NO_ATTEMPTS: Outcome['attempts'] = [];

interface Costs {
  readonly usage: Usage;
  readonly costNanoUsd: number;
  readonly detail: CostDetail;
}

const ZERO_COST: Omit<Costs, 'usage'> = { costNanoUsd: 0, detail: {} };
