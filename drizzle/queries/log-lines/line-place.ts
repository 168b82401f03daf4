import type { DecodedRecord } from '@llm0/core/logs/decode-log-record';
import { eachInSlices } from '@llm0/core/logs/in-slices';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { LateRecordsError, type LateRows, takeFromRun, takeOutLate } from '../clickhouse/late-rows';
import { instant } from '../instant';
import { insertLogBatch } from '../logs/log-batches';
import { takeOutRows } from '../logs/log-rows';
import type { WrittenRows } from '../logs/written-rows';
import type { UsageFact } from '../stats/write/rollup-deltas';
import { KnownIds } from './known-ids';
import {
  ENTRY_BYTES,
  hadAllBefore,
  insertLines,
  isAfter,
  type LineRow,
  listLineBatches,
  packLines,
  readEntries,
  readLines,
  toLineRow,
} from './line-batches';
import { factOfLine, readRowLine } from './row-line';

/** Of each database that this process writes to. */
const known = new WeakMap<Db, KnownIds>();

interface OpenPlace {
  readonly late: LateRows | undefined;
  /** Rows from before may be in Postgres. */
  readonly sinceMs: number;
}

/** Puts rows of one transaction beside their batch instead of into Postgres. */
export class LinePlace {
  private readonly rows = new Map<string, LineRow>();
  private corrects = false;
  private packed: Promise<Uint8Array> | undefined;

  private constructor(
    private readonly ids: KnownIds,
    /** Rows that ClickHouse has; absent before it was asked, or since it was asked too long ago. */
    private readonly late: LateRows | undefined,
  ) {}

  /** Only under `lockLogWrites`, in the transaction `tx` of `db`. */
  static async open(db: Db, tx: Db, { late, sinceMs }: OpenPlace): Promise<LinePlace> {
    const ids = await learnIds(db, tx, sinceMs);
    const place = new LinePlace(ids, late);
    const isUseful = late !== undefined && (await isWhole(tx, late.seq, ids.since?.seq));
    return isUseful ? place : new LinePlace(ids, undefined);
  }

  /** Only ClickHouse tells whether the record is new. */
  isUnknown({ id, createdAtMs }: LogRecord): boolean {
    return !isAfter(this.ids.since, createdAtMs) && !this.isAsked(id) && !this.ids.has(id);
  }

  /** Adds new rows. `part` is keyed by id in lower case. */
  async insert(part: ReadonlyMap<string, DecodedRecord>, written: WrittenRows): Promise<void> {
    await eachInSlices(part, ([id, decoded]) => {
      if (this.rows.has(id) || this.ids.has(id) || this.late?.rows.has(id) === true) return;
      this.take(id, decoded, written);
    });
  }

  /** Replaces rows by corrections. Returns the number of those that were there. */
  async replace(tx: Db, corrections: ReadonlyMap<string, DecodedRecord>, written: WrittenRows): Promise<number> {
    if (corrections.size === 0) return 0;
    const old: UsageFact[] = [];
    const unknown: LogRecord[] = [];
    const lines = await this.findLines(tx, corrections);
    for (const [id, { record }] of corrections) {
      const own = this.rows.get(id);
      const line = lines.get(id);
      // From before the mode, and still in Postgres.
      const [here] = own === undefined ? await takeOutRows(tx, [record]) : [factOfLine(own.line)];
      if (here !== undefined) old.push(here);
      else if (line !== undefined) {
        const fact = factOfLine(line);
        await takeFromRun(tx, { ...fact, runId: (readRowLine(line).run_id ?? null) as string | null });
        old.push(fact);
      } else if (!this.isAsked(id)) unknown.push(record);
      else {
        const row = this.late?.rows.get(id);
        if (row !== undefined) old.push(await takeOutLate(tx, row));
      }
    }
    if (unknown.length > 0) throw new LateRecordsError(unknown, true);
    for (const fact of old) written.sums.add(fact, -1);
    this.corrects = true;
    await eachInSlices(corrections, ([id, decoded]) => this.take(id, decoded, written));
    return old.length;
  }

