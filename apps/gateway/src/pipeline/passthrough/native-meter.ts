import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import { computeCost } from '@llm0/core/pricing/compute-cost';
import { guessTokens } from '@llm0/core/pricing/estimate-tokens';
import { atLeast, type UsageReader } from '@llm0/providers/transport/call-passthrough';
import { Booking, type BookingInput, type BookingNeeds, type Ending } from '../ledger/booking';
import { type NativeJob, type NativePlan, UNNAMED_MODEL } from './plan-passthrough';

export type NativeMeterInput = BookingInput<NativePlan, never> & { readonly job: NativeJob };

/** Where the row says that no price was known. */
const UNPRICED = { price_source: 'unpriced' } as const;

/** What one native request costs: read from its answer, and settled once, whichever way that ends. */
export class NativeMeter extends Booking<NativeMeterInput> {
  /** Counts what a known endpoint reports; absent for others. */
  readonly reader: UsageReader | undefined;
  private waitMs: number | undefined;
  private ttftMs: number | undefined;
  private answered = false;

  constructor(services: BookingNeeds, input: NativeMeterInput) {
    super(services, input);
    this.reader = input.job.shape?.createReader();
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
    if (status < 400) this.book({ status: 'success', httpStatus: status }, this.usage(true));
    else {
      const code = status === 429 ? 'upstream_rate_limited' : status < 500 ? 'upstream_rejected' : 'upstream_error';
      const error = { code, message: `The provider answered with status ${status}.` };
      this.book({ status: 'error', httpStatus: status, error }, this.reader?.usage ?? ZERO_USAGE);
    }
  }

  protected end(ending: Ending): void {
    this.book(ending, this.answered ? this.usage(false) : ZERO_USAGE);
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

  private book(ending: Ending, usage: Usage): void {
    const { admission, job } = this.input;
    const { priced, isUnpriced } = admission.plan;
    const cost = priced === undefined ? NO_COST : computeCost(usage, priced);
    const latencyMs = this.elapsedMs();
    const overheadMs = this.waitMs === undefined || this.ttftMs === undefined ? undefined : this.ttftMs - this.waitMs;
    this.settle({
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
    });
  }
}

const NO_COST = { costNanoUsd: 0, detail: undefined };
