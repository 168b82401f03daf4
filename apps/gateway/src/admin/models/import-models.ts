import { z } from '@hono/zod-openapi';
import { listPrices, putPrice, type StoredPrice } from '@llm0/drizzle/queries/routing/model-pricing';
import { answers, createRouter, defineRoute, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { recordChange } from '../audit/record-change';
import { bringTablesIntoForce, type HotStoreMirror } from '../customers/hot-store-mirror';
import { text } from '../fields/fields';
import { modelBodySchema, refuseUnpriced, toPricedModel } from './schema';

const MAX_MODELS = 5000;

const importSchema = z
  .strictObject({
    models: z
      .array(modelBodySchema.extend({ provider: text(), model: text() }))
      .min(1, 'must have at least one model')
      .max(MAX_MODELS),
    dry_run: z.boolean().optional().openapi({ description: 'Dry run: reports changes without making them' }),
  })
  .openapi('ModelImport');

const resultSchema = z
  .object({
    dry_run: z.boolean(),
    created: z.int().openapi({ description: 'Models without a price' }),
    updated: z.int().openapi({ description: 'Models with another price' }),
    unchanged: z.int().openapi({ description: 'Unchanged models' }),
  })
  .openapi('ModelImportResult');

const importRoute = defineRoute({
  method: 'post',
  path: '/models/import',
  tags: ['models'],
  summary: 'Set the prices of many models, all or none; applies at once',
  request: { body: takes(importSchema) },
  responses: { 201: answers(resultSchema, 'What was set, or would be') },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'reloadTables'>;

export function importModelRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db } = services;
  return createRouter().openapi(importRoute, async (c) => {
    const { models, dry_run: isDryRun = false } = c.req.valid('json');
    const compare = async (stored: readonly StoredPrice[]) => {
      const known = new Map(stored.map((price) => [nameOf(price), price]));
      const given = new Map(models.map((model) => [nameOf(model), model]));
      const priced = [...given.values()].map(({ provider, model, ...body }) => {
        const existing = known.get(nameOf({ provider, model })) ?? null;
        return { existing, price: refuseUnpriced(toPricedModel({ provider, model }, body, existing)) };
      });
      const changed = priced.filter(({ existing, price }) => existing === null || !isSame(existing, price));
      const created = changed.filter(({ existing }) => existing === null).length;
      const counts = { created, updated: changed.length - created, unchanged: priced.length - changed.length };
      return { changed, counts };
    };
    if (isDryRun) return c.json({ dry_run: true, ...(await compare(await listPrices(db))).counts }, 201);
    const counts = await recordChange(db, c.get('actor'), async (tx) => {
      const found = await compare(await listPrices(tx));
      for (const { price } of found.changed) await putPrice(tx, price);
      const after = { ...found.counts, models: found.changed.map(({ price }) => nameOf(price)) };
      return { result: found.counts, action: 'import', resource: 'model', resourceId: 'many', after };
    });
    await bringTablesIntoForce(services, mirror);
    return c.json({ dry_run: false, ...counts }, 201);
  });
}

const nameOf = ({ provider, model }: { provider: string; model: string }) => `${provider}/${model}`;

/** Prices and limits alike; an edited price that is the same stays the operator's. */
function isSame(existing: StoredPrice, price: ReturnType<typeof toPricedModel>): boolean {
  const { prices, contextWindow, maxOutputTokens, mode } = price;
  return (
    Bun.deepEquals(existing.prices, prices) &&
    existing.contextWindow === contextWindow &&
    existing.maxOutputTokens === maxOutputTokens &&
    existing.mode === mode
  );
}
