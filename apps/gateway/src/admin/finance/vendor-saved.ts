import { priceOf } from '@llm0/core/pricing/compute-cost';
import type { PriceBook } from '@llm0/core/pricing/price-book';
import type { Amount } from '@llm0/drizzle/queries/finance/amounts';

const PLAIN = { promptTokens: 0 };

/**
 * What the vendor's prompt cache saved, pico-USD, at the prices of now: tokens read from it at the price of input less their
 * own, less what writing them cost more than input. Negative where more was written than read.
 */
export function vendorSavedPico(amount: Amount, prices: Pick<PriceBook, 'find'>): bigint {
  const { model, cache, tokensCacheRead, tokensCacheWrite } = amount;
  if (model === null || cache !== 'miss' || tokensCacheRead + tokensCacheWrite === 0) return 0n;
  const priced = prices.find(model.provider, model.name);
  if (priced === undefined) return 0n;
  const input = priceOf(priced.prices, 'input', PLAIN);
  const read = input - priceOf(priced.prices, 'cache_read', PLAIN);
  const written = priceOf(priced.prices, 'cache_write', PLAIN) - input;
  return BigInt(tokensCacheRead) * BigInt(Math.round(read)) - BigInt(tokensCacheWrite) * BigInt(Math.round(written));
}
