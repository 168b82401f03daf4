import { z } from '@hono/zod-openapi';
import { teamRows } from '@llm0/drizzle/queries/access/teams';
import { listShares, type UsedShare } from '@llm0/drizzle/queries/limits/team-shares';
import { answers, createRouter, defineRoute, routesOf } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { id, usdShown } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { showFields } from '../fields/map-fields';

const shareSchema = z
  .object({
    project_id: id,
    name: z.string(),
    share_usd: usdShown,
    overdraft: z.boolean(),
    spent_usd: usdShown,
    drawn_usd: usdShown.openapi({ description: 'What it spent beyond its share' }),
  })
  .openapi('TeamShare');
const sharesSchema = z
  .object({
    budget_usd: usdShown
      .nullable()
      .openapi({ description: "The team's monthly_cap_usd; null = shares have no effect" }),
    spent_usd: usdShown,
    rest_usd: usdShown
      .nullable()
      .openapi({ description: 'Part that no share claims; below 0: shares exceed the budget' }),
    drawn_usd: usdShown.openapi({ description: 'Spent of the rest: beyond shares, and by projects without a share' }),
    others_spent_usd: usdShown.openapi({ description: 'Spend of projects without a share' }),
    data: z.array(shareSchema),
  })
  .openapi('TeamShares');

const show = defineRoute({
  ...routesOf('teams')(
    'get',
    '/teams/{id}/shares',
    "Show how a team's monthly budget is split, and what was spent of it",
  ),
  request: { params: z.object({ id }) },
  responses: { 200: answers(sharesSchema, 'The shares of this UTC month, the largest first') },
});

const drawnBy = ({ spentNanoUsd, shareNanoUsd }: UsedShare) => Math.max(0, spentNanoUsd - shareNanoUsd);
const sum = (amounts: readonly number[]) => amounts.reduce((all, one) => all + one, 0);

export function shareRoutes({ db, clock }: Pick<AdminServices, 'db' | 'clock'>) {
  return createRouter().openapi(show, async (c) => {
    const team = required(await teamRows.get(db, c.req.valid('param')), 'team');
    const { shares, othersNanoUsd } = await listShares(db, team.id, clock.nowMs());
    const budgetNanoUsd = team.monthlyCapNanoUsd;
    const claimed = sum(shares.map(({ shareNanoUsd }) => shareNanoUsd));
    const shown = {
      budgetNanoUsd,
      spentNanoUsd: sum(shares.map(({ spentNanoUsd }) => spentNanoUsd)) + othersNanoUsd,
      restNanoUsd: budgetNanoUsd === null ? null : budgetNanoUsd - claimed,
      drawnNanoUsd: sum(shares.map(drawnBy)) + othersNanoUsd,
      othersSpentNanoUsd: othersNanoUsd,
      data: shares.map((share) => showFields(shareSchema, { ...share, drawnNanoUsd: drawnBy(share) })),
    };
    return c.json(showFields(sharesSchema, shown), 200);
  });
}
