import { priceOf } from '@llm0/core/pricing/class-prices';
import type { PriceBook } from '@llm0/core/pricing/price-book';
import type { Amount } from '@llm0/drizzle/queries/finance/amounts';

const PLAIN = { promptTokens: 0 };

/**
 * Savings of the vendor's prompt cache in pico-USD, of open months at current prices: cheaper reads less the surcharge for writes.
 * Negative if writes cost more than reads save.
 */
export function vendorSavedPico(amount: Amount, prices: Pick<PriceBook, 'find'>): bigint {
  const { model, cache, tokensCacheRead, tokensCacheWrite, savedVendorPico } = amount;
  if (savedVendorPico !== undefined) return savedVendorPico;
  if (model === null || cache !== 'miss' || tokensCacheRead + tokensCacheWrite === 0) return 0n;
  const priced = prices.find(model.provider, model.name);
  if (priced === undefined) return 0n;
  const input = priceOf(priced.prices, 'input', PLAIN);
  const read = input - priceOf(priced.prices, 'cache_read', PLAIN);
  const written = priceOf(priced.prices, 'cache_write', PLAIN) - input;
  return BigInt(tokensCacheRead) * BigInt(Math.round(read)) - BigInt(tokensCacheWrite) * BigInt(Math.round(written));
}
