import { sql } from 'drizzle-orm';
import type { Db } from '../../../client';
import { executePrepared } from '../../execute-prepared';
import type { BatchSums } from './batch-sums';

const HOUR_MS = 3_600_000;
const TABLES = [
  ['rollup_modality_hour', HOUR_MS],
  ['rollup_modality_day', 24 * HOUR_MS],
] as const;
const COUNTS = ['requests', 'tokens_cache_read', 'tokens_cache_write', 'cost_usd', 'saved_usd'] as const;
const ADDED = sql.raw(COUNTS.map((name) => `${name} = t.${name} + excluded.${name}`).join(', '));

/** Adds rows to the spend by modality; text costs nothing here, because it is what the other roll-ups have beyond it. */
export async function writeModalities(tx: Db, sums: BatchSums): Promise<void> {
  for (const [table, bucketMs] of TABLES) {
    const deltas = sums.modalityDeltas(bucketMs);
    if (deltas.length === 0) return;
    await executePrepared(
      tx,
      sql`
      insert into ${sql.identifier(table)} as t (bucket, project_id, api_key_id, model, provider, cache, modality,
        ${sql.raw(COUNTS.join(', '))})
      select to_timestamp(r."bucketMs" / 1000.0), r."projectId", r."apiKeyId", r.model, r.provider, r.cache, r.modality,
        r.requests, r."tokensCacheRead", r."tokensCacheWrite", r."costNanoUsd" * 0.000000001, r."savedNanoUsd" * 0.000000001
      from json_to_recordset(${JSON.stringify(deltas)}::json) as r("bucketMs" bigint, "projectId" uuid, "apiKeyId" uuid,
        model text, provider text, cache text, modality text, requests bigint, "tokensCacheRead" bigint,
        "tokensCacheWrite" bigint, "costNanoUsd" bigint, "savedNanoUsd" bigint)
      on conflict (bucket, project_id, api_key_id, model, provider, cache, modality) do update set ${ADDED}`,
    );
  }
}
