import { z } from '@hono/zod-openapi';
import type { PriceBook } from '@llm0/core/pricing/price-book';
import { type Amount, loadAmounts } from '@llm0/drizzle/queries/finance/amounts';
import { splitRange } from '@llm0/drizzle/queries/stats/read/time-segments';
import { answers, createRouter, defineRoute } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { usdShown } from '../fields/fields';
import { showFields } from '../fields/map-fields';
import { vendorSavedPico } from '../finance/vendor-saved';
import { overviewQuerySchema, toStatsQuery } from './schema';

const cachedSchema = z
  .object({
    provider: z.string(),
    model: z.string(),
    requests: z.int(),
    tokens_cache_read: z.int(),
    tokens_cache_write: z.int(),
    saved_usd: usdShown
      .nullable()
      .openapi({ description: 'Against the input price, at current prices; null without a price' }),
  })
  .openapi('PromptCache');

const promptCache = defineRoute({
  method: 'get',
  path: '/stats/prompt-cache',
  tags: ['stats'],
  summary: "Tokens from providers' prompt caches and their savings, by model; the last 24 h by default",
  request: { query: overviewQuerySchema.pick({ from: true, to: true, project_id: true }) },
  responses: {
    200: answers(z.object({ data: z.array(cachedSchema) }), 'Models with cached tokens, those that saved most first'),
  },
});

/** Prompt tokens read from vendors' caches. The gateway's own cache hits don't count. */
export function promptCacheRoutes({ clock, db, routing }: Pick<AdminServices, 'clock' | 'db' | 'routing'>) {
  return createRouter().openapi(promptCache, async (c) => {
    const query = toStatsQuery(c.req.valid('query'), clock.nowMs());
    const { projectId } = query;
    const amounts = await loadAmounts(db, splitRange(query), { by: 'model', filter: { projectId } });
    return c.json(
      { data: sumPromptCaches(amounts, routing().prices).map((one) => showFields(cachedSchema, one)) },
      200,
    );
  });
}

interface ModelSum {
  readonly provider: string;
  readonly model: string;
  readonly requests: number;
  readonly tokensCacheRead: number;
  readonly tokensCacheWrite: number;
  readonly savedNanoUsd: number | null;
}

const PICO_PER_NANO = 1000n;

/** Sums by provider and model, largest savings first. */
export function sumPromptCaches(amounts: readonly Amount[], prices: Pick<PriceBook, 'find'>): readonly ModelSum[] {
  const parts = amounts.flatMap((amount): ModelSum[] => {
    const { model, cache, requests, tokensCacheRead, tokensCacheWrite } = amount;
    if (model === null || cache !== 'miss' || tokensCacheRead + tokensCacheWrite === 0) return [];
    const { provider, name } = model;
    const isPriced = prices.find(provider, name) !== undefined;
    const savedNanoUsd = isPriced ? Number(vendorSavedPico(amount, prices) / PICO_PER_NANO) : null;
    return [{ provider, model: name, requests, tokensCacheRead, tokensCacheWrite, savedNanoUsd }];
  });
  const byTarget = Map.groupBy(parts, ({ provider, model }) => `${provider}/${model}`);
  const sums = [...byTarget.values()].map((own) => own.reduce(addSums));
  return sums.sort((a, b) => (b.savedNanoUsd ?? 0) - (a.savedNanoUsd ?? 0) || b.tokensCacheRead - a.tokensCacheRead);
}

/** Amounts come by modality, too. */
const addSums = (a: ModelSum, b: ModelSum): ModelSum => ({
  ...{ provider: a.provider, model: a.model, requests: a.requests + b.requests },
  tokensCacheRead: a.tokensCacheRead + b.tokensCacheRead,
  tokensCacheWrite: a.tokensCacheWrite + b.tokensCacheWrite,
  savedNanoUsd: a.savedNanoUsd === null || b.savedNanoUsd === null ? null : a.savedNanoUsd + b.savedNanoUsd,
});
