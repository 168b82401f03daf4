import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { LogAttempt } from '@llm0/core/logs/log-record';
import { computeCost } from '@llm0/core/pricing/compute-cost';
import { AttemptPlan } from '@llm0/core/routing/attempt-plan';
import type { RouteTarget } from '@llm0/core/routing/resolve-targets';
import { isSameTarget } from '@llm0/core/routing/target';
import { wasNeverSent } from '@llm0/providers/transport/call-provider';
import { guessUsage, partialUsage } from '../ledger/guess-usage';
import { lastUsage } from '../ledger/meter';
import {
  type Attempt,
  type AttemptNeeds,
  beginAttempt,
  type OpenedTarget,
  openTarget,
  type UpstreamJob,
  type UpstreamStep,
} from './attempt-target';
import { pause } from './back-off';
import { countSwitches } from './count-switches';
import { finalFailure } from './final-failure';
import type { UpstreamResponse } from './flight';
import { hedgeAttempt } from './hedging';

/** What a vendor's encoder says of a request that others may well take. */
const REFUSED_BY_VENDOR: ReadonlySet<GatewayError['kind']> = new Set(['unsupported_parameter', 'invalid_request']);

/**
 * Tries the route's targets until one produces output; throws one error that lists every attempt. Each attempt's outcome
 * is told to the target's breaker, also a failure after the first output.
 */
export async function callUpstream(services: AttemptNeeds, job: UpstreamJob): Promise<UpstreamResponse> {
  const call = new UpstreamCall(services, job);
  const { hedgeAfterMs } = job.route;
  // Two attempts at once may cost twice: never under a cap that is absolute.
  const canHedge = hedgeAfterMs !== undefined && job.maxAttempts === Number.POSITIVE_INFINITY;
  let hedged = !canHedge;
  for (let step = call.nextStep(); step !== undefined; step = call.nextStep()) {
    if (step.waitMs > 0) await pause(step.waitMs, job.signal);
    let opened: OpenedTarget | undefined;
    if (hedged) opened = await call.attempt(step, job.signal);
    else {
      const outcome = await hedgeAttempt(call, { step, afterMs: hedgeAfterMs ?? 0, signal: job.signal });
      ({ opened, hedged } = outcome);
    }
    if (opened !== undefined) return call.answer(opened);
  }
  throw call.failure();
}

/** The attempts of one call, and what is known of them. */
export class UpstreamCall {
  private readonly attempts: LogAttempt[] = [];
  private readonly plan: AttemptPlan<RouteTarget>;
  private readonly startedMs: number;
  /** The slower one of two hedged attempts. */
  private superseded: LogAttempt | undefined;
  private last: GatewayError | undefined;
  private soonestRetryMs = Number.POSITIVE_INFINITY;
  /** Attempts that the vendor may bill. */
  private billable = 0;
  private wastedNanoUsd = 0;
  private wasteEstimated = false;

  constructor(
    private readonly services: AttemptNeeds,
    private readonly job: UpstreamJob,
  ) {
    this.startedMs = services.clock.monotonicMs();
    this.plan = new AttemptPlan({
      targets: job.route.targets,
      requestTimeoutMs: services.config.requestTimeoutMs,
      nowMs: this.startedMs,
      refuses: (target) => services.health.refuses(target, job.projectId),
      random: Math.random,
    });
  }

  nextStep(): UpstreamStep | undefined {
    if (this.billable >= this.job.maxAttempts) return undefined;
    return this.noted(this.plan.next(this.services.clock.monotonicMs()));
  }

  nextHedge(): UpstreamStep | undefined {
    return this.noted(this.plan.nextHedge(this.services.clock.monotonicMs()));
  }

  /** undefined when the target failed and another attempt may be made; throws when none may. */
  async attempt(step: UpstreamStep, signal: AbortSignal, onBegin?: (attempt: Attempt) => void) {
    const attempt = beginAttempt(this.services, this.job, step.target);
    onBegin?.(attempt);
    try {
      const opened = await openTarget(this.services, this.job, { attempt, step, signal });
      if (!attempt.isSuperseded) this.services.health.succeeded(attempt.target, attempt);
      return opened;
    } catch (error) {
      if (attempt.isSuperseded) return undefined;
      this.noteFailure(attempt, this.asUpstreamError(error));
      return undefined;
    }
  }

  answer({ attempt, status, dropped, batches }: OpenedTarget): UpstreamResponse {
    const nowMs = this.services.clock.monotonicMs();
    const { attempts, superseded } = this;
    const { target } = attempt;
    // The answer of a hedge stands behind the attempt it was to help, that of the first one before its hedge.
    const isHedge = superseded !== undefined && superseded.startMs < attempt.startedMs - this.job.startMs;
    if (superseded !== undefined && isHedge) attempts.push(superseded);
    attempts.push(this.logAttempt(attempt, 'ok', { status }));
    const failoverCount = countSwitches(attempts);
    if (superseded !== undefined && !isHedge) attempts.push(superseded);
    return {
      ...{ target, attempts, dropped, failoverCount, batches },
      wastedNanoUsd: this.wastedNanoUsd,
      wasteEstimated: this.wasteEstimated,
      firstWaitMs: nowMs - this.startedMs,
      onBroken: (error) => this.noteBroken(attempt, error),
    };
  }

