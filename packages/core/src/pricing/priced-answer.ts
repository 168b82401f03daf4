import type { PriceBook, PricedModel } from './price-book';

/** What was asked of whom. */
interface Asked {
  readonly provider: string;
  readonly model: string;
}

/**
 * The price an answer is billed at: that of the model that answered, as the vendor names it, where the price book has it, else
 * that of the model that was asked. What the operator priced himself stays: a vendor's name for it may be another.
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
