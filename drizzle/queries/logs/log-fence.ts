import { sql } from 'drizzle-orm';
import type { Db } from '../../client';

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
