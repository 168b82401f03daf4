import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { type LogFloor, toFloor } from '../clickhouse/log-floor';
import { REQUESTS } from './partitions';

/**
 * Grows with every rebuild of counters from the rows. A batch read before and committed after would be in the rows
 * only, so each batch names its fence.
 */
const FENCE = 'log_fence';

export async function readLogFence(db: Db): Promise<number> {
  const [row] = await db.execute<{ fence: number }>(
    sql`select value::text::int as fence from settings where key = ${FENCE}`,
  );
  return row?.fence ?? 0;
}

/** Only under `lockLogWrites`, in the transaction that sums the rows. */
export async function raiseLogFence(tx: Db): Promise<void> {
  await tx.execute(sql`
    insert into settings as s (key, value) values (${FENCE}, '1'::jsonb)
    on conflict (key) do update set value = to_jsonb(s.value::text::int + 1), updated_at = now()`);
}

/** What writers of rows look at under `lockLogWrites`. */
export interface WriteState {
  readonly fence: number;
  readonly floor: LogFloor | null;
  /** Clock of Postgres. */
  readonly nowMs: number;
}

export async function readWriteState(tx: Db): Promise<WriteState> {
  const [row] = await tx.execute<{ fence: number | null; floor: string | null; ms: number }>(sql`
    select (select value::text::int from settings where key = ${FENCE}) as fence,
      (select value::text from settings where key = ${REQUESTS.floorKey}) as floor,
      (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`);
  return { fence: row?.fence ?? 0, floor: toFloor(row?.floor), nowMs: Number(row?.ms) };
}
