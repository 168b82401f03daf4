import type { PriceBook, PricedModel } from './price-book';

/**
 * Builds the look-up. `freeProviders` run on the operator's own machines: every model of theirs is priced 0,
 * whether listed or not.
 */
export function createPriceBook(models: readonly PricedModel[], freeProviders: ReadonlySet<string>): PriceBook {
  const byName = new Map<string, PricedModel>();
  for (const model of models) byName.set(`${model.provider}/${model.model}`, model);
  return {
    find(provider, model) {
      const listed = byName.get(`${provider}/${model}`);
      if (listed !== undefined || !freeProviders.has(provider)) return listed;
      return { provider, model, mode: 'chat', prices: { input: 0, output: 0 }, capabilities: [] };
    },
    isListed: (provider, model) => byName.has(`${provider}/${model}`),
    list: () => models,
  };
}