  /** Once it has all rows: they are compressed while Postgres takes the sums. */
  pack(): void {
    if (this.rows.size === 0) return;
    this.packed = packLines([...this.rows.values()]);
    // The batch may fail before anybody waits for it.
    this.packed.catch(() => {});
  }

  /** Stores the batch; call what it returns after the commit. Rows of tool calls are in Postgres. */
  async close(tx: Db, written: WrittenRows): Promise<() => void> {
    if (this.rows.size + written.calls.length === 0) return () => {};
    const rows = [...this.rows.values()];
    const seq = await insertLogBatch(tx, written.calls, written.sums.bySecond());
    if (rows.length === 0) return () => {};
    await addToRuns(tx, rows);
    const { corrects, packed } = this;
    const { entries, storedAtMs } = await insertLines(tx, { seq, rows, corrects, ...(packed && { packed }) });
    const { lastSeq } = this.ids;
    return () => {
      if (this.ids.lastSeq === lastSeq) this.ids.add({ seq, storedAtMs }, entries, ENTRY_BYTES);
    };
  }

  private isAsked(id: string): boolean {
    return this.late?.asked.has(id.toLowerCase()) === true;
  }

  private take(id: string, decoded: DecodedRecord, written: WrittenRows): void {
    this.rows.set(id, toLineRow(decoded.record));
    written.add(decoded);
  }

  /** Newest lines of these ids that some store still lacks. */
  private async findLines(tx: Db, wanted: ReadonlyMap<string, DecodedRecord>): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    const times = Array.from(wanted.values(), ({ record }) => record.createdAtMs);
    for await (const { text } of readLines(tx, { fromMs: Math.min(...times), toMs: Math.max(...times) })) {
      for (const id of wanted.keys()) {
        const at = text.indexOf(`{"id":"${id}"`);
        if (at >= 0) found.set(id, text.slice(at, text.indexOf('\n', at) + 1 || undefined));
      }
    }
    return found;
  }
}

/** With the batches that others wrote meanwhile. */
async function learnIds(db: Db, tx: Db, sinceMs: number): Promise<KnownIds> {
  let ids = known.get(db);
  const list = (afterSeq: number) => listLineBatches(tx, sql`seq >= ${afterSeq} and stored_at >= ${instant(sinceMs)}`);
  let news = ids?.sinceMs === sinceMs ? await list(ids.lastSeq) : [];
  if (ids !== undefined && news.length > 0 && news[0] === ids.lastSeq) news = news.slice(1);
  else {
    // The newest batch always stays: Postgres had rows in between, or is another one, such as a restored backup.
    ids = new KnownIds(sinceMs);
    news = await list(0);
  }
  known.set(db, ids);
  for (const seq of news) {
    const batch = await readEntries(tx, seq);
    if (batch !== undefined) ids.add(batch, batch.entries, ENTRY_BYTES);
  }
  return ids;
}

/** The answer of ClickHouse holds: it had every batch before the known ones, and all later lines are still here. */
async function isWhole(tx: Db, askedSeq: number, sinceSeq: number | undefined): Promise<boolean> {
  const [gone] = await tx.execute(sql`select 1 from log_lines where seq > ${askedSeq} and lines is null limit 1`);
  return gone === undefined && hadAllBefore(tx, askedSeq, sinceSeq);
}

/** Spend of runs is kept apart from rows: their budgets are counted from it. */
async function addToRuns(tx: Db, rows: readonly LineRow[]): Promise<void> {
  const sums = new Map<string, { project_id: string; run_id: string; nano: number }>();
  for (const { projectId, runId, costNanoUsd } of rows) {
    if (runId == null || costNanoUsd === 0) continue;
    const key = `${projectId} ${runId}`;
    const sum = sums.get(key) ?? { project_id: projectId, run_id: runId, nano: 0 };
    sums.set(key, { ...sum, nano: sum.nano + costNanoUsd });
  }
  if (sums.size === 0) return;
  await tx.execute(sql`update runs r set dropped_usd = r.dropped_usd + s.nano * 0.000000001
    from jsonb_to_recordset(${JSON.stringify([...sums.values()])}::jsonb) as s(project_id uuid, run_id text, nano bigint)
    where r.project_id = s.project_id and r.run_id = s.run_id`);
}
