import { type CachedAnswer, type CacheRoom, mayCache, mayShare } from '@llm0/core/cache/cached-answer';
import type { SemanticLookUp } from '@llm0/core/cache/semantic/semantic-cache';
import type { EventBatch } from '@llm0/core/chat/event';
import { replayResponse } from '@llm0/core/chat/replay';
import type { ChatResponse } from '@llm0/core/chat/response';
import { clientClosed } from '@llm0/core/errors/gateway-error';
import { mayAnswer } from '@llm0/core/routing/named-targets';
import type { Subscriber } from '@llm0/core/upstream/flight';
import type { CacheOutcome } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import type { Admission } from '../request/admit';
import type { RequestContext } from '../request/open-context';
import { type AskNeeds, PlaceOnFlight, startFlight } from '../upstream/call-upstream';
import { type Completion, changed, type PendingCompletion } from '../upstream/completion';
import { findSimilar, keepForSimilar, type SimilarQuestion, similarQuestion } from './find-similar';

export type ProduceNeeds = AskNeeds & Pick<Services, 'warmCache' | 'semanticCache' | 'hotStore'>;

/** Answer of an admitted request: from the cache, an identical call or upstream. */
export function produceAnswer(services: ProduceNeeds, ctx: RequestContext, admission: Admission): PendingCompletion {
  if (admission.stored !== undefined) {
    const ready = replayStored(admission.stored, admission.decision.type === 'replayed' ? 'miss' : 'exact');
    return { answer: Promise.resolve(ready), ready, leave: nothing, spent: nothing };
  }
  const isIncomplete = admission.decision.type === 'admitted' && admission.decision.hotTierIncomplete;
  const warmKey = isIncomplete ? admission.plan.admit.cacheKey : undefined;
  const { semanticCacheEnabled, semanticShadow } = admission.principal.project;
  const isSimilar = semanticCacheEnabled || semanticShadow;
  const question = isSimilar ? similarQuestion(services, ctx, admission) : undefined;
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

/** Asks the warm tier, then the semantic cache, then upstream. A warm hit refills the hot tier. */
function askOtherTiers(services: ProduceNeeds, { ctx, admission, warmKey, question }: OtherTiers): PendingCompletion {
  let flight: PendingCompletion | undefined;
  let left = false;
  const produce = async (): Promise<Completion> => {
    const warm =
      warmKey === undefined ? undefined : await askWarmTier(services, { admission, room: ctx.held }, warmKey);
    if (warm !== undefined) return warm;
    const lookUp = question?.isAsked === true && !left ? await findSimilar(services, question) : undefined;
    if (lookUp?.hit !== undefined) return replaySimilar(lookUp.hit);
    if (left) throw clientClosed();
    flight = joinFlight(services, ctx, admission);
    const answer = await flight.answer;
    return question === undefined ? answer : changed(answer, { onCached: keepForSimilar(services, question, lookUp) });
  };
  const leave = () => {
    left = true;
    flight?.leave();
  };
  return { answer: produce(), leave, spent: () => flight?.spent() };
}

async function askWarmTier(
  services: ProduceNeeds,
  { admission, room }: { readonly admission: Admission; readonly room: CacheRoom },
  key: string,
): Promise<Completion | undefined> {
  const { project } = admission.principal;
  const projectId = project.id;
  const hit = await services.warmCache.find(projectId, key, room);
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

/** An identical call under way, plain or streamed, or a new one. */
function joinFlight(services: ProduceNeeds, ctx: RequestContext, admission: Admission): PendingCompletion {
  const isOwn = ctx.runId !== undefined && services.runs.has(admission.principal.project.id, ctx.runId);
  // Stopping a run cancels its calls.
  const key = isOwn ? undefined : shareKeyOf(admission);
  const joined = key === undefined ? undefined : services.flights.join(key);
  if (joined !== undefined && !admission.plan.request.stream)
    return new PlainFollower(services, { ctx, admission }, joined);
  return new PlaceOnFlight(joined ?? startFlight(services, { ctx, admission, key }));
}

/** undefined for a call that nobody shares. */
function shareKeyOf({ plan, principal }: Admission): string | undefined {
  const { cacheKey } = plan.admit;
  if (cacheKey === undefined || !mayShare(plan.request, principal.project)) return undefined;
  const { shared } = plan.route;
  return shared === undefined ? cacheKey : `${cacheKey} ${shared}`;
}

/** A plain follower has sent nothing yet, so after a broken answer it asks again on its own. */
class PlainFollower extends PlaceOnFlight {
  private left = false;

  constructor(
    private readonly services: ProduceNeeds,
    private readonly asked: Pick<OtherTiers, 'ctx' | 'admission'>,
    joined: Subscriber,
  ) {
    super(joined);
  }

  override leave(): void {
    this.left = true;
    super.leave();
  }

  protected override async begin(): Promise<Completion> {
    const { subscriber } = this;
    const answer = await super.begin();
    try {
      await subscriber.awaitEnd();
      return answer;
    } catch (error) {
      if (this.left || subscriber.pays()) throw error;
      subscriber.leave();
      this.subscriber = startFlight(this.services, { ...this.asked, key: undefined });
      return super.begin();
    }
  }
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
