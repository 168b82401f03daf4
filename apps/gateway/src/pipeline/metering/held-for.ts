import type { FilledUsage } from '@llm0/core/chat/usage';
import { costOfSide } from '@llm0/core/pricing/compute-cost';
import { type HoldEstimate, heldForSide } from '@llm0/core/pricing/estimate-cost';
import type { PricedModel } from '@llm0/core/pricing/price-book';

/** Nano-USD held for the unreported side, plus the reported side's cost; undefined if neither was reported. */
export function heldFor(
  { usage, untold }: FilledUsage,
  hold: HoldEstimate,
  priced: PricedModel | undefined,
): number | undefined {
  if (untold === undefined || untold === 'both' || priced === undefined) return undefined;
  const toldNanoUsd = costOfSide(usage, untold === 'output' ? 'input' : 'output', priced);
  return toldNanoUsd + heldForSide(hold, untold, priced) + (usage.feeNanoUsd ?? 0);
}
