import { z } from '@hono/zod-openapi';
import { loadBuckets } from '@llm0/drizzle/queries/stats/read/load-stats';
import { answers, createRouter, defineRoute } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { showFields } from '../fields/map-fields';

const UNPRICED_RANGE_MS = 7 * 86_400_000;

const systemSchema = z
  .object({
    version: z.string(),
    environment: z.string(),
    hot_store: z.enum(['redis', 'embedded']),
    database: z.enum(['postgres', 'embedded']),
    providers: z.array(z.string()).openapi({ description: 'Configured providers, by name' }),
    demo_data: z.boolean().openapi({ description: 'POST /demo-data is allowed' }),
    log_retention_days: z.int(),
    log_bodies: z.boolean(),
    log_bodies_ttl_days: z.int(),
    cache_ttl_seconds: z.int(),
    cache_max_bytes: z.int(),
    request_timeout_ms: z.number(),
    answer_timeout_ms: z.number(),
    workers: z.int(),
    gateway_port: z
      .int()
      .nullable()
      .openapi({ description: 'Address of the data plane, if ADMIN_PORT separates it from this API' }),
  })
  .openapi('System');

const show = defineRoute({
  method: 'get',
  path: '/system',
  tags: ['history'],
  summary: 'Show version, stores and settings of this gateway',
  responses: { 200: answers(systemSchema, 'As it is configured') },
});

const unpricedSchema = z
  .object({ data: z.array(z.object({ provider: z.string(), model: z.string(), requests: z.int() })) })
  .openapi('UnpricedModels');

const unpriced = defineRoute({
  method: 'get',
  path: '/models/unpriced',
  tags: ['models'],
  summary: 'Models of the last 7 days without a price, the busiest first',
  responses: { 200: answers(unpricedSchema, 'Models without a price') },
});

type Needs = Pick<AdminServices, 'db' | 'clock' | 'config' | 'hotStore' | 'routing' | 'version'>;

export function systemRoutes(services: Needs) {
  const { db, clock, config, hotStore, version } = services;
  return createRouter()
    .openapi(show, (c) => {
      const answer = {
        ...config,
        version,
        hotStore: hotStore.kind,
        database: config.databaseUrl === undefined ? ('embedded' as const) : ('postgres' as const),
        providers: [...services.routing().providers.keys()],
        gatewayPort: config.adminPort === undefined || config.port === 0 ? null : config.port,
        demoData: config.environment !== 'production',
      };
      return c.json(showFields(systemSchema, answer), 200);
    })
    .openapi(unpriced, async (c) => c.json({ data: await findUnpriced(services, clock.nowMs()) }, 200));

  async function findUnpriced({ routing }: Needs, nowMs: number) {
    const range = { fromMs: nowMs - UNPRICED_RANGE_MS, toMs: nowMs, nowMs, withDurations: false, status: 'success' };
    const { providers, prices } = routing();
    const found: { provider: string; model: string; requests: number }[] = [];
    for (const provider of providers.keys()) {
      const { buckets } = await loadBuckets(db, { ...range, provider, groupBy: 'model' });
      for (const { group, requests } of buckets) {
        if (group !== null && prices.find(provider, group) === undefined)
          found.push({ provider, model: group, requests });
      }
    }
    return found.sort((a, b) => b.requests - a.requests);
  }
}
