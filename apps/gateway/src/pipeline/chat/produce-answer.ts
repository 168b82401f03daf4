import type { CachedAnswer, SentAnswer } from '@llm0/core/cache/cached-answer';
import type { SemanticLookUp } from '@llm0/core/cache/semantic/semantic-cache';
import { mayCache, mayShare } from '@llm0/core/cache/tool-answers';
import type { EventBatch } from '@llm0/core/chat/event';
import { replayResponse } from '@llm0/core/chat/replay';
import type { ChatResponse } from '@llm0/core/chat/response';
import { clientClosed } from '@llm0/core/errors/gateway-error';
import { mayAnswer } from '@llm0/core/routing/named-targets';
import type { CacheOutcome } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import type { MeteredCompletion } from '../metering/meter';
import type { Admission } from '../request/admit';
import type { RequestContext } from '../request/open-context';
import { callUpstream } from '../upstream/call-upstream';
import type { Subscriber } from '../upstream/flight';
import type { Spending, UpstreamResponse } from '../upstream/upstream-response';
import { findSimilar, keepForSimilar, type SimilarQuestion, similarQuestion } from './find-similar';

export type ProduceNeeds = Pick<
  Services,
  | 'config'
  | 'clock'
  | 'fetch'
  | 'mediaEgress'
  | 'connect'
  | 'routing'
  | 'metrics'
  | 'health'
  | 'flights'
  | 'warmCache'
  | 'semanticCache'
  | 'hotStore'
  | 'bodyLog'
>;

/** An answer under way, wherever it comes from. */
export interface Completion extends MeteredCompletion {
  /** The whole answer, where it is known from the start: spares replaying and collecting it. */
  readonly whole?: ChatResponse;
  /** `whole` is too much to be worked on at once. */
  readonly isLarge?: boolean;
  /** What the first caller of an `Idempotency-Key` got: this one gets the same. */
  readonly sent?: SentAnswer;
  /** Next batch, null at the end, at once where it is there; throws the upstream's failure. */
  next(): EventBatch | null | Promise<EventBatch | null>;
  /** The reader goes; before the end this may cancel the upstream. */
  leave(): void;
}

/** An answer that is being waited for. */
export interface PendingCompletion extends Spending {
  /** Resolves at the first output. */
  readonly answer: Promise<Completion>;
  /** The answer, where nothing has to be waited for. */
  readonly ready?: Completion;
  /** The caller went away meanwhile. */
  leave(): void;
}

/** The admitted request's answer: from the cache, from somebody's identical call, or from upstream. */
export function produceAnswer(services: ProduceNeeds, ctx: RequestContext, admission: Admission): PendingCompletion {
  if (admission.stored !== undefined) {
    const ready = replayStored(admission.stored, admission.decision.type === 'replayed' ? 'miss' : 'exact');
    return { answer: Promise.resolve(ready), ready, leave: nothing, spent: nothing };
  }
  const isIncomplete = admission.decision.type === 'admitted' && admission.decision.hotTierIncomplete;
  const warmKey = isIncomplete ? admission.plan.admit.cacheKey : undefined;
  const question = similarQuestion(services, ctx, admission);
  if (warmKey !== undefined || question !== undefined) {
    return askOtherTiers(services, { ctx, admission, warmKey, question });
  }
  return joinFlight(services, ctx, admission);
}

interface OtherTiers {
  readonly ctx: RequestContext;
  readonly admission: Admission;
  /** Set where the hot tier lost entries of this project: the answer may still be in the warm one. */
  readonly warmKey: string | undefined;
  /** Set where another wording may have been answered. */
  readonly question: SimilarQuestion | undefined;
}

/** The warm tier, then answers to other wordings, then upstream. What the warm tier has goes back to the hot one. */
function askOtherTiers(services: ProduceNeeds, { ctx, admission, warmKey, question }: OtherTiers): PendingCompletion {
  let flight: PendingCompletion | undefined;
  let left = false;
  const produce = async (): Promise<Completion> => {
    const warm = warmKey === undefined ? undefined : await askWarmTier(services, admission, warmKey);
    if (warm !== undefined) return warm;
    const lookUp = question?.isAsked === true && !left ? await findSimilar(services, question) : undefined;
    if (lookUp?.hit !== undefined) return replaySimilar(lookUp.hit);
    if (left) throw clientClosed();
    flight = joinFlight(services, ctx, admission);
    const answer = await flight.answer;
    return question === undefined ? answer : { ...answer, onCached: keepForSimilar(services, question, lookUp) };
  };
  const leave = () => {
    left = true;
    flight?.leave();
  };
  return { answer: produce(), leave, spent: () => flight?.spent() };
}

async function askWarmTier(services: ProduceNeeds, admission: Admission, key: string): Promise<Completion | undefined> {
  const { project } = admission.principal;
  const projectId = project.id;
  const hit = await services.warmCache.find(projectId, key);
  if (hit === undefined || !mayCache(hit.stored.response, project)) return undefined;
  if (!mayAnswer(admission.plan.route, hit.stored)) return undefined;
  const { value, provider, model, remainingMs: ttlMs } = hit;
  services.hotStore.cacheWrite(projectId, { key, value, ttlMs, provider, model });
  return replayStored(hit.stored);
}

