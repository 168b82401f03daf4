import type { Held } from '@llm0/core/async/room';
import { addUsage, type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import { GatewayError, givenUp } from '@llm0/core/errors/gateway-error';
import type { LogAttempt } from '@llm0/core/logs/log-record';
import { computeCost } from '@llm0/core/pricing/compute-cost';
import { AttemptPlan, type AttemptPlanOptions, attemptTimeoutMs, type Timed } from '@llm0/core/routing/attempt-plan';
import { firstChoice, type Route, type RouteTarget } from '@llm0/core/routing/resolve-targets';
import { isSameTarget, type Target } from '@llm0/core/routing/target';
import type { SkipReason } from '@llm0/core/routing/target-health';
import type { RequestTrace } from '@llm0/core/tracing/request-trace';
import type { UpstreamEffort, UpstreamSpend } from '@llm0/core/upstream/upstream-response';
import { mayBeBilled, wasNeverSent } from '@llm0/providers/transport/call-provider';
import type { Services } from '../../services/contract';
import { type Attempt, countSwitches, type UpstreamStep } from './attempt';
import { pause } from './back-off';
import { claimPlace } from './claim-place';
import { finalFailure, nobodyAsked } from './final-failure';

export type UpstreamNeeds = Pick<Services, 'config' | 'clock' | 'fetch' | 'connect' | 'metrics' | 'health' | 'routing'>;

/** One request, to be answered by one of its route's targets. */
export interface UpstreamJob<R = unknown> {
  /** Project with the provider keys. */
  readonly projectId: string;
  readonly request: R;
  readonly route: Route;
  readonly dropParams: boolean;
  /** Billable attempts within a strict cap; else Infinity. */
  readonly maxAttempts: number;
  readonly startMs: number;
  /** The answer is no stream; and how long the caller lets an attempt take. */
  readonly timed: Timed;
  readonly trace?: RequestTrace;
  /** Memory for complete answers. */
  readonly room?: Held;
  /** Aborts once nobody waits for the answer. */
  readonly signal: AbortSignal;
}

/** Outcomes of attempts that the provider may still bill. */
const STILL_BILLED: ReadonlySet<GatewayError['kind']> = new Set(['client_closed', 'overloaded', 'run_stopped']);
/** Error of an encoder that another provider may not raise. */
const REFUSED_BY_VENDOR: ReadonlySet<GatewayError['kind']> = new Set(['unsupported_parameter', 'invalid_request']);

/**
 * Tries the route's targets until one answers. Records each attempt and reports its outcome to the target's breaker.
 * Subclasses make one attempt and compute its cost.
 */
export abstract class UpstreamCall<Job extends UpstreamJob, Received, Opened, Result>
  implements AttemptPlanOptions<RouteTarget>
{
  protected readonly attempts: LogAttempt[] = [];
  protected readonly plan: AttemptPlan<RouteTarget>;
  readonly targets: readonly RouteTarget[];
  private startedMs: number;
  private begun = 0;
  private last: GatewayError | undefined;
  private soonestRetryMs = Number.POSITIVE_INFINITY;
  /** Attempts that the vendor may bill. */
  private billable = 0;
  /** No further attempt is made. */
  private isOver = false;
  private wastedNanoUsd = 0;
  private pausedMs = 0;
  private wastedUsage = ZERO_USAGE;
  /** Attempts with an open bill: running ones, and the answering one. */
  private readonly openAttempts: Attempt<Received>[] = [];
  private answering: Attempt<Received> | undefined;
  private wasteEstimated = false;
  protected mayHedge = false;

  constructor(
    protected readonly services: UpstreamNeeds,
    protected readonly job: Job,
  ) {
    this.startedMs = services.clock.monotonicMs();
    this.targets = job.route.targets;
    if (job.route.passedOver !== undefined) this.notePassedOver(job.route.passedOver);
    this.plan = new AttemptPlan<RouteTarget>(this, this.startedMs);
  }

  /** Without a retry after a time-out, one attempt may use all of the time. */
  get reservedMs(): number | undefined {
    const { timed, route } = this.job;
    return timed.isPlain && route.retryTimeouts !== true ? 0 : undefined;
  }

  timeoutMsOf({ timeouts }: RouteTarget): number {
    return attemptTimeoutMs(timeouts, this.services.config, this.job.timed);
  }

  refuses(target: RouteTarget): SkipReason | undefined {
    const { isDrained, checked } = target;
    const { health } = this.services;
    if (isDrained === true) return 'drained';
    if (checked !== undefined && health.refuses(checked) !== undefined) return 'check_failed';
    return health.refuses(target, this.job.projectId);
  }

  protected abstract createReceived(): Received;
  /** Makes the attempt; throws its failure. Sets `isSent`, and `isAnswered` if it can still fail then. */
  protected abstract open(attempt: Attempt<Received>, step: UpstreamStep, signal: AbortSignal): Promise<Opened>;
  /** Usage that the provider bills for a failed attempt. `isBilled`: certainly something. */
  protected abstract usageOf(attempt: Attempt<Received>, isBilled: boolean): Usage | undefined;
  protected abstract resultOf(opened: Opened): Result;

  /** Throws one error that lists every attempt. */
  async run(): Promise<Result> {
    for (let step = this.nextStep(this.startedMs); step !== undefined; step = this.nextStep()) {
      if (step.waitMs > 0) await pause(step.waitMs, this.job.signal);
      this.pausedMs += step.waitMs;
      if (step.passedOver.length > 0) this.notePassedOver(step.passedOver);
      const opened = await (this.mayHedge ? this.askHedged(step) : this.attempt(step, this.job.signal));
      if (opened !== undefined) return this.resultOf(opened);
    }
    this.notePassedOver(this.plan.takeSkipped());
    throw this.withAttempts(this.last ?? nobodyAsked(this.attempts));
  }

  /** Targets that aren't asked now are named in the log all the same. */
  protected notePassedOver(skipped: readonly { readonly target: Target; readonly reason: string }[]): void {
    if (skipped.length === 0) return;
    const startMs = this.services.clock.monotonicMs() - this.job.startMs;
    for (const { target, reason } of skipped) {
      const { provider, model } = target;
      this.attempts.push({ provider, model, outcome: reason, startMs, latencyMs: 0 });
    }
  }

  /** A step that may ask a second target meanwhile. */
  protected askHedged(step: UpstreamStep): Promise<Opened | undefined> {
    return this.attempt(step, this.job.signal);
  }

  /** undefined when the target failed and another attempt may be made; throws when none may. */
  async attempt(
    step: UpstreamStep,
    signal: AbortSignal,
    onBegin?: (attempt: Attempt<Received>) => void,
  ): Promise<Opened | undefined> {
    const attempt = this.begin(step.target);
    if (attempt === undefined) return undefined;
    onBegin?.(attempt);
    try {
      const opened = await this.open(attempt, step, signal);
      if (!attempt.isSuperseded) this.services.health.succeeded(attempt.target, attempt);
      return opened;
    } catch (error) {
      attempt.slots?.end();
      if (!attempt.isSuperseded) this.noteFailure(attempt, this.asUpstreamError(error));
      return undefined;
    }
  }

  /** The attempt is the answer. */
  protected noteSuccess(attempt: Attempt<Received>, answer: { readonly status: number }): UpstreamEffort<RouteTarget> {
    this.answering = attempt;
    // Another target answers: its place isn't needed.
    this.job.room?.place?.slots.end();
    const { attempts, wastedNanoUsd, wasteEstimated, pausedMs } = this;
    const firstWaitMs = this.services.clock.monotonicMs() - this.startedMs;
    const { session } = this.job.route;
    if (session !== undefined) this.services.routing().warmTargets.note(session, attempt.target);
    attempts.push(this.logAttempt(attempt, 'ok', answer));
    const failoverCount = attempts.length === 1 ? 0 : countSwitches(attempts);
    return { target: attempt.target, attempts, failoverCount, wastedNanoUsd, wasteEstimated, firstWaitMs, pausedMs };
  }

  protected tellFailure({ target, ownKeysOf }: Attempt, error: GatewayError, startedMs: number): void {
    const { failure, retryAfterMs } = error;
    if (failure === undefined) return;
    this.services.metrics.upstreamFailures.inc({ provider: target.provider, failure });
    this.services.health.failed(target, failure, { startedMs, ownKeysOf, retryAfterMs });
  }

  /** Nano-USD of an attempt that was no use; undefined where nothing is known to be billed. */
  protected costOf(attempt: Attempt<Received>, isBilled: boolean): number | undefined {
    this.close(attempt);
    const { priced } = attempt.target;
    const usage = priced && this.usageOf(attempt, isBilled);
    if (priced === undefined || usage === undefined) return undefined;
    const { costNanoUsd } = computeCost(usage, priced);
    if (costNanoUsd === 0) return undefined;
    this.wastedNanoUsd += costNanoUsd;
    this.wastedUsage = addUsage(this.wastedUsage, usage);
    this.wasteEstimated ||= usage.estimated === true;
    return costNanoUsd;
  }

  /** Cost of an abandoned call at this moment. `received`: events of the answering attempt. */
  spent(received?: Received): UpstreamSpend {
    const attempts = [...this.attempts];
    let [costNanoUsd, usage] = [this.wastedNanoUsd, this.wastedUsage];
    let isBilled = this.billable > 0;
    for (const attempt of this.openAttempts) {
      const { target, isSent } = attempt;
      const isAnswer = attempt === this.answering;
      const known = isAnswer && received !== undefined ? { ...attempt, received } : attempt;
      const own = isSent ? this.usageOf(known, true) : undefined;
      const ownNanoUsd = own && target.priced && computeCost(own, target.priced).costNanoUsd;
      if (!isAnswer) attempts.push(this.logAttempt(attempt, 'aborted', { costNanoUsd: ownNanoUsd }));
      costNanoUsd += ownNanoUsd ?? 0;
      if (own !== undefined) usage = addUsage(usage, own);
      isBilled ||= isSent;
    }
    return { attempts, costNanoUsd, usage, isBilled };
  }

  protected logAttempt(
    { target: { provider, model }, number, startedMs }: Attempt,
    outcome: string,
    { status, costNanoUsd }: { status?: number; costNanoUsd?: number },
  ): LogAttempt {
    const span = this.job.trace?.hasSpans === true ? number : undefined;
    const latencyMs = this.services.clock.monotonicMs() - startedMs;
    return { provider, model, outcome, startMs: startedMs - this.job.startMs, latencyMs, status, costNanoUsd, span };
  }

  protected nextStep(nowMs = this.services.clock.monotonicMs()): UpstreamStep | undefined {
    if (this.isOver || this.billable >= this.job.maxAttempts) return undefined;
    return this.plan.next(nowMs);
  }

  /** undefined if its provider has no place left. */
  private begin(target: RouteTarget): Attempt<Received> | undefined {
    const connected = this.services.connect(target, this.job.projectId);
    const { room } = this.job;
    const slots = room?.place === undefined ? connected?.takeSlots?.() : claimPlace(room, connected);
    if (slots === 'full') return this.noteFull(target);
    const attempt: Attempt<Received> = {
      target,
      number: ++this.begun,
      connected,
      slots,
      startedMs: this.services.clock.monotonicMs(),
      ownKeysOf: connected?.ownKeys === true ? this.job.projectId : undefined,
      received: this.createReceived(),
      isSent: false,
      isAnswered: false,
      isSuperseded: false,
    };
    if (attempt.number === 1) this.startedMs = attempt.startedMs;
    this.openAttempts.push(attempt);
    return attempt;
  }

  private noteFull(target: RouteTarget): undefined {
    this.services.health.abandoned(target);
    this.services.metrics.fullProviders.inc({ provider: target.provider });
    this.plan.skip(target, 'concurrency_limit');
  }

  /** Its bill is known. */
  private close(attempt: Attempt<Received>): void {
    const at = this.openAttempts.indexOf(attempt);
    if (at >= 0) this.openAttempts.splice(at, 1);
  }

  private noteFailure(attempt: Attempt<Received>, error: GatewayError): void {
    const { failure, retryAfterMs, upstreamStatus: status } = error;
    const { target } = attempt;
    if (failure === undefined) {
      this.services.health.abandoned(target);
      if (!STILL_BILLED.has(error.kind)) this.close(attempt);
      if (!REFUSED_BY_VENDOR.has(error.kind) || isSameTarget(target, this.job.route.targets[0])) throw error;
      // Only this fallback can't take the request; others may. The first failure stays the cause.
      this.attempts.push(this.logAttempt(attempt, error.kind, {}));
      this.last ??= error;
      return;
    }
    const isBilled = attempt.isSent && (attempt.isAnswered || mayBeBilled(error, target.provider));
    const costNanoUsd = this.costOf(attempt, isBilled);
    this.attempts.push(this.logAttempt(attempt, failure, { status, costNanoUsd }));
    this.tellFailure(attempt, error, attempt.startedMs);
    this.last = error;
    if (costNanoUsd !== undefined || isBilled) this.billable += 1;
    if (retryAfterMs !== undefined) this.soonestRetryMs = Math.min(this.soonestRetryMs, retryAfterMs);
    if (!this.plan.failed(target, failure, retryAfterMs)) throw this.withAttempts(error);
    this.isOver ||= this.endsAll(error);
  }

  /** A whole answer that took too long elsewhere would take as long again, and cost as much, unless its alias wants that. */
  private endsAll(error: GatewayError): boolean {
    const { timed, route } = this.job;
    return error.failure === 'timeout' && timed.isPlain && route.retryTimeouts !== true && !wasNeverSent(error);
  }

  /** Passes other errors (a bug, a disconnect) unchanged. */
  private asUpstreamError(error: unknown): GatewayError {
    const { signal } = this.job;
    if (signal.aborted) return givenUp(signal, error);
    if (error instanceof GatewayError) return error;
    return new GatewayError('internal', 'The gateway failed while calling the provider.', { cause: error });
  }

  private withAttempts(error: GatewayError): GatewayError {
    const { attempts, soonestRetryMs } = this;
    return finalFailure(error, { attempts, soonestRetryMs, requested: firstChoice(this.job.route) });
  }
}
