import type { Subscriber } from '@llm0/core/upstream/flight';
import type { UpstreamResponse } from '@llm0/core/upstream/upstream-response';
import type { Services } from '../../services/contract';
import type { Admission } from '../request/admit';
import type { RequestContext } from '../request/open-context';
import type { ChatNeeds } from './attempt-target';
import { callUpstream } from './call-upstream';
import type { Completion, PendingCompletion } from './completion';

export type AskNeeds = ChatNeeds & Pick<Services, 'flights' | 'bodyLog'>;

/** A call that nobody shares. */
export function askUpstream(services: AskNeeds, ctx: RequestContext, admission: Admission): PendingCompletion {
  const subscriber = startFlight(services, { ctx, admission, key: undefined });
  return {
    answer: awaitFirstOutput(subscriber),
    leave: () => subscriber.leave(),
    spent: () => subscriber.spent(),
  };
}

export interface NewFlight {
  readonly ctx: RequestContext;
  readonly admission: Admission;
  /** Set where others may join it. */
  readonly key: string | undefined;
}

/** Without waiting for it. */
export function startFlight(services: AskNeeds, { ctx, admission, key }: NewFlight): Subscriber {
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

export function awaitFirstOutput(subscriber: Subscriber): Promise<Completion> {
  return subscriber.open().then(
    (upstream) => completionOf(subscriber, upstream),
    (error: unknown) => {
      throw subscriber.shareOf(error);
    },
  );
}

function completionOf(subscriber: Subscriber, upstream: UpstreamResponse): Completion {
  const { batches } = upstream;
  return {
    atOnce: 'length' in batches && batches.length === 1 ? batches[0] : undefined,
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
