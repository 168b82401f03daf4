import { type FilledUsage, fillUsage, type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { type Cost, computeCost } from '@llm0/core/pricing/compute-cost';
import { guessTokens } from '@llm0/core/pricing/estimate-cost';
import { type PricedModel, pricedAnswer } from '@llm0/core/pricing/price-book';
import { atLeast, isBilledStatus, mayBeBilled, type UsageReader } from '@llm0/providers/transport/call-passthrough';
import { Booking, type BookingInput, type BookingNeeds, type Ending } from '../metering/booking';
import { heldFor } from '../metering/held-for';
import { isEstimate } from '../request/check-costly';
import { type NativeJob, type NativePlan, UNNAMED_MODEL } from './plan-passthrough';

export type NativeMeterInput = BookingInput<NativePlan, never> & { readonly job: NativeJob };

/** Row fields without a known price. */
const UNPRICED = { price_source: 'unpriced' } as const;

/** Meters a native request from its answer and settles it once, however it ends. */
export class NativeMeter extends Booking<NativeMeterInput> {
  /** Counts the usage of a known endpoint; absent for others. */
  readonly reader: UsageReader | undefined;
  private waitMs: number | undefined;
  private ttftMs: number | undefined;
  private receivedBytes = 0;
  private answered = false;
  /** True once the vendor may bill it. */
  private isSent = false;

  constructor(needs: BookingNeeds, input: NativeMeterInput) {
    super(needs, input);
    this.reader = input.job.shape?.createReader();
  }

  /** The vendor's headers are there. Gives the gateway's own part of the time so far. */
  noteAnswer(waitMs: number): number {
    this.waitMs = waitMs;
    this.answered = true;
    return Math.max(0, this.elapsedMs() - waitMs - (this.input.admission.queuedMs ?? 0));
  }

  /** The request is sent. */
  noteSent(): void {
    this.isSent = true;
  }

  /** The answer's bytes so far. */
  noteBytes(bytes: number): void {
    this.ttftMs ??= this.elapsedMs();
    this.receivedBytes += bytes;
  }

  /** The answer was sent in full. Anything but a 2xx is a failure in the vendor's words (`said`). */
  complete(status: number, said?: string): void {
    if (status < 400) {
      const told = this.reader?.usage;
      const filled = told === undefined ? { usage: this.guess(0) } : fillUsage(told, () => this.guess(0));
      this.book({ status: 'success', httpStatus: status }, filled, told === undefined ? 'hidden' : 'told');
      return;
    }
    const code = status === 429 ? 'upstream_rate_limited' : status < 500 ? 'upstream_rejected' : 'upstream_error';
    const error = { code, message: `The provider answered with status ${status}.` };
    const isBilled = isBilledStatus(this.input.job.provider, status, said);
    const told = this.reader?.usage ?? (isBilled ? this.guess(0) : ZERO_USAGE);
    const filled = isBilled ? fillUsage(told, () => this.guess(0)) : { usage: told };
    this.book({ status: 'error', httpStatus: status, error }, { usage: filled.usage }, isBilled ? 'cut' : 'told');
  }

  override fail(error: GatewayError): void {
    if (!this.answered && !mayBeBilled(error, this.input.job.provider)) this.isSent = false;
    super.fail(error);
  }

  protected end(ending: Ending): void {
    const { reader, isSent } = this;
    // Plain answers are read at their end: until then their bytes count as they are.
    const guessed = this.guess(this.receivedBytes);
    const told = reader?.usage === undefined ? guessed : fillUsage(reader.usage, () => guessed).usage;
    const usage = isSent ? atLeast(told, guessed.outputTokens) : ZERO_USAGE;
    this.book(ending, { usage }, isSent ? 'cut' : 'told');
  }

  /** Estimates from input and output. `unreadBytes`: size of an answer without a reader. */
  private guess(unreadBytes: number): Usage {
    const bytes = this.input.job.shape?.isInputOnly === true ? 0 : this.reader?.outputBytes || unreadBytes;
    const outputTokens = guessTokens(bytes);
    return { ...ZERO_USAGE, inputTokens: guessTokens(this.input.job.bodyBytes), outputTokens, estimated: true };
  }

  /** `hidden`: a complete answer without usage costs the whole hold. `cut`: see `unfinished`. */
  private costOf(filled: FilledUsage, extent: 'told' | 'hidden' | 'cut') {
    const { admission, job } = this.input;
    const { priced, isUnpriced, admit, hold } = admission.plan;
    if (priced === undefined || isUnpriced || job.shape?.isFree === true) return { usage: ZERO_USAGE, ...NO_COST };
    const { usage: known, untold } = filled;
    const { costNanoUsd: ownNanoUsd, detail: costDetail, billed } = this.dearestCost(known, priced);
    const heldNanoUsd = heldFor(filled, hold, billed);
    const booked = this.unfinished(known, ownNanoUsd, {
      isBilled: extent !== 'told' || untold !== undefined,
      heldNanoUsd,
    });
    const costNanoUsd = Math.max(booked.costNanoUsd, extent === 'hidden' ? admit.holdNanoUsd : 0);
    const usage = isEstimate(admission.plan, known) ? { ...known, estimated: true } : known;
    if (costNanoUsd === ownNanoUsd) return { usage, costNanoUsd, costDetail };
    return { usage: { ...known, estimated: true }, costNanoUsd, costDetail: { ...costDetail, price_source: 'hold' } };
  }

  /** Cost at the answering model's price; if unknown, at the dearest possible one. */
  private dearestCost(usage: Usage, priced: PricedModel): Cost & { readonly billed: PricedModel } {
    const { others = [], prices } = this.input.admission.plan;
    const model = this.reader?.model;
    const named = [priced, ...others].find((one) => one.model === model);
    const billed = pricedAnswer(prices, priced, model) ?? priced;
    const candidates = others.length === 0 ? [billed] : named === undefined ? [priced, ...others] : [named];
    const costs = candidates.map((one) => ({ ...computeCost(usage, one), billed: one }));
    return costs.reduce((most, cost) => (cost.costNanoUsd > most.costNanoUsd ? cost : most));
  }

  private book(ending: Ending, filled: FilledUsage, extent: 'told' | 'hidden' | 'cut'): void {
    const { admission, job } = this.input;
    const { plan, queuedMs = 0 } = admission;
    const { isUnpriced } = plan;
    const { usage, costNanoUsd, costDetail } = this.costOf(filled, extent);
    const latencyMs = this.elapsedMs();
    const { waitMs, ttftMs } = this;
    const overheadMs =
      waitMs === undefined || ttftMs === undefined ? undefined : Math.max(0, ttftMs - waitMs - queuedMs);
    this.settle({
      requestedModel: job.model,
      model: job.namedModel ?? UNNAMED_MODEL,
      stream: job.stream,
      provider: job.provider,
      finalProvider: this.answered ? job.provider : undefined,
      usage,
      costNanoUsd,
      costDetail: isUnpriced ? UNPRICED : costDetail,
      savedNanoUsd: 0,
      ...{ latencyMs, ttftMs },
      overheadMs,
      upstreamMs: waitMs === undefined ? undefined : Math.max(0, latencyMs - (overheadMs ?? 0) - queuedMs),
      ...{ cache: 'miss', attempts: [], failoverCount: 0 },
      ...ending,
    });
  }
}

const NO_COST = { costNanoUsd: 0, costDetail: undefined };
