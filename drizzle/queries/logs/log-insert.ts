// Postgres unreachable or failing: the call throws and nothing was written; the queue keeps the records. Records that can
// never be written (wrong data) throw `RecordsRejectedError`.
import type { LostBooking } from '@llm0/core/limits/hot-store';
import { type DecodedRecord, encodeLogRecord, RecordsRejectedError } from '@llm0/core/logs/decode-log-record';
import { decodeEntry } from '@llm0/core/logs/decode-tool-call';
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
import { writeGuardrailRollups } from '../guardrails/guardrail-rollups';
import { utcDay } from '../stats/utc-day';
import { factOf, type SignedFact } from '../stats/write/rollup-deltas';
import { writeRollups } from '../stats/write/rollup-write';
import { insertToolCalls } from '../tool-calls/insert-tool-calls';
import { insertFailovers } from './failover-rows';
import { insertLogBatch } from './log-batches';
import { readLogFence } from './log-fence';
import { insertRows, takeOutRows } from './log-rows';
import { ensurePartitions, lockLogWrites } from './partitions';

export interface LogInsertResult {
  /** Rows that were not there before. */
  readonly inserted: number;
  /** Rows replaced by their late correction. */
  readonly corrected: number;
}

const DAY_MS = 86_400_000;
/** Sending a thousand rows at once takes milliseconds, in which no request is served. */
const ROWS_A_STATEMENT = 250;

/** Days whose partition this process has seen, by connection pool. */
const knownDays = new WeakMap<Db, Set<string>>();

export interface LogInsertOptions {
  /** Fence the records were read under (`readLogFence`); absent = whichever. */
  readonly fence?: number;
  /** Told of the rows that were not there before, once they are committed. */
  readonly onWritten?: (written: StoredRecords) => void;
}

/** Rows of both logs: a batch of the queue may have either. */
interface Batch {
  readonly requests: readonly DecodedRecord[];
  readonly calls: readonly ToolCallRecord[];
}

/** `storeRecords` of the queue: decodes and inserts requests and tool calls; see `insertLogRecords`. */
export async function storeLogRecords(
  db: Db,
  records: readonly string[],
  options: LogInsertOptions = {},
): Promise<LogInsertResult> {
  const requests: DecodedRecord[] = [];
  const calls: ToolCallRecord[] = [];
  await eachInSlices(records, (record) => {
    const entry = decodeEntry(record);
    if (entry.kind === 'tool_call') calls.push(entry.record);
    else requests.push(entry.decoded);
  });
  try {
    return await insertRecords(db, { requests, calls }, options);
  } catch (error) {
    if (!(error instanceof RecordsRejectedError)) throw error;
    // The texts may be at fault where the records are not: `1.0` is a whole number to JSON alone.
    const encoded = requests.map(({ record }) => encodeLogRecord(record));
    return insertRecords(db, { requests: encoded, calls }, options);
  }
}

/**
 * Writes rows, roll-ups and failover rows in one transaction. Idempotent by record id: what is already there is skipped,
 * and only rows really written count in the roll-ups. A record with `corrects` replaces its row and applies the
 * difference to the roll-ups; again it changes nothing. Throws `RecordsOutdatedError` under another fence.
 */
export async function insertLogRecords(
  db: Db,
  records: readonly LogRecord[],
  options: LogInsertOptions = {},
): Promise<LogInsertResult> {
  return insertRecords(db, { requests: records.map(encodeLogRecord), calls: [] }, options);
}

async function insertRecords(db: Db, batch: Batch, options: LogInsertOptions): Promise<LogInsertResult> {
  if (batch.requests.length + batch.calls.length === 0) return { inserted: 0, corrected: 0 };
  try {
    await ensureDays(db, batch);
    return await writeRecords(db, batch, options);
  } catch (error) {
    if (sqlState(error) === '23514' && knownDays.get(db)?.size) {
      // A partition was dropped (or the database replaced) behind our back: look again, once.
      knownDays.delete(db);
      return insertRecords(db, batch, options);
    }
    if (isDataAtFault(error)) throw new RecordsRejectedError(rootMessage(error), { cause: error });
    throw error;
  }
}

