import { createRoute, z } from '@hono/zod-openapi';
import { type Budget, listBudgets } from '@llm0/drizzle/queries/limits/budgets';
import { answers, createRouter } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { id, pageQuery, usdShown } from '../fields/fields';
import { showFields } from '../fields/map-fields';

const budgetSchema = z
  .object({
    scope: z.enum(['project', 'key', 'customer']),
    period: z.enum(['day', 'month', 'total']),
    project_id: id,
    id: z.string().openapi({ description: 'Id of the key or customer; of the project for projects' }),
    name: z.string(),
    limit_usd: usdShown,
    used_usd: usdShown,
    share: z.number().openapi({ description: 'used ÷ limit; may exceed 1' }),
  })
  .openapi('Budget');

const list = createRoute({
  method: 'get',
  path: '/budgets',
  tags: ['stats'],
  summary: 'Caps, key budgets and customer limits with their use, the tightest first',
  request: { query: z.strictObject({ project_id: id.optional(), limit: pageQuery.limit }) },
  responses: { 200: answers(z.object({ data: z.array(budgetSchema) }), 'Budgets') },
});

export function budgetRoutes({ db, clock }: Pick<AdminServices, 'db' | 'clock'>) {
  return createRouter().openapi(list, async (c) => {
    const { project_id: projectId, limit } = c.req.valid('query');
    const budgets = await listBudgets(db, { nowMs: clock.nowMs(), limit, projectId });
    return c.json({ data: budgets.map(showBudget) }, 200);
  });
}

function showBudget(budget: Budget) {
  const { limitNanoUsd, usedNanoUsd } = budget;
  return showFields(budgetSchema, { ...budget, share: limitNanoUsd === 0 ? 1 : usedNanoUsd / limitNanoUsd });
}
