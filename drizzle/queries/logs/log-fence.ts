import { sql } from 'drizzle-orm';
import type { Db } from '../../client';

/**
 * Goes up whenever counters are summed from the rows for a rebuild. A batch read from the queue before that and committed
 * after it would be in the rows and not in the counters; so each batch names the fence it was read under.
 */
const FENCE = 'log_fence';

export async function readLogFence(db: Db): Promise<number> {
  const [row] = await db.execute<{ fence: number }>(
    sql`select value::text::int as fence from settings where key = ${FENCE}`,
  );
  return row?.fence ?? 0;
}

/** Only while holding `lockLogWrites`, in the transaction that sums the rows. */
export async function raiseLogFence(tx: Db): Promise<void> {
  await tx.execute(sql`
    insert into settings as s (key, value) values (${FENCE}, '1'::jsonb)
    on conflict (key) do update set value = to_jsonb(s.value::text::int + 1), updated_at = now()`);
}
