import type { LogRecord } from '@llm0/core/logs/log-record';
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { type LogFloor, NO_ROWS_MS, noRowsFromMs } from '../clickhouse/log-floor';
import { SINK_PREFIX } from '../logs/log-sinks';
import { ID_BYTES, type KnownSince, writeId } from './known-ids';
import { toRowLine } from './row-line';

/** Bytes of an entry: id, cost, time, and whether a lost process left it. */
export const ENTRY_BYTES = ID_BYTES + 8 + 8 + 1;
/** Ids stay so long, so that few records need ClickHouse to tell whether they are new. */
const KEPT_MS = 10 * 60_000;
const KEPT_ROWS = 5_000_000;
const LEVEL = 1;

export interface LineRow extends Pick<LogRecord, 'id' | 'createdAtMs' | 'costNanoUsd' | 'projectId' | 'runId'> {
  readonly isLost: boolean;
  readonly line: string;
}

export const toLineRow = (record: LogRecord): LineRow => {
  const { id, createdAtMs, costNanoUsd, projectId, runId } = record;
  return {
    ...{ id, createdAtMs, costNanoUsd, projectId, ...(runId == null ? {} : { runId }) },
    ...{ isLost: record.errorCode === 'gateway_lost', line: toRowLine(record) },
  };
};

interface NewLines {
  readonly seq: number;
  readonly rows: readonly LineRow[];
  readonly corrects: boolean;
  /** Of `packLines`, when it began earlier. */
  readonly packed?: Promise<Uint8Array>;
}

/** Compresses rows in another thread. */
export const packLines = (rows: readonly LineRow[]): Promise<Uint8Array> =>
  Bun.zstdCompress(rows.map(({ line }) => line).join('\n'), { level: LEVEL });

/** Rows of a batch that Postgres doesn't store, beside it. Only under `lockLogWrites`. */
export async function insertLines(
  tx: Db,
  { seq, rows, corrects, packed = packLines(rows) }: NewLines,
): Promise<{ readonly entries: Buffer; readonly storedAtMs: number }> {
  const entries = Buffer.alloc(rows.length * ENTRY_BYTES);
  let [firstMs, lastMs, at] = [Number.MAX_SAFE_INTEGER, 0, 0];
  for (const { id, costNanoUsd, createdAtMs, isLost } of rows) {
    writeId(entries, id, at);
    entries.writeDoubleLE(costNanoUsd, at + ID_BYTES);
    entries.writeDoubleLE(createdAtMs, at + ID_BYTES + 8);
    entries[at + ID_BYTES + 16] = isLost ? 1 : 0;
    at += ENTRY_BYTES;
    firstMs = Math.min(firstMs, createdAtMs);
    lastMs = Math.max(lastMs, createdAtMs);
  }
  const lines = await packed;
  const [stored] = await tx.execute<{ ms: number }>(sql`
    insert into log_lines (seq, rows, first_ms, last_ms, corrects, entries, lines)
    values (${seq}, ${rows.length}, ${firstMs}, ${lastMs}, ${corrects}, ${entries}::bytea, ${lines}::bytea)
    returning (extract(epoch from stored_at) * 1000)::float8 as ms`);
  return { entries, storedAtMs: Number(stored?.ms) };
}

const bytesOf = (value: Uint8Array | string): Buffer =>
  typeof value === 'string'
    ? Buffer.from(value.slice(2), 'hex')
    : Buffer.from(value.buffer, value.byteOffset, value.byteLength);

const textOf = async (lines: Uint8Array | string): Promise<string> =>
  (await Bun.zstdDecompress(bytesOf(lines))).toString();

/** Ids of a batch. */
export async function readEntries(
  db: Db,
  seq: number,
): Promise<(KnownSince & { readonly entries: Buffer }) | undefined> {
  const [row] = await db.execute<{ ms: number; entries: Uint8Array | string }>(sql`
    select (extract(epoch from stored_at) * 1000)::float8 as ms, entries from log_lines where seq = ${seq}`);
  return row && { seq, storedAtMs: Number(row.ms), entries: bytesOf(row.entries) };
}

/** A request as the entries have it. */
export interface Booking {
  readonly costNanoUsd: number;
  readonly createdAtMs: number;
  readonly isLost: boolean;
}

