import { formatUsdShort } from '@llm0/core/pricing/format-usd';

/** Closes a JSON object text with the exact cost, which a double could not always carry. */
export function withCost(json: string, costNanoUsd: number): string {
  return `${json.slice(0, -1)}${json.length > 2 ? ',' : ''}"cost_usd":${formatUsdShort(costNanoUsd)}}`;
}

/** Milliseconds with at most three decimals. */
export function roundMs(latencyMs: number): number {
  return Math.round(latencyMs * 1000) / 1000;
}
