import { type BudgetSpan, LEVELS, type Level, periodAt } from '@llm0/core/limits/budgets';
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { memberColumn, selectMembersOf } from '../access/levels';
import { innerRow } from '../inner-names';
import { ofProjects, type ProjectScope } from '../of-projects';
import { utcDay } from '../stats/utc-day';

/** A spend limit with its usage from the roll-ups; nano-USD. */
export interface Budget {
  readonly scope: 'project' | 'key' | 'customer' | 'label' | 'share' | Level;
  readonly period: 'day' | 'week' | 'month' | 'total';
  /** null for levels, which have several projects. */
  readonly projectId: string | null;
  /** Id of the key, customer, label's budget or level; the project's own id for projects. */
  readonly id: string;
  readonly name: string;
  readonly limitNanoUsd: number;
  readonly usedNanoUsd: number;
}

export interface BudgetQuery {
  readonly nowMs: number;
  readonly limit: number;
  readonly projectId?: ProjectScope;
  readonly scope?: Budget['scope'];
  /** Only monthly budgets, in the month of `nowMs`. */
  readonly period?: 'month';
  /** Limits as they were at the end of that month, those of projects and keys deleted since included. */
  readonly isPast?: boolean;
}

/** From the state before the first later change; without one, today's. */
const limitThen = (now: SQL, then: SQL) => sql`case when c.resource_id is null then ${now} else ${then} end`;
const changedSince = (resource: string, id: SQL) =>
  sql`left join changed c on c.resource = ${resource} and c.resource_id = ${id}`;

/** Limits by period with the days of each, as rows `d`. */
function limitsAt(nowMs: number, columns: Partial<Record<BudgetSpan, SQL>>): SQL {
  const rows = Object.entries(columns).map(([span, limit]) => {
    const { fromMs, toMs } = periodAt(span as BudgetSpan, nowMs);
    return sql`(${span}::text, ${limit}, ${utcDay(fromMs)}::date, ${utcDay(toMs)}::date)`;
  });
  return sql`lateral (values ${sql.join(rows, sql`, `)}) as d(period, limit_usd, since, until)`;
}

const IN_PERIOD = sql`r.bucket >= (d.since::timestamp at time zone 'UTC') and r.bucket < (d.until::timestamp at time zone 'UTC')`;

/** Budgets of organizations, teams and users. They belong to no project. */
function levelBudgets({ nowMs }: BudgetQuery): SQL {
  const columns = { day: sql`l.daily_budget_usd`, week: sql`l.weekly_budget_usd`, month: sql`l.monthly_cap_usd` };
  const parts = LEVELS.map(
    (
      level,
    ) => sql`select ${level}::text as scope, d.period, null::uuid as project_id, l.id::text as id, l.name, d.limit_usd,
      coalesce((select sum(r.cost_usd) from rollup_day r where r.${memberColumn(level)} in (${selectMembersOf(level, sql`l.id`)})
        and ${IN_PERIOD}), 0) as used_usd
    from ${sql.identifier(`${level}s`)} l, ${limitsAt(nowMs, columns)} where d.limit_usd is not null`,
  );
  return sql.join(parts, sql` union all `);
}

/** Budgets of days and weeks, of labels and shares of teams' budgets: none of a past month. */
function runningBudgets({ nowMs, isPast = false }: BudgetQuery): SQL {
  const limits = (columns: Partial<Record<BudgetSpan, SQL>>) => limitsAt(nowMs, columns);
  const own = (table: SQL) => limits({ day: sql`${table}.daily_budget_usd`, week: sql`${table}.weekly_budget_usd` });
  const within = IN_PERIOD;
  const labelled = limits({ day: sql`l.daily_usd`, week: sql`l.weekly_usd`, month: sql`l.monthly_usd` });
  return sql`
    select 'project' as scope, d.period, p.id as project_id, p.id::text as id, p.name, d.limit_usd,
      coalesce((select sum(r.cost_usd) from rollup_day r where r.project_id = p.id and ${within}), 0) as used_usd
    from projects p, ${own(sql`p`)} where not ${isPast} and p.is_active
    union all
    select 'key', d.period, k.project_id, k.id::text, k.name, d.limit_usd,
      coalesce((select sum(r.cost_usd) from rollup_day r where r.project_id = k.project_id and r.api_key_id = k.id
        and ${within}), 0)
    from api_keys k, ${own(sql`k`)} where not ${isPast} and k.deleted_at is null and k.is_active
      and coalesce(k.daily_budget_usd, k.weekly_budget_usd) is not null
      and coalesce(k.daily_budget_usd, k.weekly_budget_usd) is not null
    union all
    select 'label', d.period, l.project_id, l.id::text, l.label || '=' || l.value, d.limit_usd,
      coalesce((select sum(s.spent_usd) from label_spend s where s.label_budget_id = l.id
        and s.date >= d.since and s.date < d.until), 0)
    from label_budgets l, ${labelled} where not ${isPast}
    union all
    select 'share', d.period, p.id, p.id::text, p.name, d.limit_usd,
      coalesce((select sum(r.cost_usd) from rollup_day r where r.project_id = p.id and ${within}), 0)
    from projects p join teams t on t.id = p.team_id and t.monthly_cap_usd is not null, ${limits({ month: sql`p.team_share_usd` })}
    where not ${isPast} and p.is_active and p.deleted_at is null`;
}