async function ensureDays(db: Db, { requests, calls }: Batch): Promise<void> {
  const known = knownDays.get(db) ?? new Set<string>();
  const times = [...requests.map(({ record }) => record.createdAtMs), ...calls.map((call) => call.createdAtMs)];
  const days = new Set(times.map((ms) => Math.floor(ms / DAY_MS)));
  const missing = [...days].map((day) => utcDay(day * DAY_MS)).filter((day) => !known.has(day));
  if (missing.length === 0) return;
  await ensurePartitions(db, missing);
  for (const day of missing) known.add(day);
  knownDays.set(db, known);
}

async function writeRecords(
  db: Db,
  { requests, calls }: Batch,
  { fence, onWritten }: LogInsertOptions,
): Promise<LogInsertResult> {
  const firsts = new Map<string, DecodedRecord>();
  const corrections = new Map<string, DecodedRecord>();
  for (const decoded of requests) {
    const id = decoded.record.id.toLowerCase();
    if (decoded.record.corrects === true) corrections.set(id, decoded);
    else if (!firsts.has(id)) firsts.set(id, decoded);
  }
  const { result, stored } = await db.transaction(async (tx) => {
    await lockLogWrites(tx);
    if (fence !== undefined && (await readLogFence(tx)) !== fence) {
      throw new RecordsOutdatedError('the counters were rebuilt since these records were read');
    }
    const facts: SignedFact[] = [];
    const stored: DecodedRecord[] = [];
    const written: LogRecord[] = [];
    const insert = async (batch: ReadonlyMap<string, DecodedRecord>) => {
      const news = await insertInParts(tx, batch);
      await eachInSlices(news, (decoded) => {
        const { record } = decoded;
        stored.push(decoded);
        written.push(record);
        facts.push({ fact: factOf(record), sign: 1 });
      });
      return news.length;
    };
    const inserted = await insert(firsts);
    let replaced = 0;
    if (corrections.size > 0) {
      const old = await takeOutRows(
        tx,
        Array.from(corrections.values(), ({ record }) => record),
      );
      for (const fact of old) facts.push({ fact, sign: -1 });
      replaced = old.length;
    }
    const corrected = await insert(corrections);
    const called = await insertToolCalls(tx, calls);
    await writeRollups(tx, [...facts, ...called.facts]);
    await writeGuardrailRollups(tx, [...written, ...called.written]);
    await insertFailovers(tx, written);
    await insertLogBatch(tx, written);
    await noteKeyUses(tx, [...written, ...called.written]);
    const result = {
      inserted: inserted + corrected - replaced + called.inserted,
      corrected: replaced + called.corrected,
    };
    return { result, stored: { requests: stored, calls: called.written } };
  });
  onWritten?.(stored);
  return result;
}

/** Returns the records that were not there before. `batch` is by id in lower case. */
async function insertInParts(tx: Db, batch: ReadonlyMap<string, DecodedRecord>): Promise<readonly DecodedRecord[]> {
  const all = [...batch.values()];
  const written: DecodedRecord[] = [];
  for (let i = 0; i < all.length; i += ROWS_A_STATEMENT) {
    const part = all.slice(i, i + ROWS_A_STATEMENT);
    const ids = await insertRows(
      tx,
      part.map(({ json }) => json),
    );
    for (const record of ids === null ? part : ids.map((id) => batch.get(id))) {
      if (record !== undefined) written.push(record);
    }
  }
  return written;
}

/** A row may stand at another time than the hold it belongs to: that of a refusal whose admission came through late. */
const ROW_APART_MS = 3_600_000;

type WantedRequests = readonly { readonly id: string; readonly createdAtMs: number }[];

/** Which of these requests and tool calls already have a row. */
export async function findStoredRequests(db: Db, requests: WantedRequests): Promise<ReadonlySet<string>> {
  if (requests.length === 0) return new Set();
  const rows = await db.execute<{ id: string }>(
    sql`select g.request_id as id from gateway_logs g where ${isOneOf(requests)}
      union all select g.request_id from tool_calls g where ${isOneOf(requests)}`,
  );
  return new Set(rows.map((row) => row.id));
}

/** Which of them have only what the reaper booked for a process that died. */
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
