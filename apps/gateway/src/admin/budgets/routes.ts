import { z } from '@hono/zod-openapi';
import { monthOf } from '@llm0/core/finance/calendar';
import { LEVELS } from '@llm0/core/limits/budgets';
import { type Budget, listBudgets } from '@llm0/drizzle/queries/limits/budgets';
import { answers, createRouter, defineRoute } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { id, pageQuery, projectIds, usdShown } from '../fields/fields';
import { showFields } from '../fields/map-fields';
import { type CapLine, isMonthBudget, loadCaps, MOST_CAPS } from '../finance/load-caps';
import { capFields } from '../finance/schema';
import { showForecast } from '../finance/show-statement';

const budgetScope = z.enum(['project', 'key', 'customer', 'label', 'share', ...LEVELS]);
const budgetSchema = z
  .object({
    scope: budgetScope,
    period: z.enum(['day', 'week', 'month', 'total']),
    project_id: id.nullable().openapi({ description: 'null for organizations, teams and users' }),
    id: z.string().openapi({
      description: 'Id of the key, customer or label budget; of the project that has a share; of all others their own',
    }),
    name: z.string(),
    limit_usd: usdShown,
    used_usd: usdShown,
    share: z.number().openapi({ description: 'used ÷ limit; may exceed 1' }),
    ...capFields,
  })
  .openapi('Budget', { description: 'Only monthly budgets of projects, keys and customers have a forecast' });

const list = defineRoute({
  method: 'get',
  path: '/budgets',
  tags: ['stats'],
  summary: 'Caps, budgets and customer limits with their use and forecast, the tightest first',
  request: {
    query: z.strictObject({ project_id: projectIds, scope: budgetScope.optional(), limit: pageQuery.limit }),
  },
  responses: { 200: answers(z.object({ data: z.array(budgetSchema) }), 'Budgets') },
});

export function budgetRoutes({ db, clock }: Pick<AdminServices, 'db' | 'clock'>) {
  return createRouter().openapi(list, async (c) => {
    const { project_id: projectId, scope, limit } = c.req.valid('query');
    const nowMs = clock.nowMs();
    const budgets = await listBudgets(db, { nowMs, limit, projectId, scope });
    const monthly = budgets.filter(isMonthBudget).slice(0, MOST_CAPS);
    const caps = await loadCaps(db, { month: monthOf('UTC', nowMs), nowMs }, monthly);
    const capOf = new Map<Budget | undefined, CapLine>(caps.map((cap, index) => [monthly[index], cap]));
    return c.json({ data: budgets.map((budget) => showBudget(budget, capOf.get(budget))) }, 200);
  });
}

function showBudget(budget: Budget, cap: CapLine | undefined) {
  const { limitNanoUsd, usedNanoUsd } = budget;
  const { forecast = null, reachedOn, couldReachOn } = cap ?? {};
  return showFields(budgetSchema, {
    ...budget,
    share: limitNanoUsd === 0 ? 1 : usedNanoUsd / limitNanoUsd,
    ...{ forecast: showForecast(forecast), reachedOn, couldReachOn },
  });
}
