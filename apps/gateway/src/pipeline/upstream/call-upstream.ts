import type { EventBatch } from '@llm0/core/chat/event';
import type { Usage } from '@llm0/core/chat/usage';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { LogAttempt } from '@llm0/core/logs/log-record';
import { guessUsage, lastUsage, partialUsage } from '@llm0/core/pricing/guess-usage';
import type { UpstreamCallUnderWay } from '@llm0/core/upstream/flight';
import type { UpstreamResponse, UpstreamSpend } from '@llm0/core/upstream/upstream-response';
import type { UpstreamStep } from './attempt';
import { type ChatAttempt, type ChatJob, type ChatNeeds, type OpenedTarget, openTarget } from './attempt-target';
import { hedgeAttempt } from './hedging';
import { UpstreamCall } from './upstream-call';

/**
 * Tries the route's targets until one produces output; throws one error with every attempt. Reports later failures to
 * the target's breaker as well.
 */
export const callUpstream = (services: ChatNeeds, job: ChatJob): UpstreamCallUnderWay => new ChatCall(services, job);

class ChatCall
  extends UpstreamCall<ChatJob, EventBatch[], OpenedTarget, UpstreamResponse>
  implements UpstreamCallUnderWay
{
  readonly abort: AbortController;
  readonly held: ChatJob['held'];
  readonly response: Promise<UpstreamResponse>;
  /** The slower one of two hedged attempts. */
  private superseded: LogAttempt | undefined;
  private mayHedge: boolean;
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

  protected override ask(step: UpstreamStep): Promise<OpenedTarget | undefined> {
    return this.mayHedge ? this.askHedged(step) : this.attempt(step, this.job.signal);
  }

  private async askHedged(step: UpstreamStep): Promise<OpenedTarget | undefined> {
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
    const answeredBy = startedBy(attempt.received);
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
