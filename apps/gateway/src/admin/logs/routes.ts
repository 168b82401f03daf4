import { createRoute, z } from '@hono/zod-openapi';
import type { JsonValue } from '@llm0/core/chat/json';
import { getLogBodies } from '@llm0/drizzle/queries/logs/log-bodies';
import { searchLogs } from '@llm0/drizzle/queries/logs/search-logs';
import { answers, createRouter } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { id, instantShown, pageOf, showPage } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { showFields } from '../fields/map-fields';
import { logQuerySchema, logSchema, showLog, toLogFilter } from './schema';

const logPageSchema = pageOf(logSchema).extend({
  partial: z
    .boolean()
    .optional()
    .openapi({ description: 'Searched as far as 7 days and 3 s allow; next_cursor goes on from there' }),
});

const list = createRoute({
  method: 'get',
  path: '/logs',
  tags: ['logs'],
  summary: 'List requests, newest first; further filters by label: `label.<name>=<value>`',
  description:
    'With `Accept: text/csv` or `?format=csv|ndjson` every matching row is streamed; `limit` then caps them.',
  request: { query: logQuerySchema },
  responses: { 200: answers(logPageSchema, 'Requests, with all columns of gateway_logs') },
});

const bodiesSchema = z
  .object({
    request_id: id,
    project_id: id,
    created_at: instantShown,
    request_body: z.unknown().openapi({ description: 'JSON as the client sent it; null when none was kept' }),
    response_body: z.unknown().openapi({ description: 'JSON as the client got it, a stream put together; or null' }),
  })
  .openapi('LogBodies', { description: 'Without secrets. Long bodies are `{truncated: true, characters, text}`' });

const bodies = createRoute({
  method: 'get',
  path: '/logs/{request_id}/bodies',
  tags: ['logs'],
  summary: "Show a request's prompt and answer, kept with LOG_BODIES=true for LOG_BODIES_TTL_DAYS",
  request: { params: z.object({ request_id: id }) },
  responses: { 200: answers(bodiesSchema, 'Prompt and answer') },
});

export function logRoutes({ db, clock }: Pick<AdminServices, 'db' | 'clock'>) {
  return createRouter()
    .openapi(list, async (c) => {
      const query = c.req.valid('query');
      const { limit, cursor } = query;
      const page = await searchLogs(db, toLogFilter(query), { limit, cursor }, clock.nowMs());
      return c.json({ ...showPage(page, showLog), ...(page.partial ? { partial: true } : {}) }, 200);
    })
    .openapi(bodies, async (c) => {
      const { request_id: requestId } = c.req.valid('param');
      const { request, response, ...kept } = required(await getLogBodies(db, requestId), 'request with bodies');
      const bodies = { requestBody: parseOrNull(request), responseBody: parseOrNull(response) };
      return c.json(showFields(bodiesSchema, { ...kept, ...bodies }), 200);
    });
}

const parseOrNull = (text: string | null) => (text === null ? null : (JSON.parse(text) as JsonValue));
