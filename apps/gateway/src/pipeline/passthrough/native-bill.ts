import { completionTokens, promptTokens, type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { computeCost } from '@llm0/core/pricing/compute-cost';
import { guessTokens } from '@llm0/core/pricing/estimate-tokens';
import { atLeast, type UsageReader } from '@llm0/providers/transport/call-passthrough';
import type { Services } from '../../services/contract';
import type { Admission } from '../exchange/admit';
import type { Exchange } from '../exchange/open-exchange';
import type { Booking } from '../ledger/booking';
import { errorOutcome, type Outcome } from '../ledger/build-record';
import { type NativeJob, type NativePlan, UNNAMED_MODEL } from './plan-passthrough';

export interface NativeBillInput {
  readonly exchange: Exchange;
  readonly admission: Admission<NativePlan, never>;
  readonly booking: Booking;
  readonly job: NativeJob;
}

/** Where the row says that no price was known. */
const UNPRICED = { price_source: 'unpriced' } as const;

/** What one native request costs: read from its answer, and settled once, whichever way that ends. */
export class NativeBill {
  /** Counts what a known endpoint reports; absent for others. */
  readonly reader: UsageReader | undefined;
  private waitMs: number | undefined;
  private ttftMs: number | undefined;
  private answered = false;

  constructor(
    private readonly services: Pick<Services, 'clock'>,
    private readonly input: NativeBillInput,
  ) {
    this.reader = input.job.shape?.createReader();
  }

  get handedOver(): Promise<void> | undefined {
    return this.input.booking.handedOver;
  }

  /** The vendor's headers are there. Gives the gateway's own part of the time so far. */
  noteAnswer(waitMs: number): number {
    this.waitMs = waitMs;
    this.answered = true;
    return Math.max(0, this.elapsedMs() - waitMs);
  }

  noteFirstByte(): void {
    this.ttftMs ??= this.elapsedMs();
  }

  /** The whole answer went on. Anything but a 2xx is a failure that the caller got in the vendor's words. */
  complete(status: number): void {
    if (status < 400) this.settle({ status: 'success', httpStatus: status }, this.usage(true));
    else {
      const code = status === 429 ? 'upstream_unavailable' : status < 500 ? 'upstream_rejected' : 'upstream_error';
      const error = { code, message: `The provider answered with status ${status}.` };
      this.settle({ status: 'error', httpStatus: status, error }, this.reader?.usage ?? ZERO_USAGE);
    }
  }

  /** Before or within the answer; what came of it is booked. */
  fail(error: GatewayError): void {
    this.settle(errorOutcome(error), this.answered ? this.usage(false) : ZERO_USAGE);
  }

  /** The caller left within the answer. */
  abort(): void {
    const message = 'The caller closed the connection before the answer was complete.';
    this.settle({ status: 'aborted', httpStatus: 499, error: { code: 'client_closed', message } }, this.usage(false));
  }

  /** What the vendor reported, else a guess from what was sent and what came. */
  private usage(isWhole: boolean): Usage {
    const { job, admission } = this.input;
    const { reader } = this;
    if (reader === undefined || job.shape?.isFree === true || admission.plan.isUnpriced) return ZERO_USAGE;
    const outputTokens = guessTokens(reader.outputBytes);
    if (reader.usage !== undefined) return isWhole ? reader.usage : atLeast(reader.usage, outputTokens);
    return { ...ZERO_USAGE, inputTokens: guessTokens(job.bodyBytes), outputTokens, estimated: true };
  }

  private settle(ending: Pick<Outcome, 'status' | 'httpStatus' | 'error'>, usage: Usage): void {
    const { admission, booking, job } = this.input;
    const { priced, isUnpriced } = admission.plan;
    const cost = priced === undefined ? NO_COST : computeCost(usage, priced);
    const latencyMs = this.elapsedMs();
    const overheadMs = this.waitMs === undefined || this.ttftMs === undefined ? undefined : this.ttftMs - this.waitMs;
    const outcome: Omit<Outcome, 'createdAtMs'> = {
      requestedModel: job.model,
      model: job.namedModel ?? UNNAMED_MODEL,
      stream: job.stream,
      provider: job.provider,
      finalProvider: this.answered ? job.provider : undefined,
      usage,
      costNanoUsd: cost.costNanoUsd,
      costDetail: isUnpriced ? UNPRICED : cost.detail,
      savedNanoUsd: 0,
      timing: {
        ...{ latencyMs, ttftMs: this.ttftMs },
        overheadMs: overheadMs && Math.max(0, overheadMs),
        upstreamMs: this.waitMs === undefined ? undefined : Math.max(0, latencyMs - Math.max(0, overheadMs ?? 0)),
      },
      ...{ cache: 'miss', attempts: [], failoverCount: 0 },
      ...ending,
    };
    booking.settle(outcome, { tokens: promptTokens(usage) + completionTokens(usage) });
  }

  private elapsedMs(): number {
    return this.services.clock.monotonicMs() - this.input.exchange.startMs;
  }
}

const NO_COST = { costNanoUsd: 0, detail: undefined };
