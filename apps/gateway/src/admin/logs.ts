import { createRoute, z } from '@hono/zod-openapi';
import type { JsonValue } from '@llm0/core/chat/json';
import { getLogBodies } from '@llm0/drizzle/queries/log-bodies';
import { listLogs } from '@llm0/drizzle/queries/logs';
import { answers, createRouter } from './admin-router';
import type { AdminServices } from './admin-services';
import { id, instantShown, pageOf, showInstant, showPage } from './fields';
import { required } from './find-or-refuse';
import { logQuerySchema, logSchema, showLog, toLogFilter } from './log-schema';

const list = createRoute({
  method: 'get',
  path: '/logs',
  tags: ['logs'],
  summary: 'List requests, newest first; further filters by label: `label.<name>=<value>`',
  description:
    'With `Accept: text/csv` or `?format=csv|ndjson` every matching row is streamed; `limit` then caps them.',
  request: { query: logQuerySchema },
  responses: { 200: answers(pageOf(logSchema), 'Requests, with all columns of gateway_logs') },
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

export function logRoutes({ db }: Pick<AdminServices, 'db'>) {
  return createRouter()
    .openapi(list, async (c) => {
      const query = c.req.valid('query');
      const { limit, cursor } = query;
      return c.json(showPage(await listLogs(db, toLogFilter(query), { limit, cursor }), showLog), 200);
    })
    .openapi(bodies, async (c) => {
      const { request_id: requestId } = c.req.valid('param');
      const kept = required(await getLogBodies(db, requestId), 'request with bodies');
      const answer = {
        request_id: requestId,
        project_id: kept.projectId,
        created_at: showInstant(kept.createdAtMs),
        request_body: parseOrNull(kept.request),
        response_body: parseOrNull(kept.response),
      };
      return c.json(answer, 200);
    });
}

const parseOrNull = (text: string | null) => (text === null ? null : (JSON.parse(text) as JsonValue));
