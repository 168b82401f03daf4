// Days that are over are added up by jobs; a row that comes late marks its day, so that what was made of it is made again.
import { sql } from 'drizzle-orm';
import type { Db } from '../client';
import { utcDay } from './rollup-deltas';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Rows of a day that ended so long ago are late: something may have been made of it. */
const LATE_AFTER_MS = HOUR_MS;
/** Things are made so long after the end of their days: clocks may differ and transactions last by the hours between. */
export const CLOSED_AFTER_MS = 6 * HOUR_MS;

/** Marks days that are over among those that rows came to; belongs into the transaction that wrote the rows. */
export async function markLateDays(tx: Db, dayStartsMs: Iterable<number>, nowMs: number): Promise<void> {
  const late = new Set([...dayStartsMs].filter((startMs) => startMs + DAY_MS + LATE_AFTER_MS <= nowMs).map(utcDay));
  if (late.size === 0) return;
  await tx.execute(sql`
    insert into rollup_durations_day as d (day, changes)
    select value::date, 1 from jsonb_array_elements_text(${JSON.stringify([...late].sort())}::jsonb)
    on conflict (day) do update set changes = d.changes + 1`);
}
