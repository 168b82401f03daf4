import type { CacheableResponse } from '@llm0/core/cache/semantic/semantic-cache';
import { encodeStoredAnswer } from '@llm0/core/cache/stored-answer';
import type { EventBatch } from '@llm0/core/chat/event';
import type { ChatResponse } from '@llm0/core/chat/response';
import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import type { AttemptSummary, GatewayError } from '@llm0/core/errors/gateway-error';
import type { Settlement } from '@llm0/core/limits/hot-store';
import type { CostDetail, DialectName, LogRecord } from '@llm0/core/logs/log-record';
import { computeCost } from '@llm0/core/pricing/compute-cost';
import type { Target } from '@llm0/core/routing/target';
import type { CacheOutcome, ResponseSummary } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import type { Admission } from '../exchange/admit';
import type { Exchange } from '../exchange/open-exchange';
import { buildRecord, errorOutcome, type Outcome } from './build-record';
import { guessUsage, partialUsage } from './guess-usage';

type Needs = Pick<Services, 'hotStore' | 'warmCache' | 'leases' | 'clock' | 'routing' | 'metrics' | 'config'>;

/** Where an answer comes from; the meter reads it, and never changes it. */
export interface MeteredCompletion {
  readonly target: Target;
  readonly cache: CacheOutcome;
  readonly similarity?: number;
  readonly attempts: Outcome['attempts'];
  readonly failoverCount: number;
  readonly wastedNanoUsd: number;
  /** Part of that is a guess. */
  readonly wasteEstimated?: boolean;
  /** Milliseconds waited for upstreams until the first output. */
  readonly firstWaitMs: number;
  /** True when this request has to settle the cost of the answer. */
  readonly pays: () => boolean;
  readonly received: () => readonly EventBatch[];
  /** What a hit saves. */
  readonly savedNanoUsd: number;
  /** Takes what a complete answer leaves in the cache. */
  readonly onCached?: (answer: CacheableResponse) => void;
}

export interface MeterInput {
  readonly exchange: Exchange;
  readonly dialect: DialectName;
  readonly admission: Admission;
}

/**
 * Measures one request and settles it exactly once, whichever way it ends. `complete`, `fail` and `abort` hand the
 * settlement to the store before they return; later calls do nothing.
 */
export class Meter {
  private answer: MeteredCompletion | undefined;
  private settled = false;
  /** Set once settled: resolves when the settlement outlives this process; undefined = it does already. */
  handedOver: Promise<void> | undefined;
  private ttftMs: number | undefined;

  constructor(
    private readonly services: Needs,
    private readonly input: MeterInput,
  ) {
    if (this.held) services.leases.add(input.admission.principal.project.id, input.exchange.requestId);
  }

  private get decision(): Admission['decision'] {
    return this.input.admission.decision;
  }

  /** Only admissions set a hold; exact hits do not, nor does what no store decided. */
  private get held(): boolean {
    return this.decision.type === 'admitted';
  }

  attach(answer: MeteredCompletion): void {
    this.answer = answer;
  }

  /** The first output is about to go to the caller; gives the gateway's own part of the time so far. */
  markFirstOutput(): number {
    this.ttftMs ??= this.elapsedMs();
    return this.overheadMs() ?? 0;
  }

  /** A complete answer. Returns what the caller is told about it. */
  complete(response: ChatResponse, usage: Usage | undefined): ResponseSummary {
    const answer = this.answer as MeteredCompletion;
    const pays = answer.pays();
    const known = usage ?? guessUsage(this.input.admission.plan.request, answer.received());
    const cost = pays ? this.costOf(known, answer) : ZERO_COST;
    const latencyMs = this.elapsedMs();
    this.settle(
      {
        ...this.outcomeBase(known, latencyMs),
        costNanoUsd: cost.costNanoUsd,
        costDetail: pays ? cost.detail : undefined,
        savedNanoUsd: pays ? 0 : this.savedBy(answer, known),
        status: 'success',
        httpStatus: 200,
      },
      pays && answer.cache === 'miss' ? this.cacheEntry(answer, response, known, cost.costNanoUsd) : undefined,
    );
    return {
      requestId: this.input.exchange.requestId,
      provider: answer.target.provider,
      model: answer.target.model,
      cache: answer.cache,
      usage: known,
      costNanoUsd: cost.costNanoUsd,
      latencyMs,
      createdSeconds: Math.floor(this.decision.nowMs / 1000),
      request: this.input.admission.plan.request,
    };
  }

