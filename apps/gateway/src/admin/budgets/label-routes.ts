import { z } from '@hono/zod-openapi';
import type { Db } from '@llm0/drizzle/client';
import {
  type ChangedLabelBudget,
  changeLabelBudget,
  createLabelBudget,
  deleteLabelBudget,
  labelBudgetRows,
  listLabelBudgets,
} from '@llm0/drizzle/queries/limits/label-budgets';
import { RowsOnTheirWayError, readOlderSpend } from '@llm0/drizzle/queries/limits/label-spend';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import type { HotStoreMirror } from '../customers/hot-store-mirror';
import { id, pageOf, pageQuery, projectIds, showPage } from '../fields/fields';
import { required, requireProject } from '../fields/find-or-refuse';
import { readFields } from '../fields/map-fields';
import { labelBudgetChangesSchema, labelBudgetSchema, newLabelBudgetSchema, showLabelBudget } from './label-schema';

const at = routesOf('label budgets');
const params = z.object({ id });

const create = defineRoute({
  ...at('post', '/label-budgets', "Limit the spend of a project's requests with a label, from the next request"),
  request: { body: takes(newLabelBudgetSchema) },
  responses: { 201: answers(labelBudgetSchema, 'The new budget; spend of the running periods counts') },
});
const list = defineRoute({
  ...at('get', '/label-budgets', 'List budgets of labels, newest first'),
  request: { query: z.strictObject({ project_id: projectIds, ...pageQuery }) },
  responses: { 200: answers(pageOf(labelBudgetSchema), 'Budgets') },
});
const show = defineRoute({
  ...at('get', '/label-budgets/{id}', 'Show the budget of a label'),
  request: { params },
  responses: { 200: answers(labelBudgetSchema, 'The budget') },
});
const change = defineRoute({
  ...at('patch', '/label-budgets/{id}', 'Change the given amounts, from the next request'),
  request: { params, body: takes(labelBudgetChangesSchema) },
  responses: { 200: answers(labelBudgetSchema, 'The budget as it is now') },
});
const remove = defineRoute({
  ...at('delete', '/label-budgets/{id}', 'Delete the budget of a label, from the next request'),
  request: { params },
  responses: { 204: { description: 'Deleted' } },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'clock'>;

export function labelBudgetRoutes({ db, hotStore, clock }: Needs, mirror: HotStoreMirror) {
  const changes = new AuditedChanges(db, {
    ...{ resource: 'label_budget', what: 'label budget', idOf: (budget: ChangedLabelBudget) => budget.id },
    show: showLabelBudget,
    goLive: ({ projectId, projectVersion }) =>
      mirror.apply(`project ${projectId}`, () => hotStore.setVersions(projectId, projectVersion, [])),
  });
  return createRouter()
    .openapi(create, async (c) => {
      const body = readFields(c.req.valid('json'));
      const nowMs = clock.nowMs();
      const make = async () => {
        const older = await readOlderSpend(db, body, nowMs);
        return changes.create(c.get('actor'), async (tx) => {
          await requireProject(tx, body.projectId);
          return createLabelBudget(tx, body, { nowMs, older });
        });
      };
      // Rows may reach ClickHouse in between.
      const budget = await make().catch((error: unknown) => {
        if (error instanceof RowsOnTheirWayError) return make();
        throw error;
      });
      return c.json(showLabelBudget(budget), 201);
    })
    .openapi(list, async (c) => {
      const { project_id: projectId, ...page } = c.req.valid('query');
      return c.json(showPage(await listLabelBudgets(db, page, projectId), showLabelBudget), 200);
    })
    .openapi(show, async (c) => {
      const budget = required(await labelBudgetRows.get(db, c.req.valid('param')), 'label budget');
      return c.json(showLabelBudget(budget), 200);
    })
    .openapi(change, async (c) => {
      const { id } = c.req.valid('param');
      const write = (tx: Db) => changeLabelBudget(tx, id, readFields(c.req.valid('json')));
      return c.json(showLabelBudget(await changes.update(c.get('actor'), (tx) => find(tx, id), write)), 200);
    })
    .openapi(remove, async (c) => {
      await changes.remove(c.get('actor'), (tx) => deleteLabelBudget(tx, c.req.valid('param').id));
      return c.body(null, 204);
    });
}

/** As it is before a change, which raises the version. */
async function find(tx: Db, id: string): Promise<ChangedLabelBudget | null> {
  const budget = await labelBudgetRows.get(tx, { id });
  return budget && { ...budget, projectVersion: 0 };
}
