import type { PriceBook, PricedModel } from './price-book';

/** The end of a dated snapshot's name. */
const DATE = /-(?:\d{4}-\d{2}-\d{2}|20\d{6})$/;

/**
 * Builds the look-up. `freeProviders` run on the operator's own machines: every model of theirs is priced 0,
 * whether listed or not. A dated snapshot without a price costs as the model that it is one of.
 */
export function createPriceBook(models: readonly PricedModel[], freeProviders: ReadonlySet<string>): PriceBook {
  const byName = new Map<string, PricedModel>();
  for (const model of models) byName.set(`${model.provider}/${model.model}`, model);
  return {
    find(provider, model) {
      const listed = byName.get(`${provider}/${model}`);
      if (listed !== undefined) return listed;
      const base = DATE.test(model) ? byName.get(`${provider}/${model.replace(DATE, '')}`) : undefined;
      if (base !== undefined) return asSnapshot(base, model);
      if (!freeProviders.has(provider)) return undefined;
      return { provider, model, mode: 'chat', prices: { input: 0, output: 0 }, capabilities: [] };
    },
    isListed: (provider, model) => byName.has(`${provider}/${model}`),
    list: () => models,
  };
}

/** It is retired on a day of its own. */
function asSnapshot({ deprecationDate: _base, ...priced }: PricedModel, model: string): PricedModel {
  return { ...priced, model };
}
