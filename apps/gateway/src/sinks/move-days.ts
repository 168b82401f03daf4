// ClickHouse away: the job fails and is tried again; until everything was compared once, Postgres answers.
import type { OpenClickHouse } from '@llm0/drizzle/clickhouse/log-database';
import type { Db } from '@llm0/drizzle/client';
import { askOfClient } from '@llm0/drizzle/queries/clickhouse/ask-clickhouse';
import { keepFor } from '@llm0/drizzle/queries/clickhouse/keep-for';
import { hadNoRows } from '@llm0/drizzle/queries/clickhouse/log-floor';
import { BEFORE_BATCHES, storeLines } from '@llm0/drizzle/queries/clickhouse/store-lines';
import { sumRowsElsewhere } from '@llm0/drizzle/queries/clickhouse/sum-rows';
import {
  addSums,
  listComparedDays,
  listDroppedDays,
  listEntries,
  NO_ROWS,
  noteCallsUntil,
  noteComparedDay,
  noteComplete,
  type RowSums,
  readEngineState,
  sumRows,
} from '@llm0/drizzle/queries/logs/log-days';
import { type BodyColumn, readSinkLines, type SinkEntry } from '@llm0/drizzle/queries/logs/log-sinks';
import { CALLS, LOG_TABLES, type LogTable, listPartitions, REQUESTS } from '@llm0/drizzle/queries/logs/partitions';
import type { Stretch } from '@llm0/drizzle/queries/stats/read/read-days';
import type { LogDatabaseSetting } from '../config/sinks';
import type { Job, JobContext } from '../jobs/job';

const LOOK_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Rows of newer requests may be on their way. */
const SETTLED_MS = 10 * 60_000;
const ROWS_AN_INSERT = 5_000;
/** Two bodies of a row take half a megabyte at most. */
const ROWS_WITH_BODIES = 16;
const BODIES: readonly BodyColumn[] = ['request_body', 'upstream_request_body', 'response_body'];
/** After each part, so that a backlog leaves time for requests. */
const PAUSE_MS = 20;

/**
 * Copies the days that ClickHouse lacks, newest first, and compares each of them. After all were right, ClickHouse answers.
 * An interrupted move goes on with the next day that wasn't compared. Days of requests come before those of tool calls.
 */
export function moveDays(setting: LogDatabaseSetting, open: OpenClickHouse): Job {
  return {
    name: 'log_move',
    intervalMs: LOOK_MS,
    async run(context) {
      const { db, nowMs } = context;
      await keepFor(await open(), setting);
      const { completeAtMs, floor, callsUntilMs } = await readEngineState(db, setting.name);
      const isComplete = completeAtMs !== null;
      const at = { context, setting, open };
      const moved = { days: 0, rows: 0, different: [] as string[], isStopped: false };
      const lost: string[] = [];
      for (const table of LOG_TABLES) {
        const hasNoRows = (day: string) => table === REQUESTS && hadNoRows(floor, day);
        const isSame = await moveTable({ ...at, table }, moved, { isComplete, hasNoRows });
        if (moved.isStopped) return null;
        const untilMs = dayOf(nowMs() - SETTLED_MS);
        if (isSame && table === CALLS && untilMs !== callsUntilMs) await noteCallsUntil(db, setting.name, untilMs);
        if (isSame && table === REQUESTS && !isComplete) await noteComplete(db, setting.name, nowMs());
        if (!isComplete) lost.push(...(await findLostDays({ ...at, table })));
      }
      const { isStopped: _, ...metadata } = { ...moved, lost };
      const isRight = moved.different.length === 0;
      if (isRight && moved.days === 0 && isComplete) return null;
      const differ = isRight ? '' : `; rows still differ on ${moved.different.join(', ')}`;
      const found =
        lost.length === 0 ? differ : `${differ}; rows that Postgres dropped are missing on ${lost.join(', ')}`;
      const ok = isRight && lost.length === 0;
      return { message: `copied ${moved.rows} rows of ${moved.days} days${found}`, metadata, ok };
    },
  };
}

interface Moved {
  days: number;
  rows: number;
  readonly different: string[];
  isStopped: boolean;
}

interface Wanted {
  /** ClickHouse answers already: a day is compared again when it is over. */
  readonly isComplete: boolean;
  /** The day can't be compared. */
  readonly hasNoRows: (day: string) => boolean;
}

