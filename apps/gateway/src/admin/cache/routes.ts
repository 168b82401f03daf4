import { z } from '@hono/zod-openapi';
import { DEFAULT_SEMANTIC_THRESHOLD } from '@llm0/core/cache/semantic/semantic-cache';
import { countStoredCache, purgeStoredCache } from '@llm0/drizzle/queries/caches/cache-purge';
import { countSemanticMatches } from '@llm0/drizzle/queries/caches/semantic-matches';
import { tellPurge } from '../../backends/purge-news';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { askHotStore } from '../ask-hot-store';
import { recordChange } from '../audit/record-change';
import { count, id, text } from '../fields/fields';

const at = routesOf('cache');
const FLUSH_TIMEOUT_MS = 1000;

const purgeSchema = z
  .strictObject({
    project_id: id.optional(),
    provider: text().optional(),
    model: text().optional(),
    cache_key: text().optional(),
    older_than_seconds: count(0).optional(),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), 'must name at least one condition')
  .openapi('CachePurge', { description: 'Removes entries that match all conditions; at least one is required' });

const purge = defineRoute({
  ...at('post', '/cache/purge', 'Remove cached answers'),
  request: { body: takes(purgeSchema) },
  responses: {
    201: answers(z.object({ exact: z.int(), semantic: z.int() }).openapi('CachePurged'), 'How many were removed'),
  },
});

const statsSchema = z
  .object({
    backend: z.enum(['redis', 'embedded']),
    ttl_seconds: z.int(),
    max_bytes: z.int(),
    entries: z.int().openapi({ description: 'Entries of the exact cache in the hot store' }),
    bytes: z.int(),
    warm_entries: z.int().openapi({ description: 'Entries of the exact cache in Postgres' }),
    semantic_entries: z.int(),
    semantic_threshold: z.number().openapi({ description: 'Default for projects without their own value' }),
    semantic_matches: z
      .record(z.string(), z.int())
      .openapi({ description: 'Results of look-ups: served, shadow, refused, below' }),
    semantic_refusals: z.record(z.string(), z.int()).openapi({ description: 'Refused near matches by guard' }),
  })
  .openapi('CacheStats');

const stats = defineRoute({
  ...at('get', '/cache/stats', 'Show the size of the caches'),
  responses: { 200: answers(statsSchema, 'Sizes of the caches') },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'warmCache' | 'semanticCache' | 'clock' | 'config'>;

export function cacheRoutes(services: Needs) {
  const { db, hotStore, warmCache, semanticCache, clock, config } = services;
  return createRouter()
    .openapi(purge, async (c) => {
      const body = c.req.valid('json');
      const { project_id: projectId, cache_key: cacheKey, older_than_seconds: seconds, ...rest } = body;
      const filter = { ...rest, projectId, cacheKey, olderThanMs: seconds === undefined ? undefined : seconds * 1000 };
      // Pending writes would land after the purge.
      await Promise.all([warmCache, semanticCache].map((cache) => cache.flush(FLUSH_TIMEOUT_MS)));
      const warm = await recordChange(db, c.get('actor'), async (tx) => {
        const result = await purgeStoredCache(tx, filter, clock.nowMs());
        return { result, action: 'purge', resource: 'cache', resourceId: projectId ?? null, before: body };
      });
      // After the warm tier, which could restore an entry. Both tiers hold the same answers, so they count once.
      const hot = await askHotStore(() => hotStore.cachePurge(filter));
      await askHotStore(() => tellPurge(hotStore, filter));
      return c.json({ exact: Math.max(hot, warm.exact), semantic: warm.semantic }, 201);
    })
    .openapi(stats, async (c) => {
      const [hot, stored, matches] = await Promise.all([
        askHotStore(() => hotStore.cacheStats()),
        countStoredCache(db),
        countSemanticMatches(db),
      ]);
      const answer = {
        backend: hotStore.kind,
        ttl_seconds: config.cacheTtlSeconds,
        max_bytes: config.cacheMaxBytes,
        entries: hot.entries,
        bytes: hot.bytes,
        warm_entries: stored.exact,
        semantic_entries: stored.semantic,
        semantic_threshold: DEFAULT_SEMANTIC_THRESHOLD,
        semantic_matches: matches.outcomes,
        semantic_refusals: matches.guards,
      };
      return c.json(answer, 200);
    });
}
