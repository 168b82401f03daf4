// If Postgres fails, the call throws and nothing is written; the queue keeps the records. Invalid records throw
// `RecordsRejectedError`.
import type { LostBooking } from '@llm0/core/limits/hot-store';
import { type DecodedRecord, encodeLogRecord, RecordsRejectedError } from '@llm0/core/logs/decode-log-record';
import { type DecodedEntry, decodeEntry } from '@llm0/core/logs/decode-tool-call';
import { eachInSlices } from '@llm0/core/logs/in-slices';
import { RecordsOutdatedError } from '@llm0/core/logs/log-drain';
import type { LogRecord } from '@llm0/core/logs/log-record';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import type { StoredRecords } from '@llm0/core/tracing/span';
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { nanoFromUsd } from '../../money';
import { isDataAtFault, rootMessage, sqlState } from '../../sql-state';
import { noteKeyUses } from '../access/key-uses';
import { addBatchCosts } from '../batches/batch-costs';
import { findLateRows, LateRecordsError, takeOutLate } from '../clickhouse/late-rows';
import { floorOf } from '../clickhouse/log-engine';
import { writeGuardrailRollups } from '../guardrails/guardrail-rollups';
import { utcDay } from '../stats/utc-day';
import type { UsageFact } from '../stats/write/rollup-deltas';
import { writeRollups } from '../stats/write/rollup-write';
import { insertToolCalls } from '../tool-calls/insert-tool-calls';
import { insertFailovers } from './failover-rows';
import { insertLogBatch } from './log-batches';
import { readLogFence } from './log-fence';
import { insertRows, takeOutRows } from './log-rows';
import type { StoredLog } from './logs';
import { ensurePartitions, lockLogWrites } from './partitions';
import { WrittenRows } from './written-rows';

export interface LogInsertResult {
  /** Rows that were not there before. */
  readonly inserted: number;
  /** Rows replaced by their late correction. */
  readonly corrected: number;
}

const DAY_MS = 86_400_000;
/** Sending a thousand rows at once takes milliseconds, in which no request is served. */
const ROWS_A_STATEMENT = 250;

export interface LogInsertOptions {
  /** Fence at reading time (`readLogFence`); absent = any. */
  readonly fence?: number;
  /** Called with new rows after their commit. */
  readonly onWritten?: (written: StoredRecords) => void;
}

/** Items of a batch, read one at a time: a row's record is released once written. */
interface Batch<Item> {
  readonly items: readonly Item[];
  readonly decode: (item: Item) => DecodedEntry;
}

/** `storeRecords` of the queue: decodes and inserts requests and tool calls; see `insertLogRecords`. */
export async function storeLogRecords(
  db: Db,
  records: readonly string[],
  options: LogInsertOptions = {},
): Promise<LogInsertResult> {
  return insertBatch(db, { items: records, decode: decodeEntry }, options);
}

const asEntry = (record: LogRecord): DecodedEntry => ({ kind: 'request', decoded: encodeLogRecord(record) });

/**
 * Writes rows, roll-ups and failovers in one transaction. Idempotent by record id: only new rows count in roll-ups. A
 * record with `corrects` replaces its row and applies the difference. Throws `RecordsOutdatedError` under another
 * fence.
 */
export async function insertLogRecords(
  db: Db,
  records: readonly LogRecord[],
  options: LogInsertOptions = {},
): Promise<LogInsertResult> {
  return insertBatch(db, { items: records, decode: asEntry }, options);
}

async function insertBatch<Item>(db: Db, batch: Batch<Item>, options: LogInsertOptions): Promise<LogInsertResult> {
  if (batch.items.length === 0) return { inserted: 0, corrected: 0 };
  try {
    const beforeMs = await floorOf(db);
    const write = (late: Late) => writeBatch(db, batch, { ...options, late });
    return await write({ beforeMs }).catch(async (error: unknown) => {
      if (error instanceof LateRecordsError) return writeLate(db, batch, { error, write, beforeMs });
      // A day without a partition: a new database, or an externally dropped one.
      if (sqlState(error) !== '23514') throw error;
      await ensureDays(db, batch);
      return write({ beforeMs });
    });
  } catch (error) {
    if (isDataAtFault(error)) throw new RecordsRejectedError(rootMessage(error), { cause: error });
    throw error;
  }
}

/** Rows of days that Postgres dropped. */
interface Late {
  /** These days end here; 0 without any. */
  readonly beforeMs: number;
  /** Rows that were found; absent before anybody looked. */
  readonly rows?: ReadonlyMap<string, StoredLog>;
}

interface Again {
  readonly error: LateRecordsError;
  readonly write: (late: Late) => Promise<LogInsertResult>;
  readonly beforeMs: number;
}

/** Seldom: the days are made anew for rows that nobody has. */
async function writeLate<Item>(
  db: Db,
  batch: Batch<Item>,
  { error, write, beforeMs }: Again,
): Promise<LogInsertResult> {
  const rows = await findLateRows(db, error.late);
  await ensureDays(db, batch);
  return write({ beforeMs, rows });
}

async function ensureDays<Item>(db: Db, { items, decode }: Batch<Item>): Promise<void> {
  const days = new Set<number>();
  await eachInSlices(items, (item) => {
    const entry = decode(item);
    const { createdAtMs } = entry.kind === 'request' ? entry.decoded.record : entry.record;
    days.add(Math.floor(createdAtMs / DAY_MS));
  });
  await ensurePartitions(
    db,
    Array.from(days, (day) => utcDay(day * DAY_MS)),
  );
}

