import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { nanoFromUsd } from '../../money';

/** Everything a key has been used for. */
export interface KeyUsage {
  readonly requests: number;
  readonly costNanoUsd: number;
}

interface Row extends Record<string, unknown> {
  api_key_id: string;
  requests: string;
  cost_usd: string;
}

/** By key id, from the daily roll-up; keys without requests are missing. */
export async function loadKeyUsage(db: Db, keyIds: readonly string[]): Promise<ReadonlyMap<string, KeyUsage>> {
  if (keyIds.length === 0) return new Map();
  const rows = await db.execute<Row>(sql`
    select api_key_id, sum(requests) as requests, sum(cost_usd) as cost_usd from rollup_day
    where api_key_id in (select value::uuid from jsonb_array_elements_text(${JSON.stringify(keyIds)}::jsonb))
    group by api_key_id`);
  return new Map(
    rows.map((row) => [row.api_key_id, { requests: Number(row.requests), costNanoUsd: nanoFromUsd(row.cost_usd) }]),
  );
}
