import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { innerRow } from '../inner-names';

/** Everything a key has been used for. */
export interface KeyUsage {
  readonly requests: number;
  readonly costNanoUsd: number;
  readonly lastUsedAtMs: number | null;
}

/** By key id, from the daily roll-up and what the log's drain noted; keys without requests are missing. */
export async function loadKeyUsage(db: Db, keyIds: readonly string[]): Promise<ReadonlyMap<string, KeyUsage>> {
  if (keyIds.length === 0) return new Map();
  const rows = await db.execute(sql`
    select r.api_key_id, sum(r.requests)::float8 as requests, sum(r.cost_usd) as cost_usd,
      max(extract(epoch from u.last_used_at) * 1000)::float8 as last_used_at
    from rollup_day r left join api_key_uses u on u.api_key_id = r.api_key_id
    where r.api_key_id in (select value::uuid from jsonb_array_elements_text(${JSON.stringify(keyIds)}::jsonb))
    group by r.api_key_id`);
  const usage = rows.map((row) => innerRow<KeyUsage & { apiKeyId: string }>(row));
  return new Map(usage.map(({ apiKeyId, ...used }) => [apiKeyId, used]));
}
