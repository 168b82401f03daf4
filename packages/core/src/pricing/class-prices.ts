import type { Usage } from '../chat/usage';
import type { TokenPrices } from './price-book';

/** Prompt sizes past which some vendors bill the whole request at another price. */
const LONG_PROMPT_TIERS = [
  { minTokens: 272_000, suffix: '_above_272k' },
  { minTokens: 200_000, suffix: '_above_200k' },
  { minTokens: 128_000, suffix: '_above_128k' },
] as const;

/** Prompts up to here are billed at the usual prices. */
export const USUAL_TOKENS = Math.min(...LONG_PROMPT_TIERS.map(({ minTokens }) => minTokens));

/** Token class → its own price, then the prices it falls back to. */
const CLASS_FALLBACKS = {
  input: ['input'],
  cache_read: ['cache_read', 'input'],
  cache_write: ['cache_write', 'input'],
  cache_write_1h: ['cache_write_1h', 'cache_write', 'input'],
  input_audio: ['input_audio', 'input'],
  // As for images: without a discount of its own, the full price of audio, where audio has one.
  cache_read_audio: ['cache_read_audio', 'input_audio', 'cache_read', 'input'],
  output: ['output'],
  reasoning: ['reasoning', 'output'],
  output_audio: ['output_audio', 'output'],
  input_image: ['input_image', 'input'],
  // Without a discount of its own, the full price of an image, where images have one.
  cache_read_image: ['cache_read_image', 'input_image', 'cache_read', 'input'],
  output_image: ['output_image', 'output'],
} as const;

export type TokenClass = keyof typeof CLASS_FALLBACKS;
export const CLASSES = Object.keys(CLASS_FALLBACKS) as TokenClass[];

/** Token class → its count in a usage. */
export const TOKENS_OF = {
  input: 'inputTokens',
  cache_read: 'cacheReadTokens',
  cache_write: 'cacheWriteTokens',
  cache_write_1h: 'cacheWrite1hTokens',
  input_audio: 'inputAudioTokens',
  cache_read_audio: 'cacheReadAudioTokens',
  output: 'outputTokens',
  reasoning: 'reasoningTokens',
  output_audio: 'outputAudioTokens',
  input_image: 'inputImageTokens',
  cache_read_image: 'cacheReadImageTokens',
  output_image: 'outputImageTokens',
} as const satisfies Readonly<Record<TokenClass, keyof Usage>>;

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
  return namedPrice(prices, CLASS_FALLBACKS[tokenClass], context) ?? 0;
}

/** False for a class that would be billed at nothing. */
export const hasPrice = (prices: TokenPrices, tokenClass: TokenClass): boolean =>
  CLASS_FALLBACKS[tokenClass].some((name) => prices[name] !== undefined);

/** Classes of a model's text, and of the vectors of texts: one without a price would be free. */
export const TEXT_CLASSES = ['input', 'output'] as const;
export const VECTOR_CLASSES = ['input'] as const;

/** True for a model with a price for all of these classes. */
export const coversClasses = (
  priced: { readonly prices: TokenPrices } | undefined,
  classes: readonly TokenClass[] = TEXT_CLASSES,
): boolean => priced !== undefined && classes.every((name) => hasPrice(priced.prices, name));

/** The first of these prices that the model has, in a context. */
export function namedPrice(prices: TokenPrices, names: readonly string[], context: PriceContext): number | undefined {
  for (const name of names) {
    const base = prices[name];
    if (base === undefined) continue;
    const tiered = context.serviceTier === undefined ? undefined : tierPrice(prices, name, context.serviceTier);
    const long = longPromptPrice(prices, name, context.promptTokens);
    const price = long === undefined ? (tiered ?? base) : Math.max(long, tiered ?? 0);
    const { surchargePercent } = context;
    return surchargePercent === undefined ? price : Math.ceil((price * (100 + surchargePercent)) / 100);
  }
  return undefined;
}

/** Integer pico-USD per token of each class, and of the dearest ones for text. */
export type ClassPrices = Readonly<Record<TokenClass | 'dearest_input' | 'dearest_output', number>>;

/** All prices in a context. */
export function eachPrice(prices: TokenPrices, context: PriceContext): ClassPrices {
  const each = Object.fromEntries(CLASSES.map((name) => [name, priceOf(prices, name, context)]));
  const {
    input,
    cache_read: read,
    cache_write: write,
    cache_write_1h: longWrite,
    output,
    reasoning,
    output_image: image,
    output_audio: audio,
  } = each as ClassPrices;
  // Elsewhere, only who asks for speech gets any.
  const spoken = hasPrice(prices, 'output') ? 0 : audio;
  const dearest_input = Math.max(0, input, read, write, longWrite);
  return { ...(each as ClassPrices), dearest_input, dearest_output: Math.max(0, output, reasoning, image, spoken) };
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
  if (tier === 'batch' && prices.batch_discount !== undefined) {
    return Math.ceil((base * (MILLION - prices.batch_discount)) / MILLION);
  }
  if (!isTokenClass(name)) return undefined;
  const side = name.startsWith('output') || name === 'reasoning' ? 'output' : 'input';
  const [plain, changed] = [prices[side], prices[`${side}_${tier}`]];
  if (plain !== undefined && plain > 0 && changed !== undefined) return Math.ceil((base * changed) / plain);
  const factor = MOST_TIER_FACTOR[tier];
  return factor === undefined ? undefined : base * factor;
}

/** Units have no tier but their own. */
const isTokenClass = (name: string): name is TokenClass => Object.hasOwn(CLASS_FALLBACKS, name);
const MILLION = 1_000_000;

function longPromptPrice(prices: TokenPrices, name: string, tokens: number): number | undefined {
  for (const tier of LONG_PROMPT_TIERS) {
    if (tokens <= tier.minTokens) continue;
    const price = prices[`${name}${tier.suffix}`];
    if (price !== undefined) return price;
  }
  return undefined;
}
