import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { innerRow } from '../inner-names';

/** Everything a key has been used for. */
export interface KeyUsage {
  readonly requests: number;
  readonly costNanoUsd: number;
}

/** By key id, from the daily roll-up; keys without requests are missing. */
export async function loadKeyUsage(db: Db, keyIds: readonly string[]): Promise<ReadonlyMap<string, KeyUsage>> {
  if (keyIds.length === 0) return new Map();
  const rows = await db.execute(sql`
    select api_key_id, sum(requests)::float8 as requests, sum(cost_usd) as cost_usd from rollup_day
    where api_key_id in (select value::uuid from jsonb_array_elements_text(${JSON.stringify(keyIds)}::jsonb))
    group by api_key_id`);
  const usage = rows.map((row) => innerRow<KeyUsage & { apiKeyId: string }>(row));
  return new Map(usage.map(({ apiKeyId, ...used }) => [apiKeyId, used]));
}
