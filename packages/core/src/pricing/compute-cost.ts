import { promptTokens, sideOf, type Usage } from '../chat/usage';
import type { CostDetail } from '../logs/log-record';
import type { PricedModel, TokenPrices } from './price-book';

/** Pico-USD in one nano-USD. */
const PICO_PER_NANO = 1000;

/** Prompt sizes past which some vendors bill the whole request at another price. */
const LONG_PROMPT_TIERS = [
  { minTokens: 272_000, suffix: '_above_272k' },
  { minTokens: 200_000, suffix: '_above_200k' },
  { minTokens: 128_000, suffix: '_above_128k' },
] as const;

/** Token class → its own price, then the prices it falls back to. */
const CLASS_FALLBACKS = {
  input: ['input'],
  cache_read: ['cache_read', 'input'],
  cache_write: ['cache_write', 'input'],
  cache_write_1h: ['cache_write_1h', 'cache_write', 'input'],
  input_audio: ['input_audio', 'input'],
  output: ['output'],
  reasoning: ['reasoning', 'output'],
  output_audio: ['output_audio', 'output'],
} as const;

export type TokenClass = keyof typeof CLASS_FALLBACKS;

/** Circumstances that change a class's price. */
export interface PriceContext {
  readonly promptTokens: number;
  /** `priority`, `flex`, `batch`, `fast`, `ultrafast`; anything else is standard. */
  readonly serviceTier?: string | undefined;
  /** See `Usage`. */
  readonly surchargePercent?: number | undefined;
}

/** Integer pico-USD per token of a class; the dearest variant that applies, 0 when the model has no price for it. */
export function priceOf(prices: TokenPrices, tokenClass: TokenClass, context: PriceContext): number {
  for (const name of CLASS_FALLBACKS[tokenClass]) {
    const base = prices[name];
    if (base === undefined) continue;
    const tiered = context.serviceTier === undefined ? undefined : tierPrice(prices, name, context.serviceTier);
    const long = longPromptPrice(prices, name, context.promptTokens);
    const price = long === undefined ? (tiered ?? base) : Math.max(long, tiered ?? 0);
    const { surchargePercent } = context;
    return surchargePercent === undefined ? price : Math.ceil((price * (100 + surchargePercent)) / 100);
  }
  return 0;
}

/** What these tiers cost at most, where the price book has no price for them. */
const MOST_TIER_FACTOR: Readonly<Record<string, number>> = { fast: 6, ultrafast: 6 };

/** A tier without a price for this class changes it as it changes the plain input or output; undefined where it does not. */
function tierPrice(prices: TokenPrices, name: string, tier: string): number | undefined {
  const own = prices[`${name}_${tier}`];
  const base = prices[name];
  if (own !== undefined || base === undefined) return own;
  const side = name.startsWith('output') || name === 'reasoning' ? 'output' : 'input';
  const [plain, changed] = [prices[side], prices[`${side}_${tier}`]];
  if (plain !== undefined && plain > 0 && changed !== undefined) return Math.ceil((base * changed) / plain);
  const factor = MOST_TIER_FACTOR[tier];
  return factor === undefined ? undefined : base * factor;
}

function longPromptPrice(prices: TokenPrices, name: string, tokens: number): number | undefined {
  for (const tier of LONG_PROMPT_TIERS) {
    if (tokens <= tier.minTokens) continue;
    const price = prices[`${name}${tier.suffix}`];
    if (price !== undefined) return price;
  }
  return undefined;
}

/** Σ tokens × price in integer nano-USD, rounded once, half up. Exact also where the product leaves 2^53; no more than that. */
export function roundedNanoUsd(parts: readonly (readonly [tokens: number, picoPerToken: number])[]): number {
  let sum = 0;
  for (const [tokens, price] of parts) sum += tokens * price;
  if (sum <= Number.MAX_SAFE_INTEGER) return Math.floor((sum + PICO_PER_NANO / 2) / PICO_PER_NANO);
  if (!Number.isFinite(sum)) return Number.MAX_SAFE_INTEGER;
  let exact = 0n;
  for (const [tokens, price] of parts) exact += BigInt(Math.ceil(tokens)) * BigInt(Math.ceil(price));
  return Math.min(Number.MAX_SAFE_INTEGER, Number((exact + 500n) / 1000n));
}

export interface Cost {
  /** Integer nano-USD. */
  readonly costNanoUsd: number;
  readonly detail: CostDetail;
}

/** What an answer cost by the price book. Source of the classes: each vendor's usage report, made disjoint. */
export function computeCost(usage: Usage, priced: Pick<PricedModel, 'prices'>, context = contextOf(usage)): Cost {
  const at = (tokens: number, tokenClass: TokenClass): readonly [number, number] =>
    tokens === 0 ? [0, 0] : [tokens, priceOf(priced.prices, tokenClass, context)];
  const input = at(usage.inputTokens, 'input');
  const cacheRead = at(usage.cacheReadTokens, 'cache_read');
  const cacheWrite = at(usage.cacheWriteTokens, 'cache_write');
  const cacheWrite1h = at(usage.cacheWrite1hTokens, 'cache_write_1h');
  const inputAudio = at(usage.inputAudioTokens, 'input_audio');
  const output = at(usage.outputTokens, 'output');
  const reasoning = at(usage.reasoningTokens, 'reasoning');
  const outputAudio = at(usage.outputAudioTokens, 'output_audio');
  const costNanoUsd = roundedNanoUsd([
    input,
    cacheRead,
    cacheWrite,
    cacheWrite1h,
    inputAudio,
    output,
    reasoning,
    outputAudio,
  ]);
  const detail: Record<string, number> = { input: roundedNanoUsd([input]), output: roundedNanoUsd([output]) };
  if (cacheRead[0] > 0) detail.cache_read = roundedNanoUsd([cacheRead]);
  if (cacheWrite[0] + cacheWrite1h[0] > 0) detail.cache_write = roundedNanoUsd([cacheWrite, cacheWrite1h]);
  if (reasoning[0] > 0) detail.reasoning = roundedNanoUsd([reasoning]);
  if (inputAudio[0] + outputAudio[0] > 0) detail.audio = roundedNanoUsd([inputAudio, outputAudio]);
  const { feeNanoUsd = 0 } = usage;
  if (feeNanoUsd > 0) detail.fees = feeNanoUsd;
  return { costNanoUsd: costNanoUsd + feeNanoUsd, detail };
}

const contextOf = (usage: Usage): PriceContext => ({
  promptTokens: promptTokens(usage),
  serviceTier: usage.serviceTier,
  surchargePercent: usage.surchargePercent,
});

/** Cost of one side in integer nano-USD, at the prices of the whole, without fees. */
export function costOfSide(usage: Usage, side: 'input' | 'output', priced: Pick<PricedModel, 'prices'>): number {
  return computeCost(sideOf(usage, side), priced, contextOf(usage)).costNanoUsd;
}
