import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { containsPattern } from '../contains-pattern';
import { innerRow } from '../inner-names';
import { ofProjects, type ProjectScope } from '../of-projects';
import { askInTime } from '../stats/read/time-limit';
import { utcDay } from '../stats/utc-day';

/** A customer with spend in a range of UTC days, today and this month, and its limits. Nano-USD. */
export interface CustomerUsage {
  readonly projectId: string;
  readonly customerId: string;
  readonly requests: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly costNanoUsd: number;
  readonly savedNanoUsd: number;
  readonly todayNanoUsd: number;
  readonly monthNanoUsd: number;
  /** All limits null and false where the customer has none. */
  readonly hasLimits: boolean;
  readonly dailySpendLimitNanoUsd: number | null;
  readonly monthlySpendLimitNanoUsd: number | null;
}

export interface CustomerQuery {
  /** Days from the one of `fromMs` to the one of `toMs`, both whole, UTC. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs: number;
  readonly projectId?: ProjectScope;
  /** Part of the id; ignores case. */
  readonly q?: string;
  /** Only with, or only without, limits of their own. */
  readonly hasLimits?: boolean;
  readonly limit: number;
  readonly offset: number;
}

/**
 * Dearest first. Includes customers of this month or with limits, even without spend in the range. Only the page's
 * customers are summed in full.
 */
export async function listCustomers(db: Db, query: CustomerQuery): Promise<readonly CustomerUsage[]> {
  const { fromMs, toMs, nowMs, projectId, q, hasLimits, limit, offset } = query;
  const day = (ms: number) => sql`${utcDay(ms)}::date`;
  const month = day(startOfMonth(nowMs));
  const asked = sql`s.date between ${day(fromMs)} and ${day(toMs)}`;
  const ofProject = ofProjects(projectId);
  const named = q === undefined ? sql`true` : sql`customer_id ilike ${containsPattern(q)}`;
  const ranked = sql`
    with spent as (
      select project_id, customer_id, sum(request_count) as requests, sum(total_spend_usd) as cost_usd from (
        select project_id, customer_id, request_count, total_spend_usd from customer_spend s
        where ${asked} and ${ofProject} and ${named}
        union all select project_id, customer_id, 0, 0 from customer_spend s
        where s.date >= ${month} and not (${asked}) and ${ofProject} and ${named}
      ) as parts group by 1, 2
    ), limited as (
      select project_id, customer_id, daily_spend_limit_usd, monthly_spend_limit_usd from customer_limits
      where ${ofProject} and ${named}
    ), page as (
      select project_id, customer_id, coalesce(requests, 0)::float8 as requests, coalesce(cost_usd, 0) as cost_usd,
        l.customer_id is not null as has_limits, l.daily_spend_limit_usd, l.monthly_spend_limit_usd
      from spent full join limited l using (project_id, customer_id)
      where exists (select 1 from projects p where p.id = project_id and p.deleted_at is null)
        and ${hasLimits === undefined ? sql`true` : sql`(l.customer_id is not null) = ${hasLimits}`}
      order by 4 desc, 3 desc, 2, 1 limit ${limit} offset ${offset}
    )
    select page.*, rest.* from page, lateral (
      select coalesce(sum(s.tokens_in) filter (where ${asked}), 0)::float8 as tokens_in,
        coalesce(sum(s.tokens_out) filter (where ${asked}), 0)::float8 as tokens_out,
        coalesce(sum(s.saved_usd) filter (where ${asked}), 0) as saved_usd,
        coalesce(sum(s.total_spend_usd) filter (where s.date = ${day(nowMs)}), 0) as today_usd,
        coalesce(sum(s.total_spend_usd) filter (where s.date >= ${month}), 0) as month_usd
      from customer_spend s where s.project_id = page.project_id and s.customer_id = page.customer_id
        and (${asked} or s.date >= ${month})
    ) as rest order by cost_usd desc, requests desc, customer_id, project_id`;
  const rows = await askInTime(db, (ask) => ask(ranked));
  return rows.map((row) => innerRow<CustomerUsage>(row));
}

/** UTC. */
const startOfMonth = (ms: number) => Date.parse(`${utcDay(ms).slice(0, 7)}-01`);
