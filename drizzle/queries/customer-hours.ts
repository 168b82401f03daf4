// Hours that are over, added up by customer in a job: customers over a day read a row for each hour instead of each request,
// and the drain of rows pays nothing. A row that comes late marks its hour, which is read from rows until it is made again.
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../client';
import { ANY_PROJECT } from './rollup-deltas';
import type { StatsSegment } from './stats-range';
import { withRoom } from './with-room';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Rows of an hour that ended so long ago are late: something may have been made of it. */
const LATE_AFTER_MS = 5 * MINUTE_MS;
/** Hours are made so long after their end: clocks may differ and transactions last by the minutes between. */
const CLOSED_AFTER_MS = 15 * MINUTE_MS;
/** Hours are made an hour less long than the clean-up keeps them, so that none is made while it is dropped. */
export const CUSTOMER_HOURS_KEPT_MS = 8 * DAY_MS;
const HOURS_MADE_MS = CUSTOMER_HOURS_KEPT_MS - HOUR_MS;

/** What is added up: its name, its column of the hours, and of a row. */
const SPENT = [
  ['requests', 'request_count', '1'],
  ['tokens_in', 'tokens_in', 'tokens_in'],
  ['tokens_out', 'tokens_out', 'tokens_out'],
  ['tokens_cache_read', 'tokens_cache_read', 'tokens_cache_read'],
  ['tokens_cache_write', 'tokens_cache_write', 'tokens_cache_write'],
  ['tokens_reasoning', 'tokens_reasoning', 'tokens_reasoning'],
  ['cost_usd', 'total_spend_usd', 'cost_usd'],
  ['saved_usd', 'saved_usd', 'saved_usd'],
] as const;

const at = (ms: number) => sql`to_timestamp(${ms}::bigint / 1000.0)`;
const CHANGES = sql.raw(`coalesce((select c.changes from customer_spend_hour_changes c where c.bucket = h.bucket), 0)`);

/** Marks hours that are over among those that rows came to; belongs into the transaction that wrote the rows. */
export async function markLateHours(tx: Db, createdAtMs: Iterable<number>, nowMs: number): Promise<void> {
  const late = new Set<number>();
  for (const ms of createdAtMs) {
    const startMs = ms - (ms % HOUR_MS);
    if (startMs + HOUR_MS + LATE_AFTER_MS <= nowMs) late.add(startMs);
  }
  if (late.size === 0) return;
  await tx.execute(sql`
    insert into customer_spend_hour_changes as c (bucket, changes)
    select to_timestamp(value::bigint / 1000.0), 1
    from jsonb_array_elements_text(${JSON.stringify([...late].sort((a, b) => a - b))}::jsonb)
    on conflict (bucket) do update set changes = c.changes + 1`);
}

/** Makes the latest hours that are over and not made yet, or were changed since; returns their starts in epoch milliseconds. */
export async function makeCustomerHours(db: Db, nowMs: number, most: number): Promise<readonly number[]> {
  const endMs = nowMs - CLOSED_AFTER_MS - ((nowMs - CLOSED_AFTER_MS) % HOUR_MS);
  const oldestMs = Math.ceil((nowMs - HOURS_MADE_MS) / HOUR_MS) * HOUR_MS;
  const hours = await db.execute<{ start_ms: string }>(sql`
    select (date_part('epoch', h.bucket) * 1000)::bigint as start_ms
    from generate_series(${at(oldestMs)}, ${at(endMs - HOUR_MS)}, interval '1 hour') as h(bucket)
      left join customer_spend_hour_made as m on m.bucket = h.bucket
    where m.made_at_changes is distinct from ${CHANGES}
      and (select true from rollup_hour as r where r.bucket = h.bucket limit 1)
    order by h.bucket desc limit ${most}`);
  const starts = hours.map(({ start_ms }) => Number(start_ms));
  for (const startMs of starts) await makeHour(db, startMs);
  return starts;
}

/** Changes are counted before anything is added up: what comes in between is seen by the number having grown. */
async function makeHour(db: Db, startMs: number): Promise<void> {
  const hour = at(startMs);
  const columns = sql.raw(SPENT.map(([, column]) => column).join(', '));
  const sums = sql.raw(SPENT.map(([, , ofRow]) => `sum(${ofRow})`).join(', '));
  await withRoom(db, async (tx) => {
    // Whoever else makes the hour waits here.
    await tx.execute(sql`insert into customer_spend_hour_made as m (bucket) values (${hour})
      on conflict (bucket) do update set made_at_changes = null`);
    await tx.execute(sql`update customer_spend_hour_made as h set made_at_changes = ${CHANGES} where bucket = ${hour}`);
    await tx.execute(sql`delete from customer_spend_hour where bucket = ${hour}`);
    await tx.execute(sql`insert into customer_spend_hour (bucket, project_id, customer_id, ${columns})
      select ${hour}, coalesce(project_id, ${ANY_PROJECT}::uuid), customer, ${sums}
      from (select *, coalesce(customer_id, '') as customer from gateway_logs
        where created_at >= ${hour} and created_at < ${at(startMs + HOUR_MS)}) as found
      group by grouping sets ((project_id, customer), (customer)) order by 2, 3`);
  });
}

/**
 * Full hours by customer in the shape of the other roll-ups: from their sums where they stand, from rows elsewhere. Which
 * stand is told in the same statement, so that a row that comes meanwhile is in all of it or in none. `offset 0` has each
 * stretch looked up by its index; the bounds of all of them are said again for the planner to leave out other days.
 */
export function customerHours(segment: StatsSegment, { projectId }: { readonly projectId?: string }): SQL {
  const from = at(segment.fromMs);
  const to = at(segment.toMs);
  const condition = projectId === undefined ? sql`true` : sql`project_id = ${projectId}::uuid`;
  const ofHours = sql.raw(SPENT.map(([name, column]) => `${column} as ${name}`).join(', '));
  const ofRows = sql.raw(SPENT.map(([name, , ofRow]) => `${ofRow} as ${name}`).join(', '));
  const others = sql.raw(`'' as status, 'miss' as cache, 0 as failovers`);
  return sql`(
    with hours as materialized (
      select bucket from customer_spend_hour_made as h
      where bucket >= ${from} and bucket < ${to} and made_at_changes = ${CHANGES}
    ), gaps as materialized (
      select lag(bucket + interval '1 hour', 1, ${from}) over (order by bucket) as first, bucket as next
      from (select bucket from hours union all select ${to}) as bounds
    )
    select found.* from hours, lateral (select bucket, project_id, customer_id, ${ofHours}, ${others}
      from customer_spend_hour as s
      where s.bucket = hours.bucket and s.project_id = ${projectId ?? ANY_PROJECT}::uuid offset 0) as found
    union all
    select found.* from gaps, lateral (select created_at as bucket, project_id, coalesce(customer_id, '') as customer_id,
        ${ofRows}, ${others}
      from gateway_logs where created_at >= ${from} and created_at < ${to}
        and created_at >= gaps.first and created_at < gaps.next and ${condition} offset 0) as found
    where gaps.first < gaps.next
  ) as customer_spend_hour`;
}
