// Hours that are over are added up by jobs soon after; a row that comes late marks its hour, so that what was made of it is
// made again.
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../client';
import { instant } from './instant';
import { withRoom } from './with-room';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Rows of an hour that ended so long ago are late: something may have been made of it. */
const LATE_AFTER_MS = 5 * MINUTE_MS;
/** Hours are made so long after their end: clocks may differ and transactions last by the minutes between. */
const CLOSED_AFTER_MS = 15 * MINUTE_MS;
/** How long what is made of hours is kept, and how many changes came to them. */
export const MADE_HOURS_KEPT_MS = 8 * DAY_MS;
/** Hours are made an hour less long than the clean-up keeps them, so that none is made while it is dropped. */
const HOURS_MADE_MS = MADE_HOURS_KEPT_MS - HOUR_MS;

/** How many changes came late to the hour of a row `h`. */
export const CHANGES_OF_HOUR: SQL = sql.raw(
  `coalesce((select c.changes from customer_spend_hour_changes c where c.bucket = h.bucket), 0)`,
);

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

/** Something made of hours: which of them stand is kept in `made`, what is made of them in `table`. */
export interface MadeOfHours {
  readonly made: 'customer_spend_hour_made' | 'rollup_durations_hour_made';
  readonly table: 'customer_spend_hour' | 'rollup_durations_hour';
  /** The statement that fills `table` with the hour's rows. */
  readonly insert: (startMs: number) => SQL;
}

/** Makes the latest hours that are over and not made yet, or were changed since; returns their starts in epoch milliseconds. */
export async function makeHours(
  db: Db,
  what: MadeOfHours,
  { nowMs, most }: { readonly nowMs: number; readonly most: number },
): Promise<readonly number[]> {
  const endMs = nowMs - CLOSED_AFTER_MS - ((nowMs - CLOSED_AFTER_MS) % HOUR_MS);
  const oldestMs = Math.ceil((nowMs - HOURS_MADE_MS) / HOUR_MS) * HOUR_MS;
  const hours = await db.execute<{ start_ms: string }>(sql`
    select (date_part('epoch', h.bucket) * 1000)::bigint as start_ms
    from generate_series(${instant(oldestMs)}, ${instant(endMs - HOUR_MS)}, interval '1 hour') as h(bucket)
      left join ${sql.identifier(what.made)} as m on m.bucket = h.bucket
    where m.made_at_changes is distinct from ${CHANGES_OF_HOUR}
      and (select true from rollup_hour as r where r.bucket = h.bucket limit 1)
    order by h.bucket desc limit ${most}`);
  const starts = hours.map(({ start_ms }) => Number(start_ms));
  for (const startMs of starts) await makeHour(db, what, startMs);
  return starts;
}

/** Changes are counted before anything is added up: what comes in between is seen by the number having grown. */
async function makeHour(db: Db, { made, table, insert }: MadeOfHours, startMs: number): Promise<void> {
  const hour = instant(startMs);
  const marks = sql.identifier(made);
  await withRoom(db, async (tx) => {
    // Whoever else makes the hour waits here.
    await tx.execute(sql`insert into ${marks} as m (bucket) values (${hour})
      on conflict (bucket) do update set made_at_changes = null`);
    await tx.execute(sql`update ${marks} as h set made_at_changes = ${CHANGES_OF_HOUR} where bucket = ${hour}`);
    await tx.execute(sql`delete from ${sql.identifier(table)} where bucket = ${hour}`);
    await tx.execute(insert(startMs));
  });
}
