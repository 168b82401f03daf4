// Weeks that are over, added up by customer in a job: ranges over weeks read a row instead of seven, and the drain of rows
// pays nothing. A row that comes late marks its day (`markLateDays`): its week is read by days until it is made again.
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../client';
import { CLOSED_AFTER_MS } from './late-days';
import { utcDay } from './rollup-deltas';

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;

/** What `customer_spend` adds up. */
const CUSTOMER_SUMS = ['request_count', 'tokens_in', 'tokens_out', 'total_spend_usd', 'saved_usd'] as const;
export type CustomerSum = (typeof CUSTOMER_SUMS)[number];

/** How many changes came to a week's days after they were over. */
const CHANGES = sql.raw(`(select coalesce(sum(d.changes), 0) from rollup_durations_day d
  where d.day >= w.week and d.day < w.week + 7)`);

/** Makes the latest weeks that are over and not made yet, or were changed since; returns their Mondays (`YYYY-MM-DD`). */
export async function makeCustomerWeeks(db: Db, nowMs: number, most: number): Promise<readonly string[]> {
  const weeks = await db.execute<{ week: string }>(sql`
    with recursive weeks as (
      select date_trunc('week', max(date)::timestamp)::date as week from customer_spend
      where date < date_trunc('week', ${utcDay(nowMs - CLOSED_AFTER_MS)}::timestamp)::date
      union all select (select date_trunc('week', max(date)::timestamp)::date from customer_spend where date < weeks.week)
      from weeks where week is not null
    )
    select week::text as week from weeks as w left join customer_spend_week_made as m using (week)
    where week is not null and m.made_at_changes is distinct from ${CHANGES}
    order by 1 desc limit ${most}`);
  for (const { week } of weeks) await makeWeek(db, week);
  return weeks.map(({ week }) => week);
}

/** Changes are counted before anything is added up: what comes in between is seen by the number having grown. */
async function makeWeek(db: Db, week: string): Promise<void> {
  const monday = sql`${week}::date`;
  const nextMonday = sql`${utcDay(Date.parse(week) + WEEK_MS)}::date`;
  const ofWeek = sql`date >= ${monday} and date < ${nextMonday}`;
  const columns = sql.raw(CUSTOMER_SUMS.join(', '));
  const sums = sql.raw(CUSTOMER_SUMS.map((name) => `sum(${name})`).join(', '));
  await db.transaction(async (tx) => {
    // Whoever else makes the week waits here.
    await tx.execute(sql`insert into customer_spend_week_made as m (week) values (${monday})
      on conflict (week) do update set made_at_changes = null`);
    await tx.execute(sql`update customer_spend_week_made as w set made_at_changes = ${CHANGES} where week = ${monday}`);
    await tx.execute(sql`delete from customer_spend_week where week = ${monday}`);
    await tx.execute(sql`insert into customer_spend_week (week, project_id, customer_id, ${columns})
      select ${monday}, project_id, customer_id, ${sums} from customer_spend where ${ofWeek} group by 2, 3`);
    await tx.execute(sql`delete from customer_spend_total where ${ofWeek}`);
    await tx.execute(sql`insert into customer_spend_total (date, project_id, ${columns})
      select date, project_id, ${sums} from customer_spend where ${ofWeek} group by 1, 2`);
  });
}

/** Whole days, UTC; `toMs` exclusive. */
export interface DayRange {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface CustomerParts extends DayRange {
  readonly columns: SQL;
  /** Over columns of `customer_spend` but its date. */
  readonly condition: SQL;
}

/** Rows whose sums are those of `customer_spend` over the range: of weeks where they stand, of days elsewhere. */
export const customerParts = (parts: CustomerParts): SQL =>
  partsOf(parts, sql`customer_spend_week where customer_spend_week.week = w.week`);

/** The same by day, all customers of a project together. */
export const customerDayParts = (parts: CustomerParts): SQL =>
  partsOf(parts, sql`customer_spend_total where date >= w.week and date < w.week + 7`);

/**
 * Which weeks stand is told in the same statement, so that a row that comes meanwhile is in all of it or in none. `offset 0`
 * has each stretch looked up by its index.
 */
function partsOf({ fromMs, toMs, columns, condition }: CustomerParts, weekly: SQL): SQL {
  const from = sql`${utcDay(fromMs)}::date`;
  const to = sql`${utcDay(toMs)}::date`;
  return sql`
    with weeks as materialized (
      select week from customer_spend_week_made as w
      where week >= ${from} and week <= ${to} - 7 and made_at_changes = ${CHANGES}
    ), gaps as materialized (
      select lag(week + 7, 1, ${from}) over (order by week) as first, week as next
      from (select week from weeks union all select ${to}) as bounds
    )
    select found.* from weeks as w, lateral (select ${columns} from ${weekly} and ${condition} offset 0) as found
    union all
    select found.* from gaps, lateral (select ${columns} from customer_spend
      where date >= gaps.first and date < gaps.next and ${condition} offset 0) as found`;
}
