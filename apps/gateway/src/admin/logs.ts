import { createRoute } from '@hono/zod-openapi';
import { listLogs } from '@llm0/drizzle/queries/logs';
import { answers, createRouter } from './admin-router';
import type { AdminServices } from './admin-services';
import { pageOf, showPage } from './fields';
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

export function logRoutes({ db }: Pick<AdminServices, 'db'>) {
  return createRouter().openapi(list, async (c) => {
    const query = c.req.valid('query');
    const { limit, cursor } = query;
    return c.json(showPage(await listLogs(db, toLogFilter(query), { limit, cursor }), showLog), 200);
  });
}
