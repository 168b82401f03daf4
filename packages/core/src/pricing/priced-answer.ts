import type { PriceBook, PricedModel } from './price-book';

/** Request and its target. */
interface Asked {
  readonly provider: string;
  readonly model: string;
}

/**
 * Billing price: that of the vendor's answering model if the price book has it, else that of the requested one. A price
 * from the operator stays, because a vendor may use another name.
 */
export function pricedAnswer(
  prices: PriceBook,
  { provider, model }: Asked,
  answeredBy: string | undefined,
): PricedModel | undefined {
  const asked = prices.find(provider, model);
  if (answeredBy === undefined || answeredBy === model || asked?.source === OPERATOR) return asked;
  return prices.isListed(provider, answeredBy) ? prices.find(provider, answeredBy) : asked;
}

/** `source` of prices that were set through the admin API. */
const OPERATOR = 'operator';
