import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import type { CostDetail, LogAttempt } from '@llm0/core/logs/log-record';
import { computeCost, UNPRICED } from '@llm0/core/pricing/compute-cost';
import type { Target } from '@llm0/core/routing/target';
import { Booking, type BookingInput, type BookingNeeds, type Ending } from '../metering/booking';
import type { Outcome } from '../metering/build-record';
import type { RealtimePlan } from './plan-realtime';

export interface MeteredPart extends BookingInput<RealtimePlan, never> {
  readonly target: Target;
  /** What it used as far as the gateway knows; undefined: the vendor bills nothing. */
  readonly estimate: () => Usage | undefined;
  readonly onSettled?: () => void;
  /** A whole session: its latency is the time until it was there, and its length a unit of its own. */
  readonly isSession?: true;
}

const SUCCESS: Ending = { status: 'success', httpStatus: 200 };

/** Measures a session, or one of its parts, and settles it once. */
export class SessionMeter extends Booking<MeteredPart> {
  private ttftMs: number | undefined;
  private target: Target;
  private attempts: readonly LogAttempt[] = [];
  private isFree = false;

  constructor(needs: BookingNeeds, input: MeteredPart) {
    super(needs, input);
    this.target = input.target;
  }

  /** It was opened there. */
  answeredBy(target: Target, attempts: readonly LogAttempt[]): void {
    this.target = target;
    this.attempts = attempts;
  }

  /** The vendor begins to answer. */
  markBegin(): void {
    this.ttftMs ??= this.elapsedMs();
  }

  /** Books what the vendor told; undefined = nothing, so that the gateway's estimate counts. */
  complete(usage: Usage | undefined, failure?: string): void {
    const ending: Ending =
      failure === undefined
        ? SUCCESS
        : { status: 'error', httpStatus: 502, error: { code: 'upstream_error', message: failure } };
    // Usage in units without a price is no free usage.
    if (usage === undefined || this.isUnpriced(usage)) this.end(ending);
    else this.book({ ...this.described(), ...this.costOf(usage), ...ending });
  }

  /** Gives the hold back: the vendor has nothing to bill. */
  release(error?: GatewayError): void {
    this.isFree = true;
    if (error === undefined) this.abort();
    else this.fail(error);
  }

  protected end(ending: Ending): void {
    const usage = this.isFree ? undefined : this.input.estimate();
    const known = usage === undefined ? NOTHING : this.costOf({ ...usage, estimated: true });
    const isBilled = usage !== undefined;
    const booked = this.unfinished(known.usage, known.costNanoUsd, { isBilled });
    this.book({ ...this.described(), ...known, ...booked, ...ending });
  }

  private book(outcome: Outcome): void {
    const { isSession, onSettled } = this.input;
    const units = { sessionSeconds: Math.round(this.elapsedMs()) / 1000 };
    const settled = this.settle(isSession === true ? { ...outcome, usage: { ...ZERO_USAGE, units } } : outcome);
    if (settled !== undefined) onSettled?.();
  }

  private isUnpriced(usage: Usage): boolean {
    return this.input.admission.plan.priced !== undefined && this.costOf(usage).costDetail?.price_source === UNPRICED;
  }

  private costOf(usage: Usage): { usage: Usage; costNanoUsd: number; costDetail?: CostDetail } {
    const { priced } = this.input.admission.plan;
    if (priced === undefined) return { usage, costNanoUsd: 0, costDetail: { price_source: UNPRICED } };
    const { costNanoUsd, detail } = computeCost(usage, priced);
    return { usage, costNanoUsd, costDetail: detail };
  }

  private described() {
    const { admission } = this.input;
    const { attempts } = this;
    const { provider, model } = this.target;
    const elapsedMs = this.elapsedMs();
    const waitedMs = this.ttftMs ?? elapsedMs;
    const latencyMs = this.input.isSession === true ? waitedMs : elapsedMs;
    return {
      ...{ requestedModel: admission.requestedModel, stream: true, provider, finalProvider: provider, model },
      ...{ savedNanoUsd: 0, cache: 'miss' as const, attempts },
      failoverCount: Math.max(0, attempts.length - 1),
      latencyMs,
      upstreamMs: latencyMs,
      ttftMs: waitedMs,
    };
  }
}

const NOTHING = { usage: ZERO_USAGE, costNanoUsd: 0 } as const;