/** Every cap, budget and customer limit, the tightest (largest share used) first. */
export async function listBudgets(db: Db, query: BudgetQuery): Promise<readonly Budget[]> {
  const { nowMs, limit, projectId, scope, period, isPast = false } = query;
  const today = utcDay(nowMs);
  const day = sql`${today}::date`;
  const month = sql`${`${today.slice(0, 7)}-01`}::date`;
  const monthStart = sql`(${month}::timestamp at time zone 'UTC')`;
  const monthEnd = sql`((${month} + interval '1 month') at time zone 'UTC')`;
  const monthDays = sql`r.bucket >= ${monthStart} and r.bucket < ${monthEnd}`;
  const wasThere = (table: SQL) =>
    isPast
      ? sql`(${table}.deleted_at is null or ${table}.deleted_at >= ${monthEnd})`
      : sql`${table}.deleted_at is null and ${table}.is_active`;
  const customer = (per: string, column: string) => sql`
    select 'customer' as scope, ${per} as period, w.project_id, w.customer_id as id, w.customer_id as name,
      ${limitThen(sql`l.${sql.identifier(column)}`, sql`(c.before->>${column}::text)::numeric`)} as limit_usd,
      coalesce((select sum(s.total_spend_usd) from customer_spend s where s.project_id = w.project_id
        and s.customer_id = w.customer_id and s.date >= ${per === 'day' ? day : month}
          and s.date < ${month} + interval '1 month'), 0) as used_usd
    from (select project_id, customer_id from customer_limits union
      select left(resource_id, 36)::uuid, substr(resource_id, 38) from changed where resource = 'customer_limits') as w
    left join customer_limits l on l.project_id = w.project_id and l.customer_id = w.customer_id
    ${changedSince('customer_limits', sql`w.project_id::text || '/' || w.customer_id`)}`;
  const rows = await db.execute(sql`
    with changed as materialized (
      select distinct on (resource, resource_id) resource, resource_id, before from admin_audit
      where ${isPast} and created_at >= ${monthEnd} and resource in ('project', 'key', 'customer_limits')
        and action in ('create', 'update', 'delete')
      order by resource, resource_id, created_at
    )
    select b.* from (
      select 'project' as scope, 'month' as period, p.id as project_id, p.id::text as id, p.name,
        ${limitThen(sql`p.monthly_cap_usd`, sql`(c.before->>'monthly_cap_usd')::numeric`)} as limit_usd,
        coalesce((select sum(r.cost_usd) from rollup_day r where r.project_id = p.id and ${monthDays}), 0) as used_usd
      from projects p ${changedSince('project', sql`p.id::text`)} where ${wasThere(sql`p`)}
      union all
      select 'key', k.period, k.project_id, k.id::text, k.name, k.limit_usd,
        coalesce((select sum(r.cost_usd) from rollup_day r where r.project_id = k.project_id and r.api_key_id = k.id
          and (k.period = 'total' or (${monthDays}))), 0)
      from (
        select k.id, k.project_id, k.name, ${limitThen(sql`k.budget_period`, sql`c.before->>'budget_period'`)} as period,
          ${limitThen(sql`k.budget_usd`, sql`(c.before->>'budget_usd')::numeric`)} as limit_usd
        from api_keys k ${changedSince('key', sql`k.id::text`)} where ${wasThere(sql`k`)}
      ) as k
      union all ${customer('day', 'daily_spend_limit_usd')} union all ${customer('month', 'monthly_spend_limit_usd')}
      union all ${runningBudgets(query)}
      ${projectId === undefined && !isPast ? sql`union all ${levelBudgets(query)}` : sql``}
    ) as b
    where b.limit_usd is not null
      and (b.project_id is null or exists (select 1 from projects p where p.id = b.project_id
        and ${isPast ? wasThere(sql`p`) : sql`p.deleted_at is null`}))
      and ${ofProjects(projectId, sql`b.project_id`)}
      and ${scope === undefined ? sql`true` : sql`b.scope = ${scope}`}
      and ${period === undefined ? sql`true` : sql`b.period = ${period}`}
    order by case when b.limit_usd = 0 then 1e9 else b.used_usd / b.limit_usd end desc, b.name limit ${limit}`);
  return rows.map((row) => innerRow<Budget>(row));
}