const replaySimilar = ({ stored, similarity }: NonNullable<SemanticLookUp['hit']>): Completion => ({
  ...replayStored(stored, 'semantic'),
  similarity,
});

/** A call of its own, which nobody else joins. */
export function askUpstream(services: ProduceNeeds, ctx: RequestContext, admission: Admission): PendingCompletion {
  const subscriber = startFlight(services, { ctx, admission, key: undefined });
  return {
    answer: awaitFirstOutput(subscriber),
    leave: () => subscriber.leave(),
    spent: () => subscriber.spent(),
  };
}

/** An identical call under way, plain or streamed, or a new one. */
function joinFlight(services: ProduceNeeds, ctx: RequestContext, admission: Admission): PendingCompletion {
  const { plan, principal } = admission;
  const { cacheKey } = plan.admit;
  const { shared } = plan.route;
  const shareKey = cacheKey === undefined || shared === undefined ? cacheKey : `${cacheKey} ${shared}`;
  const key = mayShare(plan.request, principal.project) ? shareKey : undefined;
  const joined = key === undefined ? undefined : services.flights.join(key);
  let subscriber = joined ?? startFlight(services, { ctx, admission, key });
  let left = false;
  // Who is answered plainly has shown nothing of an answer that breaks off, and asks again, by itself.
  const followPlainly = async (): Promise<Completion> => {
    const answer = await awaitFirstOutput(subscriber);
    try {
      await subscriber.awaitEnd();
      return answer;
    } catch (error) {
      if (left || subscriber.pays()) throw error;
      subscriber.leave();
      subscriber = startFlight(services, { ctx, admission, key: undefined });
      return awaitFirstOutput(subscriber);
    }
  };
  const isPlainFollower = joined !== undefined && !plan.request.stream;
  return {
    answer: isPlainFollower ? followPlainly() : awaitFirstOutput(subscriber),
    leave: () => {
      left = true;
      subscriber.leave();
    },
    spent: () => subscriber.spent(),
  };
}

interface NewFlight {
  readonly ctx: RequestContext;
  readonly admission: Admission;
  /** Set where others may join it. */
  readonly key: string | undefined;
}

/** Without waiting for it. */
function startFlight(services: ProduceNeeds, { ctx, admission, key }: NewFlight): Subscriber {
  const { plan } = admission;
  const abort = new AbortController();
  const call = callUpstream(services, {
    projectId: admission.principal.project.id,
    request: admission.toSend ?? plan.request,
    route: plan.route,
    dropParams: plan.dropParams,
    outputLimit: plan.outputLimit,
    maxAttempts: plan.maxAttempts,
    startMs: ctx.startMs,
    timed: { isPlain: !plan.request.stream, atMostMs: ctx.controls.timeoutMs },
    trace: ctx.trace,
    room: ctx.held,
    signal: abort.signal,
    onSend: (body) => services.bodyLog.noteSent(ctx.requestId, body),
  });
  return services.flights.start(key, { ...call, abort, held: ctx.held.share() });
}

function awaitFirstOutput(subscriber: Subscriber): Promise<Completion> {
  return subscriber.open().then(
    (upstream) => completionOf(subscriber, upstream),
    (error: unknown) => {
      throw subscriber.shareOf(error);
    },
  );
}

function completionOf(subscriber: Subscriber, upstream: UpstreamResponse): Completion {
  return {
    target: upstream.target,
    cache: subscriber.isFollower ? 'exact' : 'miss',
    attempts: subscriber.isFollower ? [] : upstream.attempts,
    failoverCount: upstream.failoverCount,
    wastedNanoUsd: upstream.wastedNanoUsd,
    wasteEstimated: upstream.wasteEstimated,
    firstWaitMs: upstream.firstWaitMs,
    savedNanoUsd: 0,
    dropped: upstream.dropped,
    answeredBy: upstream.answeredBy,
    pays: () => subscriber.pays(),
    received: () => subscriber.received(),
    next: () => subscriber.next(),
    leave: () => subscriber.leave(),
  };
}

/** A cached answer as events, ready at once. */
export function replayStored(stored: CachedAnswer, cache: CacheOutcome = 'exact'): Completion {
  const whole: ChatResponse = { ...stored.response, usage: stored.usage };
  let replayed = false;
  return {
    ...{ whole, sent: stored.sent, isLarge: stored.packed !== undefined },
    target: { provider: stored.provider, model: stored.model },
    cache,
    attempts: [],
    failoverCount: 0,
    wastedNanoUsd: 0,
    firstWaitMs: 0,
    savedNanoUsd: stored.costNanoUsd,
    matchedBy: stored.matchedBy,
    dropped: stored.dropped ?? NONE_DROPPED,
    pays: () => false,
    received: () => NO_BATCHES,
    next: () => {
      const batch = replayed ? null : replayAll(whole, stored.packed !== undefined);
      replayed = true;
      return batch;
    },
    leave: nothing,
  };
}

function replayAll(whole: ChatResponse, isLarge: boolean): EventBatch {
  const batch = replayResponse(whole);
  return isLarge ? { ...batch, isLarge } : batch;
}

const NONE_DROPPED: readonly string[] = [];
const NO_BATCHES: readonly EventBatch[] = [];
const nothing = (): undefined => undefined;
