import type { FilledUsage } from '@llm0/core/chat/usage';
import { costOfSide } from '@llm0/core/pricing/compute-cost';
import { type HoldEstimate, heldForSide } from '@llm0/core/pricing/estimate-cost';
import type { PricedModel } from '@llm0/core/pricing/price-book';

/** Integer nano-USD that the untold side was held for, beside what the told one costs; undefined where no side was told. */
export function heldFor(
  { usage, untold }: FilledUsage,
  hold: HoldEstimate,
  priced: PricedModel | undefined,
): number | undefined {
  if (untold === undefined || untold === 'both' || priced === undefined) return undefined;
  const toldNanoUsd = costOfSide(usage, untold === 'output' ? 'input' : 'output', priced);
  return toldNanoUsd + heldForSide(hold, untold, priced) + (usage.feeNanoUsd ?? 0);
}
