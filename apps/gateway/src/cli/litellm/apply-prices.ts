import type { JsonObject } from '@llm0/core/chat/json';
import { type AdminClient, RequestFailed } from '../admin-client';
import { type Applying, tell } from './apply-step';
import type { ImportPlan, UnpricedModel } from './import-plan';

/** Prices of the file, and for names that it has no price for those of the models behind them, all at once. */
export async function applyPrices(
  { prices, unpriced }: Pick<ImportPlan, 'prices' | 'unpriced'>,
  { api, steps, isDryRun }: Applying,
): Promise<void> {
  const models: JsonObject[] = [...prices];
  for (const one of unpriced) {
    const { provider, model, base } = one;
    if ((await findPrice(api, one)) !== undefined) continue;
    const found = base === undefined ? undefined : await findPrice(api, base);
    if (found !== undefined) {
      models.push({ ...found, provider, model });
      continue;
    }
    const detail = `refused under a cap until it has one: llm0 models set "${provider}/${model}"`;
    steps.push({ what: 'price', name: `${provider}/${model}`, outcome: 'missing', detail });
  }
  if (models.length === 0) return;
  await tell(steps, { what: 'prices', name: `${models.length} models` }, async () => {
    const { body } = await api.post('/models/import', { models, dry_run: isDryRun });
    const { created = 0, updated = 0, unchanged = 0 } = body;
    const detail = `${created} new, ${updated} changed, ${unchanged} as they are`;
    return [Number(created) > 0 ? 'created' : Number(updated) > 0 ? 'updated' : 'unchanged', detail];
  });
}

const DESCRIBED = ['context_window', 'max_output_tokens', 'mode'];

/** What an import takes of a model that has a price. */
async function findPrice(
  api: AdminClient,
  { provider, model }: Pick<UnpricedModel, 'provider' | 'model'>,
): Promise<JsonObject | undefined> {
  try {
    const { body } = await api.get(`/models/${encodeURIComponent(provider)}/${encodeURIComponent(model)}`);
    const isTaken = (field: string) => field.endsWith('_usd_per_million') || DESCRIBED.includes(field);
    return Object.fromEntries(Object.entries(body).filter(([field, value]) => isTaken(field) && value !== null));
  } catch (error) {
    if (error instanceof RequestFailed && error.status === 404) return undefined;
    throw error;
  }
}
