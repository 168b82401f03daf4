import { z } from '@hono/zod-openapi';
import { loadHomes, loadKeys, loadLabelNames } from '@llm0/drizzle/queries/finance/who';
import { answers, createRouter, defineRoute } from '../admin-router';
import type { Actor, AdminServices } from '../admin-services';
import { projectIds } from '../fields/fields';
import { takeTurns } from '../stats/take-turns';
import { closingRoutes } from './closing-routes';
import { focusCsv } from './focus';
import { loadFacts } from './load-facts';
import { loadStatement } from './load-statement';
import { focusQuerySchema, type StatementQuery, statementQuerySchema, statementSchema, toQuestion } from './schema';
import { showStatement, statementCsv } from './show-statement';
import { visibleTo } from './visible-to';

const DAY_MS = 86_400_000;
const LABELS_SINCE_MS = 62 * DAY_MS;
/** Reading months of rows loads the database. */
const AT_ONCE = 1;

const tags = ['finance'];
const statement = defineRoute({
  method: 'get',
  path: '/finance/statement',
  tags,
  summary:
    'Cost of a calendar month by organization, team, cost center, project, key, model, provider, modality, customer or label',
  description:
    'Exact sums against the month before, with what caches saved, what was estimated, and a forecast against caps while the ' +
    'month is running. `label.<name>=value` narrows by a label. A month that was closed keeps its figures.',
  request: { query: statementQuerySchema },
  responses: { 200: answers(statementSchema, 'The statement; rows add up to its total to the nano-dollar') },
});
const csv = defineRoute({
  ...statement,
  path: '/finance/statement.csv',
  summary: 'The statement as CSV: rows, then the total; each line has month, zone, currency and filters',
  responses: { 200: { description: 'CSV', content: { 'text/csv': { schema: z.string() } } } },
});
const focus = defineRoute({
  method: 'get',
  path: '/finance/focus.csv',
  tags,
  summary:
    'The month in the FOCUS 1.3 format: a row for each key, model, modality and cache, tagged by organization, team, cost center and modality',
  request: { query: focusQuerySchema },
  responses: { 200: { description: 'CSV', content: { 'text/csv': { schema: z.string() } } } },
});
const labels = defineRoute({
  method: 'get',
  path: '/finance/labels',
  tags,
  summary: 'Label names of projects, keys and recent requests',
  request: { query: z.strictObject({ project_id: projectIds }) },
  responses: { 200: answers(z.object({ data: z.array(z.string()) }), 'Names, in their order') },
});

type Needs = Pick<AdminServices, 'db' | 'clock' | 'routing' | 'version' | 'config'>;

const csvHeaders = (name: string) => ({
  'Content-Type': 'text/csv; charset=utf-8; header=present',
  'Content-Disposition': `attachment; filename="${name}"`,
});

export function financeRoutes(services: Needs) {
  const { db, clock, routing, version, config } = services;
  const inTurn = takeTurns(AT_ONCE);
  const questionOf = async (query: StatementQuery, actor: Actor) => {
    const visible = await visibleTo(db, actor, query.project_id);
    return toQuestion(query, { visible, nowMs: clock.nowMs(), logRetentionDays: config.logRetentionDays });
  };
  const load = async (query: StatementQuery, actor: Actor) => {
    const question = await questionOf(query, actor);
    return inTurn(() => loadStatement(db, question, routing().prices));
  };
  return createRouter()
    .openapi(statement, async (c) =>
      c.json(showStatement(await load(c.req.valid('query'), c.get('actor')), version), 200),
    )
    .openapi(csv, async (c) => {
      const found = await load(c.req.valid('query'), c.get('actor'));
      const { by, month } = found.question;
      const name = `statement-${month}-by-${by.replaceAll('.', '-')}.csv`;
      return c.body(statementCsv(found, version), 200, csvHeaders(name));
    })
    .openapi(focus, async (c) => {
      const question = await questionOf({ ...c.req.valid('query'), by: 'key' } as StatementQuery, c.get('actor'));
      const { month } = await inTurn(async () => {
        const [homes, keys] = await Promise.all([loadHomes(db), loadKeys(db)]);
        return loadFacts(db, { ...question, by: 'key' }, { homes, keys });
      });
      return c.body(focusCsv({ ...question, ...month }), 200, csvHeaders(`focus-${question.month}.csv`));
    })
    .openapi(labels, async (c) =>
      c.json(
        { data: [...(await loadLabelNames(db, clock.nowMs() - LABELS_SINCE_MS, c.req.valid('query').project_id))] },
        200,
      ),
    )
    .route('/', closingRoutes(services));
}
