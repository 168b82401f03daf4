import { LEVELS, periodAt } from '@llm0/core/limits/budgets';
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { memberColumn, selectMembersOf } from '../access/levels';
import { innerRow } from '../inner-names';
import { ofProjects, type ProjectScope } from '../of-projects';
import { utcDay } from '../stats/utc-day';
import { type Budget, listBudgets } from './budgets';

/** A budget with its spend on each UTC day since the month and the week of `fromMs` began. */
export interface BudgetDays extends Budget {
  /** Start of the day → nano-USD. */
  readonly days: ReadonlyMap<number, number>;
}

export interface BudgetDaysQuery {
  readonly fromMs: number;
  readonly nowMs: number;
  readonly projectId?: ProjectScope;
}

const MAX_BUDGETS = 20_000;

/** A share has its project's days. */
const keyOf = (scope: string, projectId: string | null, id: string) =>
  `${scope === 'share' ? 'project' : scope} ${projectId} ${id}`;

/** All budgets that are in force now, from the daily roll-ups. */
export async function loadBudgetDays(db: Db, { fromMs, nowMs, projectId }: BudgetDaysQuery): Promise<BudgetDays[]> {
  const budgets = await listBudgets(db, { nowMs, limit: MAX_BUDGETS, projectId });
  if (budgets.length === 0) return [];
  const firstMs = Math.min(periodAt('month', fromMs).fromMs, periodAt('week', fromMs).fromMs);
  const since = sql`${utcDay(firstMs)}::date`;
  const start = sql`(${since}::timestamp at time zone 'UTC')`;
  const inProject = ofProjects(projectId);
  const day = sql`(date_part('epoch', bucket) * 1000)::float8`;
  const rows = await db.execute(sql`
    select 'project' as scope, project_id, project_id::text as id, ${day} as day, sum(cost_usd) as spent_usd
      from rollup_day where bucket >= ${start} and ${inProject} group by 2, bucket
    union all
    select 'key', project_id, api_key_id::text, ${day}, sum(cost_usd) from rollup_day
      where bucket >= ${start} and ${inProject} and api_key_id in (
        select id from api_keys where coalesce(budget_usd, daily_budget_usd, weekly_budget_usd) is not null)
      group by 2, api_key_id, bucket
    union all
    select 'customer', project_id, customer_id, (date_part('epoch', date::timestamp at time zone 'UTC') * 1000)::float8,
      sum(total_spend_usd) from customer_spend where date >= ${since} and ${inProject}
      and (project_id, customer_id) in (select project_id, customer_id from customer_limits)
      group by 2, 3, date
    union all
    select 'label', b.project_id, b.id::text, (date_part('epoch', s.date::timestamp at time zone 'UTC') * 1000)::float8,
      s.spent_usd from label_spend s join label_budgets b on b.id = s.label_budget_id
      where s.date >= ${since} and ${ofProjects(projectId, sql`b.project_id`)}
    ${projectId === undefined ? sql`union all ${daysOfLevels(start)}` : sql``}`);
  const byBudget = new Map<string, Map<number, number>>();
  for (const row of rows) {
    const found = innerRow<DayRow>(row);
    const key = keyOf(found.scope, found.projectId, found.id);
    const days = byBudget.get(key) ?? new Map<number, number>();
    byBudget.set(key, days.set(found.day, found.spentNanoUsd));
  }
  const none = new Map<number, number>();
  return budgets.map((one) => ({ ...one, days: byBudget.get(keyOf(one.scope, one.projectId, one.id)) ?? none }));
}

/** Spend of each level by day. */
function daysOfLevels(start: SQL): SQL {
  const parts = LEVELS.map(
    (level) => sql`select ${level}::text, null::uuid, l.id::text, (date_part('epoch', r.bucket) * 1000)::float8,
      sum(r.cost_usd) from ${sql.identifier(`${level}s`)} l
      join rollup_day r on r.${memberColumn(level)} in (${selectMembersOf(level, sql`l.id`)}) and r.bucket >= ${start}
      where coalesce(l.daily_budget_usd, l.weekly_budget_usd, l.monthly_cap_usd) is not null group by l.id, r.bucket`,
  );
  return sql.join(parts, sql` union all `);
}

interface DayRow {
  readonly scope: string;
  readonly projectId: string | null;
  readonly id: string;
  readonly day: number;
  readonly spentNanoUsd: number;
}