/** The newest bookings of these ids, in lower case, in the batches that are still known. */
export async function findBookings(db: Db, ids: Iterable<string>, floor: LogFloor | null): Promise<Bookings> {
  const wanted = new Map(Array.from(ids, (id) => [idText(id), id]));
  const found = new Map<string, Booking>();
  let since: KnownSince | undefined;
  const batches = await listLineBatches(db, sql`true`);
  for (const seq of batches) {
    const batch = await readEntries(db, seq);
    if (batch === undefined) continue;
    if (batch.storedAtMs >= noRowsFromMs(floor)) since ??= { seq, storedAtMs: batch.storedAtMs };
    const { entries } = batch;
    for (let at = 0; at < entries.length; at += ENTRY_BYTES) {
      const id = wanted.get(entries.toString('latin1', at, at + ID_BYTES));
      if (id === undefined) continue;
      found.set(id, {
        costNanoUsd: entries.readDoubleLE(at + ID_BYTES),
        createdAtMs: entries.readDoubleLE(at + ID_BYTES + 8),
        isLost: entries[at + ID_BYTES + 16] === 1,
      });
    }
  }
  return { found, since, firstSeq: batches[0] };
}

export interface Bookings {
  readonly found: ReadonlyMap<string, Booking>;
  /** The first of those batches since Postgres gets no rows. */
  readonly since: KnownSince | undefined;
  /** The first batch that is still known. */
  readonly firstSeq: number | undefined;
}

function idText(id: string): string {
  const bytes = Buffer.alloc(ID_BYTES);
  writeId(bytes, id, 0);
  return bytes.toString('latin1');
}

/** Clocks of gateways differ by less. */
const CLOCKS_APART_MS = 60_000;

/** A request from after a batch can only be in later ones. */
export const isAfter = (since: KnownSince | undefined, createdAtMs: number): boolean =>
  since !== undefined && createdAtMs > since.storedAtMs + CLOCKS_APART_MS;

/** ClickHouse had every batch before `sinceSeq` when it was asked. */
export async function hadAllBefore(tx: Db, askedSeq: number, sinceSeq = Number.MAX_SAFE_INTEGER): Promise<boolean> {
  const [missing] = await tx.execute(
    sql`select 1 from log_batches where seq > ${askedSeq} and seq < ${sinceSeq} limit 1`,
  );
  return missing === undefined;
}

/** Numbers of batches, in order. */
export async function listLineBatches(db: Db, where: SQL): Promise<readonly number[]> {
  const batches = await db.execute<{ seq: string }>(sql`select seq from log_lines where ${where} order by seq`);
  return batches.map(({ seq }) => Number(seq));
}

export interface LineBatch {
  readonly seq: number;
  readonly rows: number;
  /** JSON lines. */
  readonly text: string;
}

/** Rows that some store lacks, the first batch first. */
export async function* readLines(
  db: Db,
  { afterSeq = 0, lastSeq = Number.MAX_SAFE_INTEGER, fromMs = 0, toMs = NO_ROWS_MS }: LineRange,
): AsyncGenerator<LineBatch> {
  const where = sql`lines is not null and seq > ${afterSeq} and seq <= ${lastSeq} and last_ms >= ${fromMs} and first_ms <= ${toMs}`;
  for (const seq of await listLineBatches(db, where)) {
    const [row] = await db.execute<{ rows: number; lines: Uint8Array | string | null }>(
      sql`select rows, lines from log_lines where seq = ${seq}`,
    );
    if (row?.lines != null) yield { seq, rows: row.rows, text: await textOf(row.lines) };
  }
}

/** Batches, and times of rows that they must have. */
export interface LineRange {
  readonly afterSeq?: number;
  readonly lastSeq?: number;
  readonly fromMs?: number;
  readonly toMs?: number;
}

/** Every store has them: lines go at once, ids later. The newest batch stays, since its time tells which records are new. */
export async function clearLines(db: Pick<Db, 'execute'>): Promise<void> {
  await db.execute(sql`
    with sunk as (select min((value->>'seq')::bigint) as seq from settings where starts_with(key, ${SINK_PREFIX}))
    update log_lines set lines = null where lines is not null and seq <= (select seq from sunk)`);
  await db.execute(sql`
    delete from log_lines where lines is null and seq < (select max(seq) from log_lines)
      and (stored_at < clock_timestamp() - ${KEPT_MS} * interval '1 millisecond'
        or seq <= (select max(seq) from (
          select seq, sum(rows) over (order by seq desc) as total from log_lines) as counted where total > ${KEPT_ROWS}))`);
}

/** Whether lines were stored after a batch, which are not in Postgres either. */
export async function isAwaitedSince(tx: Db, floor: LogFloor | null, seq: number): Promise<boolean> {
  if (floor?.withoutRowsMs === undefined) return false;
  const [later] = await tx.execute(sql`select 1 from log_lines where seq > ${seq} limit 1`);
  return later !== undefined;
}
