import { createRoute, z } from '@hono/zod-openapi';
import { countFailovers, failoverRows, type StoredFailover } from '@llm0/drizzle/queries/logs/failovers';
import { answers, createRouter } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { id, instantShown, pageOf, pageQuery, projectIds, queryInstant, showPage, text } from '../fields/fields';
import { showFields } from '../fields/map-fields';

const failoverSchema = z
  .object({
    id,
    created_at: instantShown,
    project_id: id,
    request_id: id,
    original_provider: z.string(),
    original_model: z.string(),
    fallback_provider: z.string(),
    fallback_model: z.string(),
    trigger_reason: z.string(),
    trigger_status_code: z.int().nullable(),
    original_attempt_latency_ms: z.number().nullable(),
    fallback_latency_ms: z.number().nullable(),
    fallback_succeeded: z.boolean(),
  })
  .openapi('Failover');

const list = createRoute({
  method: 'get',
  path: '/failovers',
  tags: ['routing'],
  summary: 'List failovers, newest first',
  request: {
    query: z.strictObject({
      project_id: projectIds,
      provider: text().optional().openapi({ description: 'Failed over to another provider' }),
      ...pageQuery,
    }),
  },
  responses: { 200: answers(pageOf(failoverSchema), 'Switches') },
});

const countSchema = z.object({
  data: z.array(
    z.object({
      provider: z.string(),
      failovers: z.int().openapi({ description: 'Requests that failed there and went to another target' }),
    }),
  ),
});

const counts = createRoute({
  method: 'get',
  path: '/failovers/counts',
  tags: ['routing'],
  summary: 'Count failed-over requests by provider; a query over 3 s gets 400',
  request: { query: z.strictObject({ from: queryInstant, to: queryInstant.optional(), project_id: projectIds }) },
  responses: { 200: answers(countSchema, 'Counts by provider; providers without failovers are omitted') },
});

export function failoverRoutes({ db, clock }: Pick<AdminServices, 'db' | 'clock'>) {
  return createRouter()
    .openapi(list, async (c) => {
      const { project_id: projectId, provider: originalProvider, ...page } = c.req.valid('query');
      return c.json(showPage(await failoverRows.list(db, page, { projectId, originalProvider }), showFailover), 200);
    })
    .openapi(counts, async (c) => {
      const { from: fromMs, to: toMs = clock.nowMs(), project_id: projectId } = c.req.valid('query');
      return c.json({ data: [...(await countFailovers(db, { fromMs, toMs, projectId }))] }, 200);
    });
}

const showFailover = (entry: StoredFailover) => showFields(failoverSchema, entry);