/** Copies and compares the days of a table; false if one is still different. */
async function moveTable(at: Omit<Move, 'range'>, moved: Moved, { isComplete, hasNoRows }: Wanted): Promise<boolean> {
  const { table, setting, context } = at;
  const { db, nowMs, signal } = context;
  const compared = await listComparedDays(db, setting.name, table);
  const before = moved.different.length;
  for (const { day } of (await listPartitions(db, table.name)).toReversed()) {
    if (compared.has(day) || hasNoRows(day)) continue;
    const stretch = stretchOf(day, nowMs());
    if (stretch === undefined || (!stretch.isWhole && isComplete)) continue;
    const { isWhole, ...range } = stretch;
    const { copied, sums } = await moveDay({ ...at, range });
    moved.rows += copied;
    moved.isStopped = signal?.aborted === true;
    if (moved.isStopped) return false;
    if (sums === undefined) moved.different.push(nameOf(table, day));
    else if (isWhole) {
      await noteComparedDay(db, setting.name, { day, sums, table });
      moved.days += 1;
    }
  }
  return moved.different.length === before;
}

const dayOf = (ms: number): number => ms - (ms % DAY_MS);

const nameOf = (table: LogTable, day: string) => (table === REQUESTS ? day : `${day} (${table.name})`);

/** Days of which ClickHouse has fewer rows than when Postgres dropped them: a backup without them was restored. */
async function findLostDays({ context, setting, open, table }: Omit<Move, 'range'>): Promise<string[]> {
  const sinceMs = context.nowMs() - setting.logRetentionDays * DAY_MS;
  const lost: string[] = [];
  for (const { day, rows } of await listDroppedDays(context.db, setting.name, { sinceMs, table })) {
    const fromMs = Date.parse(day);
    const there = await sumRowsElsewhere(askOfClient(open), { fromMs, toMs: fromMs + DAY_MS }, { table });
    if (there.rows < rows) lost.push(nameOf(table, day));
  }
  return lost;
}

/** The part of a day whose rows are all there; undefined for none. */
function stretchOf(day: string, nowMs: number): (Stretch & { readonly isWhole: boolean }) | undefined {
  const fromMs = Date.parse(day);
  const toMs = Math.min(fromMs + DAY_MS, nowMs - SETTLED_MS);
  return fromMs < toMs ? { fromMs, toMs, isWhole: toMs === fromMs + DAY_MS } : undefined;
}

interface Move {
  readonly context: JobContext;
  readonly setting: LogDatabaseSetting;
  readonly open: OpenClickHouse;
  readonly table: LogTable;
  readonly range: Stretch;
}

const hasBodies = ({ setting, table }: Pick<Move, 'setting' | 'table'>) => setting.withBodies && table === REQUESTS;

/** Sums of both sides; undefined if they differ even after a copy. Hours are small enough to be summed up in a moment. */
async function moveDay(move: Move): Promise<{ readonly copied: number; readonly sums: RowSums | undefined }> {
  const { fromMs, toMs } = move.range;
  let copied = 0;
  let sums: RowSums | undefined = NO_ROWS;
  for (let atMs = fromMs; atMs < toMs && move.context.signal?.aborted !== true; atMs += HOUR_MS) {
    const hour = { ...move, range: { fromMs: atMs, toMs: Math.min(toMs, atMs + HOUR_MS) } };
    let same = await compare(hour);
    if (same === undefined) {
      copied += await copyRows(hour);
      same = await compare(hour);
    }
    sums = sums && same && addSums(sums, same);
  }
  return { copied, sums };
}

async function compare(move: Move): Promise<RowSums | undefined> {
  const { context, open, range, table } = move;
  const summed = { withBodies: hasBodies(move), table };
  const here = await sumRows(context.db, range, summed);
  const there = await sumRowsElsewhere(askOfClient(open), range, summed);
  // Bodies have a time of their own to be deleted on either side.
  const isSame = Bun.deepEquals({ ...here, bodies: 0 }, { ...there, bodies: 0 });
  return isSame && there.bodies >= here.bodies ? here : undefined;
}

async function copyRows(move: Move): Promise<number> {
  const { context, open, range, table } = move;
  const { db, signal } = context;
  let after: SinkEntry | undefined;
  let copied = 0;
  while (signal?.aborted !== true) {
    const entries = await listEntries(db, range, { after, limit: ROWS_AN_INSERT, table });
    if (entries.length === 0) break;
    const rows = await readLines(db, entries, move);
    const [lines, calls] = table === REQUESTS ? [rows, []] : [[], rows];
    await storeLines(await open(), { ...BEFORE_BATCHES, lines, calls });
    copied += rows.length;
    after = entries.at(-1);
    await Bun.sleep(PAUSE_MS);
  }
  return copied;
}

async function readLines(db: Db, entries: readonly SinkEntry[], move: Move): Promise<readonly string[]> {
  if (!hasBodies(move)) return readSinkLines(db, entries, [], move.table.name);
  const lines: string[] = [];
  for (let at = 0; at < entries.length; at += ROWS_WITH_BODIES) {
    lines.push(...(await readSinkLines(db, entries.slice(at, at + ROWS_WITH_BODIES), BODIES)));
  }
  return lines;
}
