import type { EventBatch } from '@llm0/core/chat/event';
import type { Usage } from '@llm0/core/chat/usage';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { LogAttempt } from '@llm0/core/logs/log-record';
import { guessUsage, lastUsage, partialUsage } from '@llm0/core/pricing/guess-usage';
import type { Subscriber } from '@llm0/core/upstream/flight';
import type { UpstreamCallUnderWay, UpstreamResponse, UpstreamSpend } from '@llm0/core/upstream/upstream-response';
import type { Services } from '../../services/contract';
import type { Admission } from '../request/admit';
import type { RequestContext } from '../request/open-context';
import type { UpstreamStep } from './attempt';
import { type ChatAttempt, type ChatJob, type ChatNeeds, type OpenedTarget, openTarget } from './attempt-target';
import type { Completion, PendingCompletion } from './completion';
import { hedgeAttempt } from './hedging';
import { UpstreamCall } from './upstream-call';

/**
 * Tries the route's targets until one produces output; throws one error with every attempt. Reports later failures to
 * the target's breaker as well.
 */
export class ChatCall
  extends UpstreamCall<ChatJob, EventBatch[], OpenedTarget, UpstreamResponse>
  implements UpstreamCallUnderWay
{
  readonly abort: AbortController;
  readonly held: ChatJob['held'];
  readonly response: Promise<UpstreamResponse>;
  /** The slower one of two hedged attempts. */
  private superseded: LogAttempt | undefined;
  /** Places of the answering attempt. */
  private slots: ChatAttempt['slots'];
  private hasEnded = false;

  constructor(
    private readonly needs: ChatNeeds,
    job: ChatJob,
  ) {
    super(needs, job);
    // Two concurrent attempts may cost twice: never under an absolute cap.
    this.mayHedge = job.route.hedgeAfterMs !== undefined && job.maxAttempts === Number.POSITIVE_INFINITY;
    this.abort = job.abort;
    this.held = job.held;
    this.response = this.run();
  }

  /** `read`: batches read of the answer. */
  override spent(read: readonly EventBatch[] = []): UpstreamSpend {
    return super.spent(read.length === 0 ? undefined : [...read]);
  }

  /** Ends an attempt that lost to a faster one. Books the vendor's usage, else an estimate of the input. */
  supersede(attempt: ChatAttempt): void {
    attempt.isSuperseded = true;
    attempt.slots?.end();
    this.services.health.abandoned(attempt.target);
    this.services.metrics.hedges.inc({ provider: attempt.target.provider });
    const costNanoUsd = this.costOf(attempt, attempt.isSent);
    this.superseded = this.logAttempt(attempt, 'superseded', { costNanoUsd });
  }

  end(): void {
    this.hasEnded = true;
    this.slots?.end();
    this.job.onEnd?.();
  }

  nextHedge(): UpstreamStep | undefined {
    const step = this.plan.nextHedge(this.services.clock.monotonicMs());
    if (step !== undefined) this.notePassedOver(step.passedOver);
    return step;
  }

  protected override async askHedged(step: UpstreamStep): Promise<OpenedTarget | undefined> {
    const afterMs = this.job.route.hedgeAfterMs ?? 0;
    const { opened, hedged } = await hedgeAttempt(this, { step, afterMs, signal: this.job.signal });
    this.mayHedge = !hedged;
    return opened;
  }

  protected createReceived(): EventBatch[] {
    return [];
  }

  protected open(attempt: ChatAttempt, step: UpstreamStep, signal: AbortSignal): Promise<OpenedTarget> {
    return openTarget(this.needs, this.job, { attempt, step, signal });
  }

  protected usageOf({ received }: ChatAttempt, isBilled: boolean): Usage | undefined {
    const { request } = this.job;
    const reported = lastUsage(received);
    if (reported !== undefined) return partialUsage(request, received, reported);
    return isBilled ? guessUsage(request, received) : undefined;
  }

  protected resultOf(opened: OpenedTarget): UpstreamResponse {
    const { attempt, dropped, batches } = opened;
    const { attempts, superseded } = this;
    // A hedge's answer is listed after its first attempt; the first attempt's answer before its hedge.
    const isHedge = superseded !== undefined && superseded.startMs < attempt.startedMs - this.job.startMs;
    if (superseded !== undefined && isHedge) attempts.push(superseded);
    const effort = this.noteSuccess(attempt, opened);
    this.slots = attempt.slots;
    if (this.hasEnded) this.slots?.end();
    if (superseded !== undefined && !isHedge) attempts.push(superseded);
    const whole = attempt.received[0]?.whole;
    const answeredBy = whole === undefined ? startedBy(attempt.received) : whole.model;
    if ('length' in batches) return { ...effort, dropped, answeredBy, batches };
    return { ...effort, dropped, answeredBy, batches, onBroken: (error) => this.noteBroken(attempt, error) };
  }

  /** The answer broke off after its first output. */
  private noteBroken(attempt: ChatAttempt, error: unknown): void {
    if (error instanceof GatewayError) this.tellFailure(attempt, error, this.services.clock.monotonicMs());
  }
}

function startedBy(received: readonly EventBatch[]): string | undefined {
  for (const batch of received) {
    if (batch.whole !== undefined) return batch.whole.model;
    for (const event of batch.events) if (event.type === 'start') return event.model;
  }
  return undefined;
}

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
      return new FlightCompletion(subscriber, await subscriber.flight.answer);
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
  const call = new ChatCall(services, {
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
  readonly pausedMs: number | undefined;
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
    this.pausedMs = upstream.pausedMs;
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
