// Hours that are over, added up by customer in a job: customers over a day read a row for each hour instead of each request,
// and the drain of rows pays nothing. A row that comes late marks its hour, which is read from rows until it is made again.
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../client';
import { instant } from './instant';
import { CHANGES_OF_HOUR, makeHours } from './late-hours';
import { ANY_PROJECT } from './rollup-deltas';
import type { StatsSegment } from './stats-range';

const HOUR_MS = 3_600_000;

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

/** Makes the latest hours that are over and not made yet, or were changed since; returns their starts in epoch milliseconds. */
export const makeCustomerHours = (db: Db, nowMs: number, most: number): Promise<readonly number[]> =>
  makeHours(
    db,
    { made: 'customer_spend_hour_made', table: 'customer_spend_hour', insert: insertHour },
    { nowMs, most },
  );

function insertHour(startMs: number): SQL {
  const hour = instant(startMs);
  const columns = sql.raw(SPENT.map(([, column]) => column).join(', '));
  const sums = sql.raw(SPENT.map(([, , ofRow]) => `sum(${ofRow})`).join(', '));
  return sql`insert into customer_spend_hour (bucket, project_id, customer_id, ${columns})
    select ${hour}, coalesce(project_id, ${ANY_PROJECT}::uuid), customer, ${sums}
    from (select *, coalesce(customer_id, '') as customer from gateway_logs
      where created_at >= ${hour} and created_at < ${instant(startMs + HOUR_MS)}) as found
    group by grouping sets ((project_id, customer), (customer)) order by 2, 3`;
}

/**
 * Full hours by customer in the shape of the other roll-ups: from their sums where they stand, from rows elsewhere. Which
 * stand is told in the same statement, so that a row that comes meanwhile is in all of it or in none. `offset 0` has each
 * stretch looked up by its index; the bounds of all of them are said again for the planner to leave out other days.
 */
export function customerHours(segment: StatsSegment, { projectId }: { readonly projectId?: string }): SQL {
  const from = instant(segment.fromMs);
  const to = instant(segment.toMs);
  const condition = projectId === undefined ? sql`true` : sql`project_id = ${projectId}::uuid`;
  const ofHours = sql.raw(SPENT.map(([name, column]) => `${column} as ${name}`).join(', '));
  const ofRows = sql.raw(SPENT.map(([name, , ofRow]) => `${ofRow} as ${name}`).join(', '));
  const others = sql.raw(`'' as status, 'miss' as cache, 0 as failovers`);
  return sql`(
    with hours as materialized (
      select bucket from customer_spend_hour_made as h
      where bucket >= ${from} and bucket < ${to} and made_at_changes = ${CHANGES_OF_HOUR}
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
