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
const CLASSES = Object.keys(CLASS_FALLBACKS) as TokenClass[];

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

/** Integer pico-USD per token of each class, and of the dearest ones for text. */
export type ClassPrices = Readonly<Record<TokenClass | 'dearest_input' | 'dearest_output', number>>;

/** Prices of standard requests of usual length, by the price book's own object. */
const PLAIN = new WeakMap<TokenPrices, ClassPrices>();
const USUAL_TOKENS = Math.min(...LONG_PROMPT_TIERS.map(({ minTokens }) => minTokens));

/** All prices in a context; the same object for plain ones. */
export function pricesIn(prices: TokenPrices, context: PriceContext): ClassPrices {
  const { promptTokens: tokens, serviceTier, surchargePercent } = context;
  if (tokens > USUAL_TOKENS || serviceTier !== undefined || surchargePercent !== undefined)
    return eachPrice(prices, context);
  const known = PLAIN.get(prices);
  if (known !== undefined) return known;
  const plain = eachPrice(prices, context);
  PLAIN.set(prices, plain);
  return plain;
}

function eachPrice(prices: TokenPrices, context: PriceContext): ClassPrices {
  const each = Object.fromEntries(CLASSES.map((name) => [name, priceOf(prices, name, context)]));
  const {
    input,
    cache_read: read,
    cache_write: write,
    cache_write_1h: longWrite,
    output,
    reasoning,
  } = each as ClassPrices;
  const dearest_input = Math.max(0, input, read, write, longWrite);
  return { ...(each as ClassPrices), dearest_input, dearest_output: Math.max(0, output, reasoning) };
}

/** Maximum price of these tiers without an entry in the price book. */
const MOST_TIER_FACTOR: Readonly<Record<string, number>> = { fast: 6, ultrafast: 6 };

/**
 * A tier without a price for this class scales it like the plain input or output; undefined if that has no tier price.
 */
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

const MOST_EXACT = Number.MAX_SAFE_INTEGER;
const HALF_NANO = PICO_PER_NANO / 2;

/** Tokens × price in integer nano-USD, as `roundedNanoUsd`. */
export function costOf(tokens: number, picoPerToken: number): number {
  const pico = tokens * picoPerToken;
  return pico <= MOST_EXACT ? Math.floor((pico + HALF_NANO) / PICO_PER_NANO) : roundedNanoUsd([[tokens, picoPerToken]]);
}

/** Σ tokens × price in integer nano-USD, rounded once, half up. Exact also where the product leaves 2^53; no more than that. */
export function roundedNanoUsd(parts: readonly (readonly [tokens: number, picoPerToken: number])[]): number {
  let sum = 0;
  for (const [tokens, price] of parts) sum += tokens * price;
  if (sum <= MOST_EXACT) return Math.floor((sum + HALF_NANO) / PICO_PER_NANO);
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

/** Cost of an answer by the price book. Classes: each provider's usage report, made disjoint. */
export function computeCost(usage: Usage, priced: Pick<PricedModel, 'prices'>, context = contextOf(usage)): Cost {
  const prices = pricesIn(priced.prices, context);
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens, feeNanoUsd = 0 } = usage;
  const { reasoningTokens, inputAudioTokens, outputAudioTokens } = usage;
  const cachePico =
    cacheReadTokens * prices.cache_read +
    cacheWriteTokens * prices.cache_write +
    cacheWrite1hTokens * prices.cache_write_1h;
  const audioPico = inputAudioTokens * prices.input_audio + outputAudioTokens * prices.output_audio;
  const pico =
    inputTokens * prices.input +
    outputTokens * prices.output +
    reasoningTokens * prices.reasoning +
    cachePico +
    audioPico;
  const detail: Record<string, number> = {
    input: costOf(inputTokens, prices.input),
    output: costOf(outputTokens, prices.output),
  };
  if (cacheReadTokens > 0) detail.cache_read = costOf(cacheReadTokens, prices.cache_read);
  if (cacheWriteTokens + cacheWrite1hTokens > 0) {
    const writes = [part(usage, 'cache_write', prices), part(usage, 'cache_write_1h', prices)];
    detail.cache_write = roundedNanoUsd(writes);
  }
  if (reasoningTokens > 0) detail.reasoning = costOf(reasoningTokens, prices.reasoning);
  if (inputAudioTokens + outputAudioTokens > 0) {
    detail.audio = roundedNanoUsd([part(usage, 'input_audio', prices), part(usage, 'output_audio', prices)]);
  }
  if (feeNanoUsd > 0) detail.fees = feeNanoUsd;
  const tokensNanoUsd =
    pico <= MOST_EXACT
      ? Math.floor((pico + HALF_NANO) / PICO_PER_NANO)
      : roundedNanoUsd(CLASSES.map((name) => part(usage, name, prices)));
  return { costNanoUsd: tokensNanoUsd + feeNanoUsd, detail };
}

const TOKENS_OF = {
  input: 'inputTokens',
  cache_read: 'cacheReadTokens',
  cache_write: 'cacheWriteTokens',
  cache_write_1h: 'cacheWrite1hTokens',
  input_audio: 'inputAudioTokens',
  output: 'outputTokens',
  reasoning: 'reasoningTokens',
  output_audio: 'outputAudioTokens',
} as const satisfies Readonly<Record<TokenClass, keyof Usage>>;

const part = (usage: Usage, name: TokenClass, prices: ClassPrices): readonly [number, number] => [
  usage[TOKENS_OF[name]],
  prices[name],
];

const contextOf = (usage: Usage): PriceContext => ({
  promptTokens: promptTokens(usage),
  serviceTier: usage.serviceTier,
  surchargePercent: usage.surchargePercent,
});

/** Cost of one side in integer nano-USD, at the prices of the whole, without fees. */
export function costOfSide(usage: Usage, side: 'input' | 'output', priced: Pick<PricedModel, 'prices'>): number {
  return computeCost(sideOf(usage, side), priced, contextOf(usage)).costNanoUsd;
}
