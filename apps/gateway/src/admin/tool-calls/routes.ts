import { z } from '@hono/zod-openapi';
import { getLogBodies } from '@llm0/drizzle/queries/logs/log-bodies';
import { getToolCall, listToolCalls } from '@llm0/drizzle/queries/tool-calls/tool-calls';
import { loadToolStats } from '@llm0/drizzle/queries/tool-calls/tool-stats';
import { answers, createRouter, defineRoute } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { id, showPage } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { readFields, showFields } from '../fields/map-fields';
import { showInstant } from '../fields/show-fields';
import { mayNotReadBodies, parseOrNull } from '../logs/read-bodies';
import {
  showToolBucket,
  showToolCall,
  toolBodiesSchema,
  toolCallPageSchema,
  toolCallQuerySchema,
  toolCallSchema,
  toolStatsQuerySchema,
  toolStatsSchema,
  toToolStatsQuery,
} from './schema';

const tags = ['mcp'];
const params = z.object({ id });

const list = defineRoute({
  method: 'get',
  path: '/tool-calls',
  tags,
  summary: 'List calls of MCP tools, newest first',
  request: { query: toolCallQuerySchema },
  responses: { 200: answers(toolCallPageSchema, 'Calls, with all columns of tool_calls') },
});

const show = defineRoute({
  method: 'get',
  path: '/tool-calls/{id}',
  tags,
  summary: 'Show one call of an MCP tool',
  request: { params },
  responses: { 200: answers(toolCallSchema, 'The call') },
});

const bodies = defineRoute({
  method: 'get',
  path: '/tool-calls/{id}/bodies',
  tags,
  summary: "Show a call's arguments and result (LOG_BODIES=true, for LOG_BODIES_TTL_DAYS)",
  request: { params },
  responses: { 200: answers(toolBodiesSchema, 'Arguments and result') },
});

const stats = defineRoute({
  method: 'get',
  path: '/stats/tools',
  tags: ['stats'],
  summary: 'Calls of MCP tools over time, by server, tool, project or key',
  description: 'Buckets without calls are omitted. A query over 3 s gets 400 and names the parameter to narrow.',
  request: { query: toolStatsQuerySchema },
  responses: { 200: answers(toolStatsSchema, 'Buckets, oldest first; counts and money are exact') },
});

export function toolCallRoutes({ db, clock }: Pick<AdminServices, 'db' | 'clock'>) {
  return createRouter()
    .openapi(list, async (c) => {
      const { limit, cursor, from: fromMs, to: toMs, ...match } = c.req.valid('query');
      const page = await listToolCalls(db, { ...readFields(match), fromMs, toMs }, { limit, cursor }, clock.nowMs());
      const { partialFromMs } = page;
      const partial = partialFromMs === undefined ? {} : { partial: true, partial_from: showInstant(partialFromMs) };
      return c.json({ ...showPage(page, showToolCall), ...partial }, 200);
    })
    .openapi(show, async (c) => {
      const call = required(await getToolCall(db, c.req.valid('param').id), 'tool call');
      return c.json(showToolCall(call), 200);
    })
    .openapi(bodies, async (c) => {
      if (!c.get('actor').may('read_bodies')) throw mayNotReadBodies();
      const kept = required(await getLogBodies(db, c.req.valid('param').id), 'tool call with bodies');
      const { requestId, projectId, createdAtMs, request, response } = kept;
      const shown = {
        requestId,
        projectId,
        createdAtMs,
        arguments: parseOrNull(request),
        result: parseOrNull(response),
      };
      return c.json(showFields(toolBodiesSchema, shown), 200);
    })
    .openapi(stats, async (c) => {
      const { buckets, groups } = await loadToolStats(db, toToolStatsQuery(c.req.valid('query'), clock.nowMs()));
      return c.json({ buckets: buckets.map(showToolBucket), groups }, 200);
    });
}
