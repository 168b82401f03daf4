import { createRoute, z } from '@hono/zod-openapi';
import { loadLabelNames } from '@llm0/drizzle/queries/finance/who';
import { answers, createRouter } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { projectIds } from '../fields/fields';
import { takeTurns } from '../stats/take-turns';
import { loadStatement } from './load-statement';
import { statementQuerySchema, statementSchema, toQuestion } from './schema';
import { showStatement, statementCsv } from './show-statement';

const DAY_MS = 86_400_000;
const LABELS_SINCE_MS = 62 * DAY_MS;
/** Reading months of rows loads the database. */
const AT_ONCE = 1;

const tags = ['finance'];
const statement = createRoute({
  method: 'get',
  path: '/finance/statement',
  tags,
  summary: 'Cost of a calendar month by organization, team, project, key, model, provider, customer or label',
  description:
    'Exact sums against the month before, with what caches saved, what was estimated, and a forecast against caps while the ' +
    'month is running. `label.<name>=value` narrows by a label.',
  request: { query: statementQuerySchema },
  responses: { 200: answers(statementSchema, 'The statement; rows add up to its total to the nano-dollar') },
});
const csv = createRoute({
  ...statement,
  path: '/finance/statement.csv',
  summary: 'The statement as CSV: rows, then the total; each line has month, zone, currency and filters',
  responses: { 200: { description: 'CSV', content: { 'text/csv': { schema: z.string() } } } },
});
const labels = createRoute({
  method: 'get',
  path: '/finance/labels',
  tags,
  summary: 'Label names of projects, keys and recent requests',
  request: { query: z.strictObject({ project_id: projectIds }) },
  responses: { 200: answers(z.object({ data: z.array(z.string()) }), 'Names, in their order') },
});

type Needs = Pick<AdminServices, 'db' | 'clock' | 'routing' | 'version' | 'config'>;

export function financeRoutes({ db, clock, routing, version, config }: Needs) {
  const inTurn = takeTurns(AT_ONCE);
  const load = (query: z.output<typeof statementQuerySchema>) => {
    const question = toQuestion(query, { nowMs: clock.nowMs(), logRetentionDays: config.logRetentionDays });
    return inTurn(() => loadStatement(db, question, routing().prices));
  };
  return createRouter()
    .openapi(statement, async (c) => c.json(showStatement(await load(c.req.valid('query')), version), 200))
    .openapi(csv, async (c) => {
      const found = await load(c.req.valid('query'));
      const { by, month } = found.question;
      const name = `statement-${month}-by-${by.replaceAll('.', '-')}.csv`;
      const headers = { 'Content-Type': 'text/csv; charset=utf-8; header=present' };
      return c.body(statementCsv(found, version), 200, {
        ...{ ...headers, 'Content-Disposition': `attachment; filename="${name}"` },
      });
    })
    .openapi(labels, async (c) =>
      c.json(
        { data: [...(await loadLabelNames(db, clock.nowMs() - LABELS_SINCE_MS, c.req.valid('query').project_id))] },
        200,
      ),
    );
}
