import { z } from '@hono/zod-openapi';
import { failoverRows, type StoredFailover } from '@llm0/drizzle/queries/logs/failovers';
import { answers, createRouter, defineRoute } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { id, instantShown, pageOf, pageQuery, projectIds, showPage, text } from '../fields/fields';
import { showFields } from '../fields/map-fields';
import type { AnswerKept } from '../stats/keep-answers';
import { rangeQuerySchema, toStatsQuery } from '../stats/schema';
import { groupedFailoversSchema, switchFields } from './grouped-failovers';

const failoverSchema = z
  .object({
    id,
    created_at: instantShown,
    project_id: id,
    request_id: id,
    ...switchFields,
    original_attempt_latency_ms: z.number().nullable(),
    fallback_latency_ms: z.number().nullable(),
    fallback_succeeded: z.boolean(),
  })
  .openapi('Failover');

const list = defineRoute({
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

const grouped = defineRoute({
  method: 'get',
  path: '/stats/failovers',
  tags: ['stats'],
  summary: 'Failovers of a range, equal ones together, the latest first',
  request: { query: rangeQuerySchema },
  responses: { 200: answers(groupedFailoversSchema, 'Groups of switches') },
});

export function failoverRoutes({ clock, db }: Pick<AdminServices, 'clock' | 'db'>, answer: AnswerKept) {
  return createRouter()
    .openapi(list, async (c) => {
      const { project_id: projectId, provider: originalProvider, ...page } = c.req.valid('query');
      return c.json(showPage(await failoverRows.list(db, page, { projectId, originalProvider }), showFailover), 200);
    })
    .openapi(grouped, async (c) => {
      const { fromMs, toMs, projectId } = toStatsQuery(c.req.valid('query'), clock.nowMs());
      return answer(c, { kind: 'failovers', query: { fromMs, toMs, projectId } });
    });
}

const showFailover = (entry: StoredFailover) => showFields(failoverSchema, entry);