  /** The answer failed, before or after its first output. What the upstream already produced is booked. */
  fail(error: GatewayError): void {
    this.end(errorOutcome(error), error.attempts);
  }

  /** The caller went away: the tokens so far are booked. */
  abort(): void {
    const error = {
      code: 'client_closed',
      message: 'The caller closed the connection before the answer was complete.',
    };
    this.end({ status: 'aborted', httpStatus: 499, error });
  }

  private end(ending: Pick<Outcome, 'status' | 'httpStatus' | 'error'>, failed?: GatewayError['attempts']): void {
    if (this.settled) return;
    const answer = this.answer;
    const received = answer?.received() ?? [];
    const pays = answer?.pays() === true && received.length > 0;
    const usage = pays ? partialUsage(this.input.admission.plan.request, received, lastUsage(received)) : ZERO_USAGE;
    const cost = pays && answer !== undefined ? this.costOf(usage, answer) : ZERO_COST;
    const attempts = answer?.attempts ?? (failed ?? []).map(asLogAttempt);
    const wasted = answer === undefined ? attempts.reduce((sum, one) => sum + (one.costNanoUsd ?? 0), 0) : 0;
    this.settle({
      ...this.outcomeBase(usage, this.elapsedMs()),
      attempts,
      failoverCount: answer?.failoverCount ?? countSwitches(attempts),
      costNanoUsd: cost.costNanoUsd + wasted,
      costDetail: pays ? cost.detail : wasted > 0 ? { other_attempts: wasted } : undefined,
      savedNanoUsd: 0,
      ...ending,
    });
  }

  private outcomeBase(usage: Usage, latencyMs: number) {
    const answer = this.answer;
    const { route, request } = this.input.admission.plan;
    return {
      createdAtMs: this.decision.nowMs,
      requestedModel: this.input.admission.requestedModel,
      stream: request.stream,
      provider: route.targets[0].provider,
      finalProvider: answer?.target.provider,
      model: answer?.target.model ?? route.targets[0].model,
      usage: answer?.wasteEstimated === true ? { ...usage, estimated: true } : usage,
      timing: {
        latencyMs,
        overheadMs: this.overheadMs(),
        upstreamMs: answer === undefined ? undefined : this.upstreamMs(answer, latencyMs),
        ttftMs: this.ttftMs,
      },
      cache: answer?.cache ?? 'miss',
      similarity: answer?.similarity,
      attempts: answer?.attempts ?? [],
      failoverCount: answer?.failoverCount ?? 0,
    } as const;
  }

  private settle(outcome: Outcome, cache?: Settlement['cache']): void {
    if (this.settled) return;
    this.settled = true;
    const { exchange, dialect, admission } = this.input;
    const { principal, decision } = admission;
    const record = buildRecord(exchange, principal, dialect, outcome);
    this.services.leases.remove(exchange.requestId);
    this.handedOver = this.services.hotStore.settle({
      requestId: exchange.requestId,
      projectId: principal.project.id,
      keyId: principal.key.id,
      customerId: exchange.customerId,
      admittedAtMs: decision.nowMs,
      held: this.held,
      costNanoUsd: record.costNanoUsd,
      // What a cache answered used none of the key's tokens.
      tokens: outcome.cache === 'miss' ? record.tokensIn + record.tokensOut : 0,
      record: JSON.stringify(record),
      cache,
    });
    if (cache !== undefined) this.writeWarm(cache, record);
    this.services.metrics.observeRecord(record);
  }

