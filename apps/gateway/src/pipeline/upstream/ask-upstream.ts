import type { EventBatch } from '@llm0/core/chat/event';
import type { Subscriber } from '@llm0/core/upstream/flight';
import type { UpstreamResponse, UpstreamSpend } from '@llm0/core/upstream/upstream-response';
import type { Services } from '../../services/contract';
import type { Admission } from '../request/admit';
import type { RequestContext } from '../request/open-context';
import type { ChatNeeds } from './attempt-target';
import { callUpstream } from './call-upstream';
import type { Completion, PendingCompletion } from './completion';

export type AskNeeds = ChatNeeds & Pick<Services, 'flights' | 'bodyLog' | 'runs'>;

/** A call that nobody shares. */
export const askUpstream = (services: AskNeeds, ctx: RequestContext, admission: Admission): PendingCompletion =>
  new PlaceOnFlight(startFlight(services, { ctx, admission, key: undefined }));

/** One request's place on a call, its own or another's. */
export class PlaceOnFlight implements PendingCompletion {
  readonly answer: Promise<Completion>;

  constructor(protected subscriber: Subscriber) {
    this.answer = this.begin();
  }

  /** Resolves at the first output. */
  protected async begin(): Promise<Completion> {
    const { subscriber } = this;
    try {
      return new FlightCompletion(subscriber, await subscriber.open());
    } catch (error) {
      throw subscriber.shareOf(error);
    }
  }

  leave(): void {
    this.subscriber.leave();
  }

  spent(): UpstreamSpend | undefined {
    return this.subscriber.spent();
  }
}

export interface NewFlight {
  readonly ctx: RequestContext;
  readonly admission: Admission;
  /** Set where others may join it. */
  readonly key: string | undefined;
}

const PLAIN = { isPlain: true } as const;
const STREAMED = { isPlain: false } as const;

/** Without waiting for it. */
export function startFlight(services: AskNeeds, { ctx, admission, key }: NewFlight): Subscriber {
  const { plan } = admission;
  const { bodyLog } = services;
  const abort = new AbortController();
  const timed = plan.request.stream ? STREAMED : PLAIN;
  const { timeoutMs } = ctx.controls;
  const projectId = admission.principal.project.id;
  const call = callUpstream(services, {
    projectId,
    request: admission.toSend ?? plan.request,
    route: plan.route,
    dropParams: plan.dropParams,
    outputLimit: plan.outputLimit,
    maxAttempts: plan.maxAttempts,
    startMs: ctx.startMs,
    timed: timeoutMs === undefined ? timed : { ...timed, atMostMs: timeoutMs },
    trace: ctx.trace,
    room: ctx.held,
    abort,
    signal: abort.signal,
    held: ctx.held.share(),
    onEnd: ctx.runId === undefined ? undefined : services.runs.watch(projectId, ctx.runId, abort),
    onSend: bodyLog.isOff === true ? undefined : (body) => bodyLog.noteSent(ctx.requestId, body),
  });
  return services.flights.start(key, call);
}

/** The answer of a call, as one of its readers gets it. */
class FlightCompletion implements Completion {
  readonly atOnce: Completion['atOnce'];
  readonly target: Completion['target'];
  readonly cache: Completion['cache'];
  readonly attempts: Completion['attempts'];
  readonly failoverCount: number;
  readonly wastedNanoUsd: number;
  readonly wasteEstimated: boolean | undefined;
  readonly firstWaitMs: number;
  readonly savedNanoUsd = 0;
  readonly dropped: readonly string[];
  readonly answeredBy: string | undefined;

  constructor(
    private readonly subscriber: Subscriber,
    upstream: UpstreamResponse,
  ) {
    const { batches } = upstream;
    this.atOnce = 'length' in batches && batches.length === 1 ? batches[0] : undefined;
    this.target = upstream.target;
    this.cache = subscriber.isFollower ? 'exact' : 'miss';
    this.attempts = subscriber.isFollower ? NO_ATTEMPTS : upstream.attempts;
    this.failoverCount = upstream.failoverCount;
    this.wastedNanoUsd = upstream.wastedNanoUsd;
    this.wasteEstimated = upstream.wasteEstimated;
    this.firstWaitMs = upstream.firstWaitMs;
    this.dropped = upstream.dropped;
    this.answeredBy = upstream.answeredBy;
  }

  pays(): boolean {
    return this.subscriber.flight.pays(this.subscriber);
  }

  received(): readonly EventBatch[] {
    return this.subscriber.flight.received();
  }

  next(): EventBatch | null | Promise<EventBatch | null> {
    return this.subscriber.next();
  }

  leave(): void {
    this.subscriber.flight.leave(this.subscriber);
  }
}

const NO_ATTEMPTS: Completion['attempts'] = [];
