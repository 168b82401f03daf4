import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { innerRow } from '../inner-names';

/** Everything a key has been used for; money with that of its tool calls, which are no requests. */
export interface KeyUsage {
  readonly requests: number;
  readonly costNanoUsd: number;
  readonly lastUsedAtMs: number | null;
}

/** Usage by key id, from the daily roll-up and the drain's notes; keys without requests are missing. */
export async function loadKeyUsage(db: Db, keyIds: readonly string[]): Promise<ReadonlyMap<string, KeyUsage>> {
  if (keyIds.length === 0) return new Map();
  const rows = await db.execute(sql`
    select k.id as api_key_id, coalesce(sum(r.requests), 0)::float8 as requests, coalesce(sum(r.cost_usd), 0) as cost_usd,
      max(extract(epoch from u.last_used_at) * 1000)::float8 as last_used_at
    from (select value::uuid as id from jsonb_array_elements_text(${JSON.stringify(keyIds)}::jsonb)) as k
      left join rollup_day r on r.api_key_id = k.id left join api_key_uses u on u.api_key_id = k.id
    where r.api_key_id is not null or u.api_key_id is not null
    group by k.id`);
  const usage = rows.map((row) => innerRow<KeyUsage & { apiKeyId: string }>(row));
  return new Map(usage.map(({ apiKeyId, ...used }) => [apiKeyId, used]));
}
