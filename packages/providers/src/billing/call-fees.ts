/** Integer nano-USD a call, beside the tokens: https://platform.claude.com/docs/en/about-claude/pricing, https://docs.x.ai/docs/models. */
const FEES = { web_search: 10_000_000, source: 25_000_000 } as const;

/** What so many of them cost, as a part of `Usage`; nothing where there were none. */
export function callFees(kind: keyof typeof FEES, count: number): { readonly feeNanoUsd?: number } {
  return count === 0 ? {} : { feeNanoUsd: count * FEES[kind] };
}
