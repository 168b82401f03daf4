import { backendProvider } from '@llm0/core/backends/backend';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import type { CacheWrite } from '@llm0/core/limits/hot-store';
import type { LogAttempt } from '@llm0/core/logs/log-record';
import { serverOf } from '@llm0/core/tracing/request-trace';
import { wasNeverSent } from '@llm0/providers/transport/call-backend';
import { Booking, type BookingInput, type Ending } from '../metering/booking';
import type { Outcome } from '../metering/build-record';
import type { CacheHit, InferJob, InferPlan } from './plan-infer';

export type InferMeterInput = BookingInput<InferPlan, CacheHit> & { readonly job: InferJob };

const TOO_MANY = 429;

/** Measures one backend request and settles it exactly once. */
export class InferMeter extends Booking<InferMeterInput> {
  /** Attempts at the backend, in order. */
  readonly attempts: LogAttempt[] = [];
  private waitMs: number | undefined;
  private ttftMs: number | undefined;
  private answered = false;
  private isUnderWay = false;
  /** True once an attempt may have run, whatever became of the next ones. */
  private mayHaveRun = false;

  /** An attempt is sent. */
  noteSent(): void {
    this.isUnderWay = true;
  }

  /** The attempt under way failed. */
  noteFailure(error: GatewayError): void {
    const isRefused = error.upstreamStatus !== undefined && !isPaid(error.upstreamStatus);
    this.mayHaveRun ||= !isRefused && !wasNeverSent(error);
    this.isUnderWay = false;
  }

  /** The backend's headers are there. Gives the gateway's own part of the time so far. */
  noteAnswer(waitMs: number): number {
    this.waitMs = waitMs;
    this.answered = true;
    return this.noteFirst();
  }

  /** The first byte goes out. */
  noteFirst(): number {
    this.ttftMs ??= this.elapsedMs();
    return Math.max(0, this.ttftMs - (this.waitMs ?? 0));
  }

  /** A free cache hit. */
  completeHit(status: number): void {
    const { pricePerRequestNanoUsd } = this.input.admission.plan.backend;
    this.noteFirst();
    this.book({ status: 'success', httpStatus: status }, { cache: 'exact', savedNanoUsd: pricePerRequestNanoUsd });
  }

  /** The whole answer was sent; a status from 400 is a failure in the backend's words. */
  complete(status: number, cache?: CacheWrite): void {
    const costNanoUsd = isPaid(status) ? this.price : 0;
    if (status < 400) {
      this.book({ status: 'success', httpStatus: status }, { costNanoUsd }, cache);
      return;
    }
    const code = status === TOO_MANY ? 'upstream_rate_limited' : status < 500 ? 'upstream_rejected' : 'upstream_error';
    const error = { code, message: `The backend answered with status ${status}.` };
    this.book({ status: 'error', httpStatus: status, error }, { costNanoUsd }, cache);
  }

  override fail(error: GatewayError): void {
    if (this.isUnderWay) this.noteFailure(error);
    super.fail(error);
  }

  protected end(ending: Ending): void {
    this.book(ending, { costNanoUsd: this.mayHaveRun || this.isUnderWay ? this.price : 0 });
  }

  private get price(): number {
    return this.input.admission.plan.backend.pricePerRequestNanoUsd;
  }

  private book(
    ending: Ending,
    {
      cache = 'miss',
      costNanoUsd = 0,
      savedNanoUsd = 0,
    }: Partial<Pick<Outcome, 'cache' | 'costNanoUsd' | 'savedNanoUsd'>>,
    write?: CacheWrite,
  ): void {
    const { admission, ctx, job } = this.input;
    const { name } = admission.plan.backend;
    const provider = backendProvider(name);
    const { waitMs, ttftMs, attempts } = this;
    const latencyMs = this.elapsedMs();
    const overheadMs = ttftMs === undefined ? undefined : Math.max(0, ttftMs - (waitMs ?? 0));
    const outcome: Outcome = {
      ...{ requestedModel: job.model, model: name, stream: false, provider },
      finalProvider: this.answered || cache === 'exact' ? provider : undefined,
      ...{ usage: ZERO_USAGE, costNanoUsd, savedNanoUsd, cache },
      costDetail: costNanoUsd > 0 ? { fees: costNanoUsd } : undefined,
      ...{ latencyMs, ttftMs, overheadMs },
      upstreamMs: waitMs === undefined ? undefined : Math.max(0, latencyMs - (overheadMs ?? 0)),
      ...{ attempts, failoverCount: 0 },
      server: ctx.trace?.mark && serverOf(admission.plan.backend.url),
      ...ending,
    };
    this.settle(outcome, write, 0);
  }
}

/** A proxy gave up on running work: the same as no answer. */
const GAVE_UP: ReadonlySet<number> = new Set([504, 524]);

/** Failures and refusals of a backend are free. */
const isPaid = (status: number): boolean => (status < 500 && status !== TOO_MANY) || GAVE_UP.has(status);
