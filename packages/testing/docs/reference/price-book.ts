import { readPriceSeed } from '@llm0/gateway/providers/price-seed';
import { code, type ReferencePage, table } from './table';

export async function priceBookPage(): Promise<ReferencePage> {
  const { models } = await readPriceSeed();
  const rows = [...Map.groupBy(models, ({ provider }) => provider)]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([provider, all]) => [
      code(provider),
      String(all.length),
      all
        .slice(0, 3)
        .map(({ model }) => code(model))
        .join(', '),
    ]);
  return {
    title: 'Price book',
    purpose: `How prices work, and which of the ${models.length} shipped models belong to which provider.`,
    body: `${INTRO}\n\n${table(['provider', 'models', 'for example'], rows)}`,
  };
}

const INTRO = `Costs are integers: tokens times pico-USD, rounded once to a nano-dollar. A request settles at the prices of its admission.

- List prices: \`bun run llm0 models list --provider openai\`
- Change one: \`bun run llm0 models set openai gpt-4o-mini --input-usd-per-million 0.15 --output-usd-per-million 0.6\`
- A model without a price is refused where a cap applies (\`model_not_priced\`). Set \`unknown_model_policy: allow_unpriced\`
  on the project to serve it at no cost.

Models also have prices per unit: \`--image-usd\`, \`--minute-usd\`, \`--character-usd-per-million\`, \`--page-usd\`, \`--search-usd\`,
\`--session-second-usd\`. Image and audio tokens are classes of their own. The admin API also takes \`second_usd\` and \`image_sizes\`
(a price for a quality and size).

- Images, seconds and characters are billed if the vendor reports no tokens, or the model has no price for them.
- Usage without a price costs nothing, and \`cost_detail.price_source\` of its row is \`unpriced\`.
- \`--batch-discount 0.5\` halves every price in batches, except prices with a \`_batch\` variant.`;
