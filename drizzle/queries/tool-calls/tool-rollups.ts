import { addToHistogram, type Histogram, packHistogram } from '@llm0/core/logs/histogram';
import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { executePrepared } from '../execute-prepared';
import { rolledUpTool, type SignedCall } from './tool-call-facts';

const HOUR_MS = 3_600_000;
const ROLLUPS = [
  { table: 'rollup_tool_hour', bucketMs: HOUR_MS },
  { table: 'rollup_tool_day', bucketMs: 24 * HOUR_MS },
] as const;

const SUMS = ['calls', 'errors', 'bytesIn', 'bytesOut', 'costNanoUsd'] as const;
type Sums = Record<(typeof SUMS)[number], number>;

interface Group {
  readonly at: {
    readonly bucketMs: number;
    readonly projectId: string;
    readonly apiKeyId: string;
    readonly server: string;
    readonly tool: string;
    readonly status: string;
  };
  readonly sums: Sums;
  readonly latency: Histogram;
}

/** Applies the calls' changes to the roll-ups by server and tool, in the transaction that wrote the rows. */
export async function writeToolRollups(tx: Db, calls: readonly SignedCall[]): Promise<void> {
  if (calls.length === 0) return;
  const isCorrected = calls.some(({ sign }) => sign === -1);
  for (const { table, bucketMs } of ROLLUPS) {
    const deltas = deltasOf(calls, bucketMs);
    if (deltas.length === 0) continue;
    await executePrepared(tx, upsert(table, JSON.stringify(deltas)));
    if (!isCorrected) continue;
    const buckets = JSON.stringify([...new Set(deltas.map((delta) => delta.bucketMs))]);
    await tx.execute(sql`delete from ${sql.identifier(table)} where calls <= 0 and bucket in (
      select to_timestamp(value::bigint / 1000.0) from jsonb_array_elements_text(${buckets}::jsonb))`);
  }
}

/** One change for each place, in the order of places. */
function deltasOf(calls: readonly SignedCall[], bucketMs: number) {
  const groups = new Map<string, Group>();
  for (const { call, sign } of calls) {
    const { createdAtMs, projectId, apiKeyId, server, status, isError, latencyMs, ...rest } = call;
    const tool = rolledUpTool(call);
    const at = { bucketMs: createdAtMs - (createdAtMs % bucketMs), projectId, apiKeyId, server, tool, status };
    const group = groups.getOrInsertComputed(JSON.stringify(Object.values(at)), () => ({
      at,
      sums: { calls: 0, errors: 0, bytesIn: 0, bytesOut: 0, costNanoUsd: 0 },
      latency: new Map(),
    }));
    const adds: Sums = { ...rest, calls: 1, errors: isError ? 1 : 0 };
    for (const name of SUMS) group.sums[name] += sign * adds[name];
    addToHistogram(group.latency, latencyMs, sign);
  }
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .filter(([, { sums, latency }]) => latency.size > 0 || SUMS.some((name) => sums[name] !== 0))
    .map(([, { at, sums, latency }]) => ({
      ...at,
      ...sums,
      latency: `\\x${Buffer.from(packHistogram(latency)).toString('hex')}`,
    }));
}

const upsert = (table: string, json: string) => sql`
  insert into ${sql.identifier(table)} as t (bucket, project_id, api_key_id, server, tool, status, calls, errors, bytes_in,
    bytes_out, cost_usd, latency_histogram)
  select to_timestamp(r."bucketMs" / 1000.0), r."projectId", r."apiKeyId", r.server, r.tool, r.status, r.calls, r.errors,
    r."bytesIn", r."bytesOut", r."costNanoUsd" * 0.000000001, r.latency
  from json_to_recordset(${json}::json) as r("bucketMs" bigint, "projectId" uuid, "apiKeyId" uuid, server text, tool text,
    status text, calls bigint, errors bigint, "bytesIn" bigint, "bytesOut" bigint, "costNanoUsd" bigint, latency bytea)
  on conflict (bucket, project_id, api_key_id, server, tool, status) do update set
    calls = t.calls + excluded.calls, errors = t.errors + excluded.errors, bytes_in = t.bytes_in + excluded.bytes_in,
    bytes_out = t.bytes_out + excluded.bytes_out, cost_usd = t.cost_usd + excluded.cost_usd,
    latency_histogram = llm0_histogram_add(t.latency_histogram, excluded.latency_histogram)`;
