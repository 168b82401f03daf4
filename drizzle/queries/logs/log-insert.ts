// If Postgres fails, the call throws and nothing is written; the queue keeps the records. Invalid records throw
// `RecordsRejectedError`.
import { type DecodedRecord, encodeLogRecord, RecordsRejectedError } from '@llm0/core/logs/decode-log-record';
import { type DecodedEntry, decodeEntry } from '@llm0/core/logs/decode-tool-call';
import { eachInSlices } from '@llm0/core/logs/in-slices';
import { RecordsOutdatedError, RecordsWaitError } from '@llm0/core/logs/log-drain';
import type { LogRecord } from '@llm0/core/logs/log-record';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import type { StoredRecords } from '@llm0/core/tracing/span';
import type { Db } from '../../client';
import { isDataAtFault, rootMessage, sqlState } from '../../sql-state';
import { noteKeyUses } from '../access/key-uses';
import { addBatchCosts } from '../batches/batch-costs';
import { EngineAwayError } from '../clickhouse/ask-clickhouse';
import { findLateRows, LateRecordsError, type LateRows, takeOutLate } from '../clickhouse/late-rows';
import { callsFloorOf, floorOf } from '../clickhouse/log-engine';
import { noRowsFromMs } from '../clickhouse/log-floor';
import { writeGuardrailRollups } from '../guardrails/guardrail-rollups';
import { isAwaitedSince } from '../log-lines/line-batches';
import { LinePlace } from '../log-lines/line-place';
import { utcDay } from '../stats/utc-day';
import type { UsageFact } from '../stats/write/rollup-deltas';
import { writeRollups } from '../stats/write/rollup-write';
import { insertToolCalls } from '../tool-calls/insert-tool-calls';
import { insertFailovers } from './failover-rows';
import { insertLogBatch } from './log-batches';
import { readWriteState } from './log-fence';
import { insertRows, takeOutRows } from './log-rows';
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
    const floors = { beforeMs: await floorOf(db), callsBeforeMs: await callsFloorOf(db) };
    const write: Write<Item> = (found, items = batch.items) =>
      writeBatch(db, { ...batch, items }, { ...options, late: { ...floors, found } });
    return await write().catch(async (error: unknown) => {
      if (error instanceof LateRecordsError) return writeLate(db, batch, { error, write });
      // A day without a partition: a new database, or an externally dropped one.
      if (sqlState(error) !== '23514') throw error;
      await ensureDays(db, batch);
      return write();
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
  /** The same of tool calls. */
  readonly callsBeforeMs: number;
  /** What ClickHouse has of them; absent before anybody asked. */
  readonly found: LateRows | undefined;
}

type Write<Item> = (found?: LateRows, items?: readonly Item[]) => Promise<LogInsertResult>;

interface Again<Item> {
  readonly error: LateRecordsError;
  readonly write: Write<Item>;
}

/** Seldom: the days are made anew for rows that nobody has. */
async function writeLate<Item>(db: Db, batch: Batch<Item>, { error, write }: Again<Item>): Promise<LogInsertResult> {
  if (error.isOfLines) return writeLateLines(db, batch, { error, write });
  const found = await findLateRows(db, error.late);
  await ensureDays(db, batch);
  return write(found);
}

/** A batch names its corrections after its new records, and lines may leave between the question and the write. */
const MOST_QUESTIONS = 4;

/** While ClickHouse is away, only the late records wait for it. */
async function writeLateLines<Item>(
  db: Db,
  batch: Batch<Item>,
  { error, write }: Again<Item>,
): Promise<LogInsertResult> {
  const { items, decode } = batch;
  let isAway = false;
  const late = new Map(error.late.map((record) => [record.id.toLowerCase(), record]));
  const isLate = (item: Item) => late.has(recordOf(decode(item)).id.toLowerCase());
  for (let nth = 1; ; nth++) {
    try {
      if (!isAway) return await write(await findLateRows(db, [...late.values()]));
      const waiting = new Set<number>();
      await eachInSlices(items.keys(), (at) => void (isLate(items[at] as Item) && waiting.add(at)));
      const others = items.filter((_, at) => !waiting.has(at));
      if (others.length > 0) await write(undefined, others);
      throw new RecordsWaitError(waiting);
    } catch (again) {
      if (again instanceof LateRecordsError && nth < MOST_QUESTIONS) {
        for (const record of again.late) late.set(record.id.toLowerCase(), record);
      } else if (again instanceof EngineAwayError) isAway = true;
      // Tool calls have days in Postgres.
      else if (sqlState(again) === '23514' && nth < MOST_QUESTIONS) await ensureDays(db, batch);
      else throw again;
    }
  }
}

const recordOf = (entry: DecodedEntry): LogRecord | ToolCallRecord =>
  entry.kind === 'request' ? entry.decoded.record : entry.record;

async function ensureDays<Item>(db: Db, { items, decode }: Batch<Item>): Promise<void> {
  const days = new Set<number>();
  await eachInSlices(items, (item) => {
    days.add(Math.floor(recordOf(decode(item)).createdAtMs / DAY_MS));
  });
  await ensurePartitions(
    db,
    Array.from(days, (day) => utcDay(day * DAY_MS)),
  );
}

interface OpenWrite {
  /** Takes rows where Postgres gets none. */
  readonly lines: LinePlace | undefined;
  /** Only ClickHouse tells whether the record is new. */
  readonly isUnknown: (record: LogRecord) => boolean;
}

/** Takes the lock. */
async function openWrite(
  db: Db,
  tx: Db,
  { fence, late }: Pick<LogInsertOptions, 'fence'> & { readonly late: Late },
): Promise<OpenWrite> {
  await lockLogWrites(tx);
  const { floor, nowMs, ...state } = await readWriteState(tx);
  if (fence !== undefined && state.fence !== fence) {
    throw new RecordsOutdatedError('the counters were rebuilt since these records were read');
  }
  const { beforeMs, found } = late;
  const sinceMs = noRowsFromMs(floor);
  if (nowMs >= sinceMs) {
    const lines = await LinePlace.open(db, tx, { late: found, sinceMs });
    return { lines, isUnknown: (record) => record.corrects !== true && lines.isUnknown(record) };
  }
  const isAsked = found !== undefined && !(await isAwaitedSince(tx, floor, found.seq));
  return { lines: undefined, isUnknown: ({ createdAtMs }) => createdAtMs < beforeMs && !isAsked };
}

async function writeBatch<Item>(
  db: Db,
  { items, decode }: Batch<Item>,
  { fence, onWritten, late }: LogInsertOptions & { readonly late: Late },
): Promise<LogInsertResult> {
  const { result, stored, noteIds } = await db.transaction(async (tx) => {
    const { lines, isUnknown } = await openWrite(db, tx, { fence, late });
    const written = new WrittenRows(onWritten !== undefined);
    const seen = new Set<string>();
    const corrections = new Map<string, DecodedRecord>();
    const calls: ToolCallRecord[] = [];
    const unknown: (LogRecord | ToolCallRecord)[] = [];
    for (let i = 0; i < items.length; i += ROWS_A_STATEMENT) {
      const firsts = new Map<string, DecodedRecord>();
      await eachInSlices(items.slice(i, i + ROWS_A_STATEMENT), (item) => {
        const entry = decode(item);
        if (entry.kind === 'tool_call')
          return void (isLateCall(entry.record, late) ? unknown : calls).push(entry.record);
        const { record } = entry.decoded;
        const id = record.id.toLowerCase();
        if (isUnknown(record)) unknown.push(record);
        if (record.corrects === true) corrections.set(id, entry.decoded);
        else if (!seen.has(id) && late.found?.rows.has(id) !== true) firsts.set(id, entry.decoded);
        seen.add(id);
      });
      if (unknown.length > 0) continue;
      if (lines === undefined) await insertPart(tx, firsts, written);
      else await lines.insert(firsts, written);
    }
    if (unknown.length > 0) throw new LateRecordsError(unknown, lines !== undefined);
    const inserted = written.count;
    let replaced: number;
    if (lines === undefined) {
      replaced = await takeOut(tx, corrections, { written, late });
      await insertPart(tx, corrections, written);
    } else replaced = await lines.replace(tx, corrections, written);
    const corrected = written.count - inserted;
    lines?.pack();
    const called = await insertToolCalls(tx, calls, late.found?.calls);
    written.calls = called.written;
    written.sums.addCalls(called);
    await writeRollups(tx, written.sums);
    await writeGuardrailRollups(tx, [...written.marked, ...called.written]);
    await insertFailovers(tx, written.switches);
    const noteIds = await numberRows(tx, lines, written);
    await addBatchCosts(tx, written.sums.labelled);
    await noteKeyUses(tx, written.sums.keyUses);
    const result = {
      inserted: inserted + corrected - replaced + called.inserted,
      corrected: replaced + called.corrected,
    };
    return { result, stored: { requests: written.records, calls: called.written }, noteIds };
  });
  noteIds();
  onWritten?.(stored);
  return result;
}

/** Only ClickHouse tells whether the call is new. */
const isLateCall = ({ id, createdAtMs }: ToolCallRecord, { callsBeforeMs, found }: Late): boolean =>
  createdAtMs < callsBeforeMs && found?.asked.has(id.toLowerCase()) !== true;

/** Stores what is new as a batch of the log; call what it returns after the commit. */
async function numberRows(tx: Db, lines: LinePlace | undefined, written: WrittenRows): Promise<() => void> {
  if (lines !== undefined) return lines.close(tx, written);
  const entries = [...written.entries, ...written.calls];
  if (entries.length > 0) await insertLogBatch(tx, entries, written.sums.bySecond());
  return () => {};
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
    const dropped = late.found?.rows.get(id);
    if (dropped === undefined) here.push(record);
    else {
      // It may have come late itself, and still be here.
      const [fact = await takeOutLate(tx, dropped)] = await takeOutRows(tx, [record]);
      old.push(fact);
    }
  }
  if (here.length > 0) old.push(...(await takeOutRows(tx, here)));
  for (const fact of old) written.sums.add(fact, -1);
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
