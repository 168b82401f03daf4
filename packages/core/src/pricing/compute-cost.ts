import { promptTokens, sideOf, type Usage } from '../chat/usage';
import type { CostDetail } from '../logs/log-record';
import {
  CLASSES,
  type ClassPrices,
  eachPrice,
  type PriceContext,
  TOKENS_OF,
  type TokenClass,
  USUAL_TOKENS,
} from './class-prices';
import type { PricedModel, TokenPrices } from './price-book';
import { type BilledUnits, billUnits, PARTS_A_UNIT } from './unit-prices';

/** Prices of standard requests of usual length, by the price book's own object. */
const PLAIN = new WeakMap<TokenPrices, ClassPrices>();

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

/** Pico-USD in one nano-USD. */
const PICO_PER_NANO = 1000;

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
  const { reasoningTokens, inputAudioTokens, outputAudioTokens, cacheReadAudioTokens = 0 } = usage;
  const { inputImageTokens = 0, cacheReadImageTokens = 0, outputImageTokens = 0 } = usage;
  const cachePico =
    cacheReadTokens * prices.cache_read +
    cacheWriteTokens * prices.cache_write +
    cacheWrite1hTokens * prices.cache_write_1h;
  const imagePico =
    inputImageTokens * prices.input_image +
    cacheReadImageTokens * prices.cache_read_image +
    outputImageTokens * prices.output_image;
  const audioPico =
    inputAudioTokens * prices.input_audio +
    outputAudioTokens * prices.output_audio +
    cacheReadAudioTokens * prices.cache_read_audio;
  const pico =
    inputTokens * prices.input +
    outputTokens * prices.output +
    reasoningTokens * prices.reasoning +
    cachePico +
    audioPico +
    imagePico;
  const detail: { -readonly [K in keyof CostDetail]: CostDetail[K] } = {
    input: costOf(inputTokens, prices.input),
    output: costOf(outputTokens, prices.output),
  };
  if (cacheReadTokens > 0) detail.cache_read = costOf(cacheReadTokens, prices.cache_read);
  if (cacheWriteTokens + cacheWrite1hTokens > 0) {
    const writes = [part(usage, 'cache_write', prices), part(usage, 'cache_write_1h', prices)];
    detail.cache_write = roundedNanoUsd(writes);
  }
  if (reasoningTokens > 0) detail.reasoning = costOf(reasoningTokens, prices.reasoning);
  if (inputAudioTokens + outputAudioTokens + cacheReadAudioTokens > 0) {
    detail.audio = roundedNanoUsd(AUDIO_CLASSES.map((name) => part(usage, name, prices)));
  }
  if (inputImageTokens + cacheReadImageTokens + outputImageTokens > 0) {
    detail.image = roundedNanoUsd(IMAGE_CLASSES.map((name) => part(usage, name, prices)));
  }
  if (feeNanoUsd > 0) detail.fees = feeNanoUsd;
  if (usage.units !== undefined || priced.prices.input === undefined || priced.prices.output === undefined) {
    const { parts, isUnpriced } = billUnits(usage, priced.prices, context);
    if (isUnpriced) detail.price_source = UNPRICED;
    if (parts.length > 0) {
      detail.units = exactNanoUsd([], parts);
      const tokens = CLASSES.map((name) => part(usage, name, prices));
      return { costNanoUsd: exactNanoUsd(tokens, parts) + feeNanoUsd, detail };
    }
  }
  const tokensNanoUsd =
    pico <= MOST_EXACT
      ? Math.floor((pico + HALF_NANO) / PICO_PER_NANO)
      : roundedNanoUsd(CLASSES.map((name) => part(usage, name, prices)));
  return { costNanoUsd: tokensNanoUsd + feeNanoUsd, detail };
}

/** `price_source` of a row with usage that has no price. */
export const UNPRICED = 'unpriced';

const AUDIO_CLASSES = ['input_audio', 'cache_read_audio', 'output_audio'] as const;
const IMAGE_CLASSES = ['input_image', 'cache_read_image', 'output_image'] as const;

const PICO_PARTS = BigInt(PARTS_A_UNIT);
const NANO_PARTS = 1000n * PICO_PARTS;

/** Σ tokens × price + Σ units × price, rounded once, half up. */
function exactNanoUsd(tokens: readonly (readonly [number, number])[], units: BilledUnits['parts']): number {
  let parts = 0n;
  for (const [count, price] of tokens) parts += PICO_PARTS * BigInt(Math.ceil(count)) * BigInt(Math.ceil(price));
  for (const [thousandths, price] of units) parts += BigInt(thousandths) * BigInt(price);
  return Math.min(Number.MAX_SAFE_INTEGER, Number((parts + NANO_PARTS / 2n) / NANO_PARTS));
}

const part = (usage: Usage, name: TokenClass, prices: ClassPrices): readonly [number, number] => [
  usage[TOKENS_OF[name]] ?? 0,
  prices[name],
];

/** Of prompts that are billed at the usual prices. */
const USUAL: PriceContext = { promptTokens: 0 };

function contextOf(usage: Usage): PriceContext {
  const { serviceTier, surchargePercent } = usage;
  const tokens = promptTokens(usage);
  if (tokens <= USUAL_TOKENS && serviceTier === undefined && surchargePercent === undefined) return USUAL;
  return { promptTokens: tokens, serviceTier, surchargePercent };
}

/** Cost of one side in integer nano-USD, at the prices of the whole, without fees. */
export function costOfSide(usage: Usage, side: 'input' | 'output', priced: Pick<PricedModel, 'prices'>): number {
  return computeCost(sideOf(usage, side), priced, contextOf(usage)).costNanoUsd;
}
