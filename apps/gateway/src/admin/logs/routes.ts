import { z } from '@hono/zod-openapi';
import { OUTCOMES, outcomeOf, STATUSES, statusOf } from '@llm0/core/errors/outcome';
import { getLogBodies } from '@llm0/drizzle/queries/logs/log-bodies';
import { getLogByRequestId, type LogPage, searchLogs, wholeRangeOf } from '@llm0/drizzle/queries/logs/search-logs';
import { type LogCount, searchAndCount, tallyLogs } from '@llm0/drizzle/queries/logs/tally-logs';
import { answers, createRouter, defineRoute } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { id, instantShown, pageOf, showPage } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { showFields } from '../fields/map-fields';
import { showInstant } from '../fields/show-fields';
import { logQuerySchema, tallyInterval, tallyQuerySchema, toLogFilter } from './log-query';
import { mayNotReadBodies, parseOrNull } from './read-bodies';
import { logSchema, showLog } from './schema';
import { suggest, suggestValues } from './suggest-values';

const isPartial = z.boolean().optional();
const partialFrom = instantShown.optional().openapi({ description: 'If partial: start of the range that was read' });

const countSchema = z
  .object({
    rows: z.int(),
    is_exact: z.boolean().openapi({ description: 'false: more exist before `from`' }),
    from: instantShown
      .nullable()
      .openapi({ description: 'Start of the counted range, as far as 3 s allow; null if exact' }),
  })
  .openapi('LogCount');

const logPageSchema = pageOf(logSchema).extend({
  count: countSchema.optional().openapi({ description: 'With `count=true`: number of matching rows' }),
  partial: isPartial.openapi({
    description:
      'Not all of the range was read within 3 s. By time next_cursor goes on from ' +
      'there; in another order only the rows since `partial_from` are sorted',
  }),
  partial_from: partialFrom,
});

const list = defineRoute({
  method: 'get',
  path: '/logs',
  tags: ['logs'],
  summary: 'List requests, newest first; further filters by label: `label.<name>=<value>`',
  description:
    'Fields that say what a request is by may come several times (any of the values), and with `_not` behind the name ' +
    '(none of them; `label_not.<name>=`). With `Accept: text/csv` or `?format=csv|ndjson` every matching row is streamed; ' +
    '`limit` then caps them.',
  request: { query: logQuerySchema },
  responses: { 200: answers(logPageSchema, 'Requests, with all columns of gateway_logs') },
});

const show = defineRoute({
  method: 'get',
  path: '/logs/{request_id}',
  tags: ['logs'],
  summary: 'Show one request',
  request: { params: z.object({ request_id: id }) },
  responses: { 200: answers(logSchema, 'The request') },
});

const tallySchema = z
  .object({
    count: countSchema,
    interval_seconds: z.int(),
    buckets: z.array(
      z.object({
        start: instantShown,
        status: z.enum(STATUSES),
        outcome: z.enum(OUTCOMES),
        requests: z.int().openapi({ description: 'An aggregated refusal counts as `refused_count` refusals' }),
      }),
    ),
  })
  .openapi('LogTally');

const tally = defineRoute({
  method: 'get',
  path: '/logs/histogram',
  tags: ['logs'],
  summary: 'Count matching requests by time and status',
  request: { query: tallyQuerySchema },
  responses: { 200: answers(tallySchema, 'Buckets that have requests, oldest first') },
});

const bodiesSchema = z
  .object({
    request_id: id,
    project_id: id,
    created_at: instantShown,
    request_body: z.unknown().openapi({ description: "The client's JSON; null if not stored" }),
    upstream_request_body: z.unknown().openapi({
      description: 'JSON of the last provider that was called; null without a call or if not stored',
    }),
    response_body: z.unknown().openapi({ description: "The client's JSON answer, with a stream joined; or null" }),
  })
  .openapi('LogBodies', { description: 'Without secrets. Long bodies are `{truncated: true, characters, text}`' });

const bodies = defineRoute({
  method: 'get',
  path: '/logs/{request_id}/bodies',
  tags: ['logs'],
  summary: "Show a request's prompt and answer (LOG_BODIES=true, for LOG_BODIES_TTL_DAYS)",
  request: {
    params: z.object({ request_id: id }),
    query: z.strictObject({
      missing: z.enum(['error', 'empty']).optional().openapi({
        default: 'error',
        description: 'Without stored bodies: 404, or an empty 204',
      }),
    }),
  },
  responses: {
    200: answers(bodiesSchema, 'Prompt and answer'),
    204: { description: 'None are stored, and `missing` is "empty"' },
  },
});

const showCount = ({ rows, partialFromMs }: LogCount): z.output<typeof countSchema> => ({
  rows,
  is_exact: partialFromMs === undefined,
  from: partialFromMs === undefined ? null : showInstant(partialFromMs),
});

export function logRoutes({ db, clock, routing }: Pick<AdminServices, 'db' | 'clock' | 'routing'>) {
  return createRouter()
    .openapi(list, async (c) => {
      const { limit, cursor, sort, count, format: _format, ...query } = c.req.valid('query');
      const filter = toLogFilter(query, c.get('actor'));
      const asked = { limit, cursor, sort };
      const nowMs = clock.nowMs();
      const page: LogPage & { readonly count?: LogCount } =
        count === 'true'
          ? await searchAndCount(db, filter, { page: asked, nowMs })
          : await searchLogs(db, filter, asked, nowMs);
      const { partialFromMs, count: counted } = page;
      return c.json(
        {
          ...showPage(page, showLog),
          ...(counted === undefined ? {} : { count: showCount(counted) }),
          ...(partialFromMs === undefined ? {} : { partial: true, partial_from: showInstant(partialFromMs) }),
        },
        200,
      );
    })
    .openapi(tally, async (c) => {
      const { interval, ...query } = c.req.valid('query');
      const filter = toLogFilter(query, c.get('actor'));
      const intervalMs = tallyInterval(await wholeRangeOf(db, filter, clock.nowMs()), interval);
      const { buckets, ...count } = await tallyLogs(db, { filter, intervalMs, nowMs: clock.nowMs() });
      const shown = buckets.map(({ startMs, outcome, requests }) => ({
        ...{ start: showInstant(startMs), requests },
        ...{ status: statusOf(outcome), outcome: outcomeOf(outcome, null) },
      }));
      return c.json({ count: showCount(count), interval_seconds: intervalMs / 1000, buckets: shown }, 200);
    })
    .openapi(suggest, async (c) =>
      c.json({ data: await suggestValues({ db, clock, routing }, c.req.valid('query')) }, 200),
    )
    .openapi(show, async (c) => {
      const { request_id: requestId } = c.req.valid('param');
      return c.json(showLog(required(await getLogByRequestId(db, requestId), 'request')), 200);
    })
    .openapi(bodies, async (c) => {
      if (!c.get('actor').may('read_bodies')) throw mayNotReadBodies();
      const { request_id: requestId } = c.req.valid('param');
      const found = await getLogBodies(db, requestId);
      if (found === null && c.req.valid('query').missing === 'empty') return c.body(null, 204);
      const { request, upstreamRequest, response, ...kept } = required(found, 'request with bodies');
      return c.json(
        showFields(bodiesSchema, {
          ...kept,
          requestBody: parseOrNull(request),
          upstreamRequestBody: parseOrNull(upstreamRequest),
          responseBody: parseOrNull(response),
        }),
        200,
      );
    });
}
