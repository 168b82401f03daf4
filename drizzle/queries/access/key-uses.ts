import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { executePrepared } from '../execute-prepared';

/** Notes when keys were used last, refused requests included; belongs into the transaction that wrote the rows. */
export async function noteKeyUses(tx: Db, last: ReadonlyMap<string, number>): Promise<void> {
  if (last.size === 0) return;
  // In one order, so that no two batches wait for each other.
  const noted = [...last].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, atMs]) => ({ id, atMs }));
  await executePrepared(
    tx,
    sql`insert into api_key_uses as t (api_key_id, last_used_at)
    select r.id, to_timestamp(r."atMs" / 1000.0)
    from json_to_recordset(${JSON.stringify(noted)}::json) as r(id uuid, "atMs" double precision)
    on conflict (api_key_id) do update set last_used_at = excluded.last_used_at
    where t.last_used_at < excluded.last_used_at`,
  );
}
