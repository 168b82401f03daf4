import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { takeFromRun } from '../clickhouse/late-rows';
import { executePrepared } from '../execute-prepared';
import { innerRow } from '../inner-names';
import { parseJson } from '../parse-json';
import type { SignedFact } from '../stats/write/rollup-deltas';
import type { StoredToolCall } from './call-filter';
import { moneyFact, type SignedCall, type ToolCallFact, toolCallFact } from './tool-call-facts';
import { writeToolRollups } from './tool-rollups';

/** Field of a record → its column of `tool_calls` and type. */
const FIELDS = {
  id: ['id', 'uuid'],
  projectId: ['project_id', 'uuid'],
  apiKeyId: ['api_key_id', 'uuid'],
  customerId: ['customer_id', 'text'],
  labels: ['labels', 'jsonb'],
  clientRequestId: ['client_request_id', 'text'],
  runId: ['run_id', 'text'],
  traceId: ['trace_id', 'text'],
  serverId: ['server_id', 'uuid'],
  server: ['server', 'text'],
  tool: ['tool', 'text'],
  status: ['status', 'text'],
  isError: ['is_error', 'boolean'],
  errorCode: ['error_code', 'text'],
  errorMessage: ['error_message', 'text'],
  durationMs: ['latency_ms', 'double precision'],
  bytesIn: ['bytes_in', 'bigint'],
  bytesOut: ['bytes_out', 'bigint'],
  guardrails: ['guardrails', 'jsonb'],
} as const satisfies Partial<Record<keyof ToolCallRecord, readonly [column: string, type: string]>>;

/** Columns that are made from fields. */
const DERIVED = {
  request_id: 'r.id',
  created_at: 'to_timestamp(r."createdAtMs" / 1000.0)',
  cost_usd: 'r."costNanoUsd" * 0.000000001',
} as const;

const INSERTED = [...Object.values(FIELDS).map(([column]) => column), ...Object.keys(DERIVED)].join(', ');
const SELECTED = [...Object.keys(FIELDS).map((field) => `r."${field}"`), ...Object.values(DERIVED)].join(', ');
const TYPED = ['"createdAtMs" bigint, "costNanoUsd" bigint']
  .concat(Object.entries(FIELDS).map(([field, [, type]]) => `"${field}" ${type}`))
  .join(', ');

const ROWS_A_STATEMENT = 250;

export interface InsertedCalls {
  readonly inserted: number;
  readonly corrected: number;
  readonly written: readonly ToolCallRecord[];
  /** Cost facts for the roll-ups. */
  readonly facts: readonly SignedFact[];
}

/** Rows that only ClickHouse has, by id. */
type LateCalls = ReadonlyMap<string, StoredToolCall>;

/**
 * Writes rows and the roll-ups by tool; belongs into the log insert's transaction, which writes the money. Idempotent by
 * record id, and with `corrects` as rows of requests are.
 */
export async function insertToolCalls(
  tx: Db,
  records: readonly ToolCallRecord[],
  late: LateCalls = new Map(),
): Promise<InsertedCalls> {
  const firsts = new Map<string, ToolCallRecord>();
  const corrections = new Map<string, ToolCallRecord>();
  for (const record of records) {
    const id = record.id.toLowerCase();
    if (record.corrects === true) corrections.set(id, record);
    else if (!firsts.has(id) && !late.has(id)) firsts.set(id, record);
  }
  const news = await insertRows(tx, firsts);
  const old = await takeOutRows(tx, [...corrections.values()], late);
  const corrected = await insertRows(tx, corrections);
  const written = [...news, ...corrected];
  const calls: readonly SignedCall[] = [
    ...written.map((record) => ({ call: toolCallFact(record), sign: 1 }) as const),
    ...old.map((call) => ({ call, sign: -1 }) as const),
  ];
  await writeToolRollups(tx, calls);
  const facts = calls.flatMap(({ call, sign }) => {
    const fact = moneyFact(call);
    return fact === undefined ? [] : [{ fact, sign }];
  });
  return { inserted: written.length - old.length, corrected: old.length, written, facts };
}

/** Returns the records that were not there before. `batch` is by id in lower case. */
async function insertRows(tx: Db, batch: ReadonlyMap<string, ToolCallRecord>): Promise<readonly ToolCallRecord[]> {
  const all = [...batch.values()];
  const written: ToolCallRecord[] = [];
  for (let i = 0; i < all.length; i += ROWS_A_STATEMENT) {
    const rows = await executePrepared<{ id: string }>(
      tx,
      sql`insert into tool_calls (${sql.raw(INSERTED)})
      select ${sql.raw(SELECTED)}
      from json_to_recordset(${JSON.stringify(all.slice(i, i + ROWS_A_STATEMENT))}::json) as r(${sql.raw(TYPED)})
      on conflict (created_at, id) do nothing returning id`,
    );
    for (const { id } of rows) {
      const record = batch.get(id);
      if (record !== undefined) written.push(record);
    }
  }
  return written;
}

/** Deletes the rows that the corrections replace, and returns their sums. */
async function takeOutRows(
  tx: Db,
  corrections: readonly ToolCallRecord[],
  late: LateCalls,
): Promise<readonly ToolCallFact[]> {
  if (corrections.length === 0) return [];
  const keys = corrections.map((record) => ({ id: record.id, created_at_ms: record.createdAtMs }));
  const rows = await tx.execute(sql`
    delete from tool_calls g
    using jsonb_to_recordset(${JSON.stringify(keys)}::jsonb) as r(id uuid, created_at_ms bigint)
    where g.id = r.id and g.created_at = to_timestamp(r.created_at_ms / 1000.0)
    returning g.id, (extract(epoch from g.created_at) * 1000)::float8 as created_at_ms, g.project_id, g.api_key_id,
      g.customer_id, g.labels, g.server, g.tool, g.status, g.is_error, g.error_code, g.latency_ms, g.bytes_in::float8,
      g.bytes_out::float8, g.cost_usd`);
  const old = rows.map((row) => innerRow<ToolCallFact>({ ...row, labels: parseJson(row.labels) }));
  const here = new Set(rows.map(({ id }) => id));
  for (const record of corrections) {
    const id = record.id.toLowerCase();
    // It may have come late itself, and still be here.
    const row = here.has(id) ? undefined : late.get(id);
    if (row === undefined) continue;
    await takeFromRun(tx, row);
    old.push(row);
  }
  return old;
}
