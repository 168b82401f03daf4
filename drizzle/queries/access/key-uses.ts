import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { executePrepared } from '../execute-prepared';

export interface KeyUse {
  readonly apiKeyId: string;
  readonly createdAtMs: number;
}

/** Notes when keys were used last, refused requests included; belongs into the transaction that wrote the rows. */
export async function noteKeyUses(tx: Db, uses: readonly KeyUse[]): Promise<void> {
  const last = new Map<string, number>();
  for (const { apiKeyId, createdAtMs } of uses) {
    const id = apiKeyId.toLowerCase();
    if (createdAtMs > (last.get(id) ?? 0)) last.set(id, createdAtMs);
  }
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