  private writeWarm({ key, ...entry }: NonNullable<Settlement['cache']>, record: LogRecord): void {
    const kept = { ...entry, promptTokens: record.tokensIn, completionTokens: record.tokensOut };
    this.services.warmCache.write({ ...kept, projectId: record.projectId, cacheKey: key });
    this.answer?.onCached?.(kept);
  }

  private costOf(usage: Usage, answer: MeteredCompletion): { costNanoUsd: number; detail: CostDetail } {
    const priced = this.services.routing().prices.find(answer.target.provider, answer.target.model);
    const cost = priced === undefined ? ZERO_COST : computeCost(usage, priced);
    if (answer.wastedNanoUsd === 0) return cost;
    return {
      costNanoUsd: cost.costNanoUsd + answer.wastedNanoUsd,
      detail: { ...cost.detail, other_attempts: answer.wastedNanoUsd },
    };
  }

  /** Followers and hits save what the answer would have cost them. */
  private savedBy(answer: MeteredCompletion, usage: Usage): number {
    return answer.cache === 'miss'
      ? 0
      : answer.savedNanoUsd > 0
        ? answer.savedNanoUsd
        : this.costOf(usage, answer).costNanoUsd;
  }

  private cacheEntry(answer: MeteredCompletion, response: ChatResponse, usage: Usage, costNanoUsd: number) {
    const { admission, exchange } = this.input;
    const { cacheKey, route } = admission.plan;
    if (cacheKey === undefined || !response.choices.every((choice) => choice.finishReason !== 'content_filter')) return;
    const { provider, model } = answer.target;
    const value = encodeStoredAnswer({ v: 1, provider, model, response, usage, costNanoUsd });
    if (Buffer.byteLength(value) > this.services.config.cacheMaxBodyBytes) return;
    const ttlSeconds =
      exchange.controls.cacheTtlSeconds ??
      admission.principal.project.cacheTtlSeconds ??
      this.services.config.cacheTtlSeconds;
    const isFallback = provider !== route.targets[0].provider || model !== route.targets[0].model;
    if (isFallback && route.isPinned) return;
    const ttlMs = 1000 * (isFallback ? Math.min(ttlSeconds, FALLBACK_TTL_SECONDS) : ttlSeconds);
    return { key: cacheKey, value, ttlMs, provider, model };
  }

  private elapsedMs(): number {
    return this.services.clock.monotonicMs() - this.input.exchange.startMs;
  }

  private overheadMs(): number | undefined {
    if (this.ttftMs === undefined) return undefined;
    return Math.max(0, this.ttftMs - (this.answer?.firstWaitMs ?? 0));
  }

  private upstreamMs(answer: MeteredCompletion, latencyMs: number): number {
    return answer.cache === 'miss' ? Math.max(0, latencyMs - (this.overheadMs() ?? 0)) : 0;
  }
}

const ZERO_COST = { costNanoUsd: 0, detail: {} } as const;
/** A fallback's answer is kept only until the first choice is likely back. */
const FALLBACK_TTL_SECONDS = 60;

const asLogAttempt = ({ failure, startMs = 0, ...attempt }: AttemptSummary) => ({
  ...attempt,
  outcome: failure,
  startMs,
});

/** How often another target was asked than just before. */
function countSwitches(attempts: Outcome['attempts']): number {
  return attempts.filter(({ provider, model }, index) => {
    const before = attempts[index - 1];
    return before !== undefined && (before.provider !== provider || before.model !== model);
  }).length;
}

/** The last usage an upstream reported. */
export function lastUsage(batches: readonly EventBatch[]): Usage | undefined {
  for (let i = batches.length - 1; i >= 0; i--) {
    const events = batches[i]?.events ?? [];
    for (let j = events.length - 1; j >= 0; j--) {
      const event = events[j];
      if (event?.type === 'usage') return event.usage;
    }
  }
  return undefined;
}
