import { and, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { gatewayLogs } from '../../schema/gateway-logs';
import { EngineAwayError } from '../clickhouse/ask-clickhouse';
import { findRowsOfBatches } from '../clickhouse/find-rows';
import { engineOf, rowsBefore } from '../clickhouse/log-engine';
import { NO_ROWS_MS } from '../clickhouse/log-floor';
import { withoutSwitches } from '../clickhouse/without-switches';
import { instant } from '../instant';
import type { SecondCounts } from '../stats/write/batch-sums';
import { readSinkSeq, type SinkEntry } from './log-sinks';
import { type LogFilter, logConditions, logRows, type StoredLog } from './logs';

/** A batch counts requests that ended so shortly before. */
const LIVE_SECONDS = 60;

/**
 * Written by writers of rows while they hold the lock: batches are numbered in the order they are committed. Requests
 * that aren't among `records` stand in `log_lines`. Returns the number.
 */
export async function insertLogBatch(
  tx: Db,
  records: readonly { readonly id: string; readonly createdAtMs: number; readonly kind?: 'tool_call' }[],
  seconds: readonly SecondCounts[],
): Promise<number> {
  const entries = JSON.stringify(records.map(entryOf));
  const bySecond = JSON.stringify(seconds);
  // Rows of earlier times, such as an import's, aren't traffic. A correction takes its old row away.
  const [batch] = await tx.execute<{
    seq: string;
  }>(sql`insert into log_batches (entries, requests, failed, caller_errors, refused)
    select ${entries}::jsonb, greatest(0, coalesce(sum((value->>1)::int), 0)),
      greatest(0, coalesce(sum((value->>2)::int), 0)), greatest(0, coalesce(sum((value->>3)::int), 0)),
      greatest(0, coalesce(sum((value->>4)::int), 0))
    from jsonb_array_elements(${bySecond}::jsonb)
    where (value->>0)::bigint >= extract(epoch from now()) - ${LIVE_SECONDS}
    returning seq`);
  return Number(batch?.seq);
}

const entryOf = ({ id, createdAtMs, kind }: { id: string; createdAtMs: number; kind?: 'tool_call' }): SinkEntry =>
  kind === 'tool_call' ? [createdAtMs, id, 1] : [createdAtMs, id];

/** Requests of a batch, refused ones included. */
export interface BatchCounts {
  readonly seq: number;
  readonly storedAtMs: number;
  readonly requests: number;
  /** Through no fault of the callers. */
  readonly failed: number;
  /** Through a fault of the callers. */
  readonly callerErrors: number;
  /** By a limit. */
  readonly refused: number;
}

/** Batches after one and since an instant, oldest first. */
export async function listBatchCounts(
  db: Db,
  { seq, sinceMs }: { readonly seq: number; readonly sinceMs: number },
): Promise<readonly BatchCounts[]> {
  const rows = await db.execute<Record<'seq' | 'ms' | 'requests' | 'failed' | 'callers' | 'refused', string>>(sql`
    select seq, (extract(epoch from created_at) * 1000)::float8 as ms, requests, failed, caller_errors as callers, refused
    from log_batches
    where seq > ${seq} and created_at >= ${instant(sinceMs)} order by seq`);
  return rows.map((row) => ({
    ...{ seq: Number(row.seq), storedAtMs: Number(row.ms) },
    ...{ requests: Number(row.requests), failed: Number(row.failed), callerErrors: Number(row.callers) },
    refused: Number(row.refused),
  }));
}

/** Numbers of stored batches; 0 without any. */
export interface KeptBatches {
  readonly oldest: number;
  readonly newest: number;
}

export async function findKeptBatches(db: Db): Promise<KeptBatches> {
  const [row] = await db.execute<{ oldest: string | null; newest: string | null }>(sql`
    select (select seq from log_batches order by seq limit 1) as oldest,
      (select seq from log_batches order by seq desc limit 1) as newest`);
  return { oldest: Number(row?.oldest ?? 0), newest: Number(row?.newest ?? 0) };
}

/** The last batch before an instant; 0 without one. */
export async function findBatchBefore(db: Db, ms: number): Promise<number> {
  const [row] = await db.execute<{ seq: string }>(
    sql`select seq from log_batches where created_at < ${instant(ms)} order by seq desc limit 1`,
  );
  return Number(row?.seq ?? 0);
}

export interface LogsAfter {
  /** Newest first. */
  readonly rows: readonly StoredLog[];
  /** The last batch that was looked at. */
  readonly seq: number;
}

/** Looked up at once. */
const MOST_ENTRIES = 3000;

/** Rows of the filter that arrived after a batch, from a limited number of batches. */
export async function listLogsAfter(
  db: Db,
  filter: LogFilter,
  { seq, batches, limit }: { readonly seq: number; readonly batches: number; readonly limit: number },
): Promise<LogsAfter> {
  const elsewhere = await rowsBefore(db);
  if (elsewhere !== undefined && elsewhere.splitMs >= NO_ROWS_MS) return listElsewhere(db, filter, { seq, limit });
  const found = await db.execute<{ seq: string; entries: string }>(sql`
    select seq, entries::text as entries from log_batches where seq > ${seq} order by seq limit ${batches}`);
  const entries: (readonly [ms: number, id: string])[] = [];
  let lastSeq = seq;
  for (const batch of found) {
    entries.push(...(JSON.parse(batch.entries) as [number, string][]));
    lastSeq = Number(batch.seq);
    if (entries.length >= MOST_ENTRIES) break;
  }
  if (entries.length === 0) return { rows: [], seq };
  const within = and(
    anyOf(gatewayLogs.createdAtMs, [...new Set(entries.map(([ms]) => ms))], sql`to_timestamp(value::bigint / 1000.0)`),
    anyOf(gatewayLogs.id, [...new Set(entries.map(([, id]) => id))], sql`value::uuid`),
  );
  const page = await logRows.list(db, { limit }, {}, and(within, ...logConditions(filter)));
  return { rows: page.data, seq: lastSeq };
}

/** The same where Postgres gets no rows: up to the last batch that ClickHouse has. Nothing follows while it is away. */
async function listElsewhere(
  db: Db,
  filter: LogFilter,
  { seq, limit }: { readonly seq: number; readonly limit: number },
): Promise<LogsAfter> {
  const engine = engineOf(db);
  const lastSeq = await readSinkSeq(db, engine?.store ?? '');
  if (engine === undefined || lastSeq <= seq) return { rows: [], seq };
  try {
    const wanted = { afterSeq: seq, lastSeq, limit };
    return { rows: await findRowsOfBatches(engine.ask, await withoutSwitches(db, filter), wanted), seq: lastSeq };
  } catch (error) {
    if (error instanceof EngineAwayError) return { rows: [], seq };
    throw error;
  }
}

/** An array uses the index; a subquery could scan all partitions. */
const anyOf = (column: SQL | (typeof gatewayLogs)['id' | 'createdAtMs'], values: readonly unknown[], as: SQL): SQL =>
  sql`${column} = any(array(select ${as} from jsonb_array_elements_text(${JSON.stringify(values)}::jsonb)))`;
