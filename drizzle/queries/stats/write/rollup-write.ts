import { sql } from 'drizzle-orm';
import type { Db } from '../../../client';
import { executePrepared } from '../../execute-prepared';
import { writeLabelSpend } from '../../limits/label-spend';
import type { BatchSums } from './batch-sums';
import { writeModalities } from './modality-write';
import { coarsen, type Groups, MINUTE_MS, toDeltas } from './rollup-deltas';

/** Each bucket size divides the next. */
const COARSE_ROLLUPS = [
  { table: 'rollup_hour', bucketMs: 60 * MINUTE_MS },
  { table: 'rollup_day', bucketMs: 24 * 60 * MINUTE_MS },
] as const;

const COUNTS = [
  'requests',
  'tokens_in',
  'tokens_out',
  'tokens_cache_read',
  'tokens_cache_write',
  'tokens_reasoning',
  'cost_usd',
  'saved_usd',
  'failovers',
] as const;
const HISTOGRAMS = ['latency_histogram', 'ttft_histogram', 'overhead_histogram', 'upstream_histogram'] as const;

/** Applies the rows' changes to all roll-ups; belongs into the transaction that wrote the rows. */
export async function writeRollups(tx: Db, sums: BatchSums): Promise<void> {
  const { hasCorrections: corrected } = sums;
  let groups: Groups = sums.minutes;
  if (groups.size === 0) return;
  await writeRollup(tx, { table: 'rollup_minute', groups, corrected });
  // One at a time: computing all at once would block requests for milliseconds.
  for (const { table, bucketMs } of COARSE_ROLLUPS) {
    groups = coarsen(groups, bucketMs);
    await writeRollup(tx, { table, groups, corrected });
  }
  await writeCustomerSpend(tx, sums);
  await writeLabelSpend(tx, sums.labelled);
  await writeErrors(tx, sums);
  await writeModalities(tx, sums);
}

interface RollupChange {
  readonly table: string;
  readonly groups: Groups;
  readonly corrected: boolean;
}

async function writeRollup(tx: Db, { table, groups, corrected }: RollupChange): Promise<void> {
  const deltas = toDeltas(groups);
  if (deltas.length === 0) return;
  await executePrepared(tx, upsertRollup(table, JSON.stringify(deltas)));
  if (!corrected) return;
  const buckets = JSON.stringify([...new Set(deltas.map((delta) => delta.bucketMs))]);
  await tx.execute(sql`delete from ${sql.identifier(table)} where requests <= 0 and cost_usd = 0 and bucket in (
    select to_timestamp(value::bigint / 1000.0) from jsonb_array_elements_text(${buckets}::jsonb))`);
}

async function writeErrors(tx: Db, sums: BatchSums): Promise<void> {
  const deltas = sums.errorDeltas();
  if (deltas.length === 0) return;
  await executePrepared(
    tx,
    sql`
    insert into rollup_error as t (bucket, project_id, model, provider, status, error_code, requests)
    select to_timestamp(r."bucketMs" / 1000.0), r."projectId", r.model, r.provider, r.status, r."errorCode", r.requests
    from json_to_recordset(${JSON.stringify(deltas)}::json) as r("bucketMs" bigint, "projectId" uuid, model text,
      provider text, status text, "errorCode" text, requests bigint)
    on conflict (bucket, project_id, model, provider, status, error_code) do update
      set requests = t.requests + excluded.requests`,
  );
  if (sums.hasCorrections) await tx.execute(sql`delete from rollup_error where requests <= 0`);
}

function upsertRollup(table: string, json: string) {
  const updates = [
    ...COUNTS.map((name) => `${name} = t.${name} + excluded.${name}`),
    ...HISTOGRAMS.map((name) => `${name} = llm0_histogram_add(t.${name}, excluded.${name})`),
  ].join(', ');
  return sql`
    insert into ${sql.identifier(table)} as t (bucket, project_id, api_key_id, model, provider, status, cache,
      ${sql.raw([...COUNTS, ...HISTOGRAMS].join(', '))})
    select to_timestamp(r."bucketMs" / 1000.0), r."projectId", r."apiKeyId", r.model, r.provider, r.status, r.cache,
      r.requests, r."tokensIn", r."tokensOut", r."tokensCacheRead", r."tokensCacheWrite", r."tokensReasoning",
      r."costNanoUsd" * 0.000000001, r."savedNanoUsd" * 0.000000001, r.failovers,
      r."latencyMs", r."ttftMs", r."overheadMs", r."upstreamMs"
    from json_to_recordset(${json}::json) as r("bucketMs" bigint, "projectId" uuid, "apiKeyId" uuid, model text,
      provider text, status text, cache text, requests bigint, "tokensIn" bigint, "tokensOut" bigint,
      "tokensCacheRead" bigint, "tokensCacheWrite" bigint, "tokensReasoning" bigint, "costNanoUsd" bigint,
      "savedNanoUsd" bigint, failovers bigint, "latencyMs" bytea, "ttftMs" bytea, "overheadMs" bytea,
      "upstreamMs" bytea)
    on conflict (bucket, project_id, api_key_id, model, provider, status, cache) do update set ${sql.raw(updates)}`;
}

/** Counts all requests of customers with limits or served this month, but only served requests of other names. */
async function writeCustomerSpend(tx: Db, sums: BatchSums): Promise<void> {
  const deltas = sums.customerDeltas();
  if (deltas.length === 0) return;
  await executePrepared(
    tx,
    sql`
    insert into customer_spend as t (project_id, customer_id, date, request_count, tokens_in, tokens_out,
      total_spend_usd, saved_usd)
    select r."projectId", r."customerId", r.date, r.requests, r."tokensIn", r."tokensOut",
      r."costNanoUsd" * 0.000000001, r."savedNanoUsd" * 0.000000001
    from json_to_recordset(${JSON.stringify(deltas)}::json) as r("projectId" uuid, "customerId" text, date date,
      requests bigint, served bigint, "tokensIn" bigint, "tokensOut" bigint, "costNanoUsd" bigint, "savedNanoUsd" bigint)
    where r.served <> 0
      or exists (select 1 from customer_spend k where k.project_id = r."projectId" and k.customer_id = r."customerId"
        and k.date >= date_trunc('month', r.date)::date)
      or exists (select 1 from customer_limits l where l.project_id = r."projectId" and l.customer_id = r."customerId")
    on conflict (project_id, customer_id, date) do update set
      request_count = t.request_count + excluded.request_count, tokens_in = t.tokens_in + excluded.tokens_in,
      tokens_out = t.tokens_out + excluded.tokens_out,
      total_spend_usd = t.total_spend_usd + excluded.total_spend_usd, saved_usd = t.saved_usd + excluded.saved_usd`,
  );
  if (sums.hasCorrections) {
    const days = JSON.stringify([...new Set(deltas.map((delta) => delta.date))]);
    await tx.execute(sql`delete from customer_spend where request_count <= 0 and total_spend_usd = 0 and date in (
      select value::date from jsonb_array_elements_text(${days}::jsonb))`);
  }
}