async function writeBatch<Item>(
  db: Db,
  { items, decode }: Batch<Item>,
  { fence, onWritten, late }: LogInsertOptions & { readonly late: Late },
): Promise<LogInsertResult> {
  const { result, stored } = await db.transaction(async (tx) => {
    await lockLogWrites(tx);
    if (fence !== undefined && (await readLogFence(tx)) !== fence) {
      throw new RecordsOutdatedError('the counters were rebuilt since these records were read');
    }
    const written = new WrittenRows(onWritten !== undefined);
    const seen = new Set<string>();
    const corrections = new Map<string, DecodedRecord>();
    const calls: ToolCallRecord[] = [];
    const unknown: LogRecord[] = [];
    for (let i = 0; i < items.length; i += ROWS_A_STATEMENT) {
      const firsts = new Map<string, DecodedRecord>();
      await eachInSlices(items.slice(i, i + ROWS_A_STATEMENT), (item) => {
        const entry = decode(item);
        if (entry.kind === 'tool_call') return void calls.push(entry.record);
        const { record } = entry.decoded;
        const id = record.id.toLowerCase();
        if (record.createdAtMs < late.beforeMs && late.rows === undefined) unknown.push(record);
        if (record.corrects === true) corrections.set(id, entry.decoded);
        else if (!seen.has(id) && late.rows?.has(id) !== true) firsts.set(id, entry.decoded);
        seen.add(id);
      });
      if (unknown.length === 0) await insertPart(tx, firsts, written);
    }
    if (unknown.length > 0) throw new LateRecordsError(unknown.map(({ id, createdAtMs }) => ({ id, createdAtMs })));
    const inserted = written.count;
    const replaced = await takeOut(tx, corrections, { written, late });
    await insertPart(tx, corrections, written);
    const corrected = written.count - inserted;
    const called = await insertToolCalls(tx, calls);
    await writeRollups(tx, [...written.facts, ...called.facts]);
    await writeGuardrailRollups(tx, [...written.marked, ...called.written]);
    await insertFailovers(tx, written.switches);
    await insertLogBatch(tx, written.entries, written.facts);
    await addBatchCosts(tx, written.facts);
    await noteKeyUses(tx, [...written.facts.map(({ fact }) => fact), ...called.written]);
    const result = {
      inserted: inserted + corrected - replaced + called.inserted,
      corrected: replaced + called.corrected,
    };
    return { result, stored: { requests: written.records, calls: called.written } };
  });
  onWritten?.(stored);
  return result;
}

/** Deletes the corrected rows with their sums; returns their number. */
async function takeOut(
  tx: Db,
  corrections: ReadonlyMap<string, DecodedRecord>,
  { written, late }: { readonly written: WrittenRows; readonly late: Late },
): Promise<number> {
  if (corrections.size === 0) return 0;
  const old: UsageFact[] = [];
  const here: LogRecord[] = [];
  for (const [id, { record }] of corrections) {
    const dropped = late.rows?.get(id);
    if (dropped === undefined) here.push(record);
    else {
      // It may have come late itself, and still be here.
      const [fact = await takeOutLate(tx, dropped)] = await takeOutRows(tx, [record]);
      old.push(fact);
    }
  }
  if (here.length > 0) old.push(...(await takeOutRows(tx, here)));
  for (const fact of old) written.facts.push({ fact, sign: -1 });
  return old.length;
}

/** Inserts new rows. `part` is keyed by id in lower case. */
async function insertPart(tx: Db, part: ReadonlyMap<string, DecodedRecord>, written: WrittenRows): Promise<void> {
  if (part.size === 0) return;
  const ids = await insertRows(
    tx,
    Array.from(part.values(), ({ record }) => record),
  );
  const news = ids === null ? part.values() : ids.flatMap((id) => part.get(id) ?? []);
  await eachInSlices(news, (decoded) => written.add(decoded));
}

/** A row's time may differ from its hold's: a refusal whose admission arrived late. */
const ROW_APART_MS = 3_600_000;

type WantedRequests = readonly { readonly id: string; readonly createdAtMs: number }[];

/** Requests and tool calls that already have a row. */
export async function findStoredRequests(db: Db, requests: WantedRequests): Promise<ReadonlySet<string>> {
  if (requests.length === 0) return new Set();
  const rows = await db.execute<{ id: string }>(
    sql`select g.request_id as id from gateway_logs g where ${isOneOf(requests)}
      union all select g.request_id from tool_calls g where ${isOneOf(requests)}`,
  );
  return new Set(rows.map((row) => row.id));
}

/** Requests that only have the reaper's row for a dead process. */
export async function findLostRequests(db: Db, requests: WantedRequests): Promise<ReadonlyMap<string, LostBooking>> {
  if (requests.length === 0) return new Map();
  const rows = await db.execute<{ id: string; usd: string; at: number }>(sql`
    select g.request_id as id, g.cost_usd as usd, (extract(epoch from g.created_at) * 1000)::float8 as at
    from (select request_id, cost_usd, created_at, error_code from gateway_logs
      union all select request_id, cost_usd, created_at, error_code from tool_calls) as g
    where g.error_code = 'gateway_lost' and ${isOneOf(requests)}`);
  return new Map(rows.map(({ id, usd, at }) => [id, { costNanoUsd: nanoFromUsd(usd), createdAtMs: at }]));
}

function isOneOf(requests: WantedRequests): SQL {
  const times = requests.map((request) => request.createdAtMs);
  return sql`g.created_at between to_timestamp(${Math.floor(Math.min(...times)) - ROW_APART_MS}::bigint / 1000.0)
        and to_timestamp(${Math.ceil(Math.max(...times)) + ROW_APART_MS}::bigint / 1000.0)
      and g.request_id in (select value::uuid
        from jsonb_array_elements_text(${JSON.stringify(requests.map((request) => request.id))}::jsonb))`;
}
