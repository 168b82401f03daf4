import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { innerRow } from '../inner-names';
import { utcDay } from '../stats/utc-day';

/** A spend limit with its usage from the roll-ups; nano-USD. */
export interface Budget {
  readonly scope: 'project' | 'key' | 'customer';
  readonly period: 'day' | 'month' | 'total';
  readonly projectId: string;
  /** Key id or customer id; the project's own id for projects. */
  readonly id: string;
  readonly name: string;
  readonly limitNanoUsd: number;
  readonly usedNanoUsd: number;
}

export interface BudgetQuery {
  readonly nowMs: number;
  readonly limit: number;
  readonly projectId?: string;
  /** Only monthly budgets, in the month of `nowMs`. */
  readonly period?: 'month';
}

/** Every cap, key budget and customer limit, the tightest (largest share used) first. */
export async function listBudgets(
  db: Db,
  { nowMs, limit, projectId, period }: BudgetQuery,
): Promise<readonly Budget[]> {
  const today = utcDay(nowMs);
  const day = sql`${today}::date`;
  const month = sql`${`${today.slice(0, 7)}-01`}::date`;
  const monthStart = sql`(${month}::timestamp at time zone 'UTC')`;
  const monthEnd = sql`((${month} + interval '1 month') at time zone 'UTC')`;
  const monthDays = sql`r.bucket >= ${monthStart} and r.bucket < ${monthEnd}`;
  const customer = (per: string, column: string) => sql`
    select 'customer' as scope, ${per} as period, l.project_id, l.customer_id as id, l.customer_id as name,
      l.${sql.identifier(column)} as limit_usd,
      coalesce((select sum(s.total_spend_usd) from customer_spend s where s.project_id = l.project_id
        and s.customer_id = l.customer_id and s.date >= ${per === 'day' ? day : month}
          and s.date < ${month} + interval '1 month'), 0) as used_usd
    from customer_limits l where l.${sql.identifier(column)} is not null`;
  const rows = await db.execute(sql`
    select b.* from (
      select 'project' as scope, 'month' as period, p.id as project_id, p.id::text as id, p.name,
        p.monthly_cap_usd as limit_usd,
        coalesce((select sum(r.cost_usd) from rollup_day r where r.project_id = p.id and ${monthDays}), 0) as used_usd
      from projects p where p.monthly_cap_usd is not null and p.deleted_at is null and p.is_active
      union all
      select 'key', k.budget_period, k.project_id, k.id::text, k.name, k.budget_usd,
        coalesce((select sum(r.cost_usd) from rollup_day r where r.project_id = k.project_id and r.api_key_id = k.id
          and (k.budget_period = 'total' or (${monthDays}))), 0)
      from api_keys k where k.budget_usd is not null and k.deleted_at is null and k.is_active
      union all ${customer('day', 'daily_spend_limit_usd')} union all ${customer('month', 'monthly_spend_limit_usd')}
    ) as b
    where exists (select 1 from projects p where p.id = b.project_id and p.deleted_at is null)
      and ${projectId === undefined ? sql`true` : sql`b.project_id = ${projectId}::uuid`}
      and ${period === undefined ? sql`true` : sql`b.period = ${period}`}
    order by case when b.limit_usd = 0 then 1e9 else b.used_usd / b.limit_usd end desc, b.name limit ${limit}`);
  return rows.map((row) => innerRow<Budget>(row));
}