  /** The other attempt was faster. What the vendor reported is booked, else what it was sent, as an estimate. */
  supersede(attempt: Attempt): void {
    attempt.isSuperseded = true;
    this.services.health.abandoned(attempt.target);
    this.services.metrics.hedges.inc({ provider: attempt.target.provider });
    const costNanoUsd = this.costOf(attempt, true);
    this.superseded = this.logAttempt(attempt, 'superseded', { costNanoUsd });
  }

  failure(): GatewayError {
    return this.withAttempts(this.last ?? new GatewayError('upstream_timeout', 'No time was left to ask a provider.'));
  }

  private noted(step: UpstreamStep | undefined): UpstreamStep | undefined {
    if (step === undefined || step.passedOver.length === 0) return step;
    const startMs = this.services.clock.monotonicMs() - this.job.startMs;
    for (const { target, reason } of step.passedOver) {
      this.attempts.push({ provider: target.provider, model: target.model, outcome: reason, startMs, latencyMs: 0 });
    }
    return step;
  }

  private noteFailure(attempt: Attempt, error: GatewayError): void {
    const { failure, retryAfterMs, upstreamStatus: status } = error;
    const { target, startedMs, ownKeysOf } = attempt;
    if (failure === undefined) {
      this.services.health.abandoned(target);
      if (!REFUSED_BY_VENDOR.has(error.kind) || isSameTarget(target, this.job.route.targets[0])) throw error;
      // Only this stand-in can't take the request as it is: others may, and the first one's failure stays the cause.
      this.attempts.push(this.logAttempt(attempt, error.kind, {}));
      this.last ??= error;
      return;
    }
    const costNanoUsd = this.costOf(attempt, false);
    this.attempts.push(this.logAttempt(attempt, failure, { status, costNanoUsd }));
    this.services.metrics.upstreamFailures.inc({ provider: target.provider, failure });
    this.services.health.failed(target, failure, { startedMs, ownKeysOf, retryAfterMs });
    this.last = error;
    if (costNanoUsd !== undefined || (status === undefined && !wasNeverSent(error))) this.billable += 1;
    if (retryAfterMs !== undefined) this.soonestRetryMs = Math.min(this.soonestRetryMs, retryAfterMs);
    if (!this.plan.failed(target, failure, retryAfterMs)) throw this.withAttempts(error);
  }

  /** The answer broke off after its first output. */
  private noteBroken({ target, ownKeysOf }: Attempt, error: unknown): void {
    if (!(error instanceof GatewayError) || error.failure === undefined) return;
    const startedMs = this.services.clock.monotonicMs();
    this.services.metrics.upstreamFailures.inc({ provider: target.provider, failure: error.failure });
    this.services.health.failed(target, error.failure, { startedMs, ownKeysOf, retryAfterMs: error.retryAfterMs });
  }

  /** Nano-USD of an attempt that was no use; undefined where nothing is known to be billed. */
  private costOf(attempt: Attempt, isBilled: boolean): number | undefined {
    const { received, target } = attempt;
    const { request } = this.job;
    const reported = lastUsage(received);
    if (target.priced === undefined || (reported === undefined && !isBilled)) return undefined;
    const usage = reported === undefined ? guessUsage(request, received) : partialUsage(request, received, reported);
    const { costNanoUsd } = computeCost(usage, target.priced);
    if (costNanoUsd === 0) return undefined;
    this.wastedNanoUsd += costNanoUsd;
    this.wasteEstimated ||= usage.estimated === true;
    return costNanoUsd;
  }

  private logAttempt(
    { target, startedMs }: Attempt,
    outcome: string,
    more: { status?: number; costNanoUsd?: number },
  ): LogAttempt {
    const { provider, model } = target;
    const latencyMs = this.services.clock.monotonicMs() - startedMs;
    return { provider, model, outcome, startMs: startedMs - this.job.startMs, latencyMs, ...more };
  }

  /** Anything that is not an upstream's failure (a bug, the caller leaving) is passed on as it is. */
  private asUpstreamError(error: unknown): GatewayError {
    if (this.job.signal.aborted) {
      return new GatewayError('client_closed', 'The caller closed the connection.', { cause: error });
    }
    if (error instanceof GatewayError) return error;
    return new GatewayError('internal', 'The gateway failed while asking the provider.', { cause: error });
  }

  private withAttempts(error: GatewayError): GatewayError {
    return finalFailure(error, this.attempts, this.soonestRetryMs);
  }
}
