import { z } from '@hono/zod-openapi';
import { GUARD_NAMES } from '@llm0/core/cache/semantic/guards/near-match-guards';
import type { Db } from '@llm0/drizzle/client';
import {
  type EvictedAnswers,
  evictSemanticEntry,
  listSemanticMatches,
  matchRows,
  rememberRejection,
  type StoredSemanticMatch,
} from '@llm0/drizzle/queries/caches/semantic-matches';
import { getLogByRequestId } from '@llm0/drizzle/queries/logs/search-logs';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { askHotStore } from '../ask-hot-store';
import { recordChange } from '../audit/record-change';
import { id, instantShown, pageOf, pageQuery, projectIds, showPage, text } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { showFields } from '../fields/map-fields';

const at = routesOf('cache');
const FLUSH_TIMEOUT_MS = 1000;
const OUTCOMES = ['served', 'shadow', 'refused', 'below'] as const;
/** A served answer isn't a miss. */
const NEAR_MISSES = ['shadow', 'refused', 'below'] as const;

const matchSchema = z
  .object({
    id,
    created_at: instantShown,
    project_id: id,
    request_id: id,
    outcome: z.enum(OUTCOMES).openapi({
      description: 'shadow: would have been served; refused: by a guard; below: just under the threshold',
    }),
    guard: z.string().nullable().openapi({ description: 'Guard that refused; rejected = a thumbs-down' }),
    similarity: z.number(),
    threshold: z.number(),
    cache_key: z.string().openapi({ description: 'Of the request' }),
    matched_key: z.string().openapi({ description: 'Request of the near entry' }),
    prompt: z.string().nullable().openapi({ description: 'Only with LOG_BODIES' }),
    matched_prompt: z.string().nullable().openapi({ description: 'Only with LOG_BODIES' }),
  })
  .openapi('SemanticMatch');

const nearMisses = defineRoute({
  ...at('get', '/cache/near-misses', 'List near misses of the semantic cache, newest first'),
  request: {
    query: z.strictObject({
      project_id: projectIds,
      outcome: z.enum(OUTCOMES).optional().openapi({ description: 'All except served by default' }),
      guard: z.enum([...GUARD_NAMES, 'rejected']).optional(),
      ...pageQuery,
    }),
  },
  responses: { 200: answers(pageOf(matchSchema), 'Near misses') },
});

const rejectSchema = z
  .union([z.strictObject({ request_id: id }), z.strictObject({ project_id: id, cache_key: text() })])
  .openapi('CacheRejection', {
    description: 'Request with the wrong answer, or key of the wrong entry (matched_key of a near miss)',
  });

const reject = defineRoute({
  ...at('post', '/cache/reject', 'Remove a wrong answer from all caches, and never match its questions again'),
  request: { body: takes(rejectSchema) },
  responses: {
    201: answers(
      z
        .object({
          semantic: z.int().openapi({ description: 'Entries removed from the semantic cache' }),
          exact: z.int().openapi({ description: 'Entries removed from the exact cache' }),
          remembered: z.boolean().openapi({ description: 'The semantic cache never matches this pair again' }),
        })
        .openapi('CacheRejected'),
      'What was taken out',
    ),
  },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'warmCache' | 'semanticCache' | 'config'>;

export function semanticCacheRoutes(services: Needs) {
  const { db, config } = services;
  return createRouter()
    .openapi(nearMisses, async (c) => {
      const { project_id: projectId, outcome, ...query } = c.req.valid('query');
      const page = await listSemanticMatches(db, {
        ...query,
        projectId,
        outcomes: outcome === undefined ? NEAR_MISSES : [outcome],
      });
      return c.json(
        showPage(page, (match) => showMatch(match, config.logBodies && c.get('actor').may('read_bodies'))),
        200,
      );
    })
    .openapi(reject, async (c) => {
      const body = c.req.valid('json');
      // Pending writes would land after the eviction.
      await Promise.all([services.semanticCache, services.warmCache].map((cache) => cache.flush(FLUSH_TIMEOUT_MS)));
      const match = 'request_id' in body ? required(await findMatch(db, body.request_id), MATCH) : undefined;
      const at = 'request_id' in body ? undefined : body;
      const projectId = match?.projectId ?? at?.project_id ?? '';
      const evicted = await recordChange(db, c.get('actor'), async (tx) => {
        const result = await evict(tx, projectId, match ?? at?.cache_key ?? '');
        return { result, action: 'reject', resource: 'cache', resourceId: projectId, before: body };
      });
      // After the warm tier, which could restore an entry.
      const hot = await askHotStore(() =>
        Promise.all(evicted.keys.map((cacheKey) => services.hotStore.cachePurge({ projectId, cacheKey }))),
      );
      const exact = Math.max(
        evicted.warm,
        hot.reduce((sum, n) => sum + n, 0),
      );
      return c.json({ semantic: evicted.semantic, exact, remembered: match !== undefined }, 201);
    });
}

const MATCH = 'request that the semantic cache found something for';

/** Semantic match of this request, or of the request that filled its exact hit. */
async function findMatch(db: Db, requestId: string): Promise<StoredSemanticMatch | null> {
  const match = await matchRows.get(db, { requestId });
  if (match !== null) return match;
  const matchedBy = (await getLogByRequestId(db, requestId))?.matchedBy;
  return matchedBy == null ? null : matchRows.get(db, { requestId: matchedBy });
}

/** The entry and all it was served to; for a request also its own wording, and the pair is remembered. */
async function evict(db: Db, projectId: string, from: StoredSemanticMatch | string): Promise<EvictedAnswers> {
  if (typeof from === 'string') return evictSemanticEntry(db, projectId, from);
  await rememberRejection(db, from);
  return evictSemanticEntry(db, projectId, from.matchedKey);
}

const showMatch = (match: StoredSemanticMatch, withTexts: boolean) =>
  showFields(matchSchema, withTexts ? match : { ...match, prompt: null, matchedPrompt: null });
