// Postgres drops a day only after the other store had all of its rows, and after readers have asked that store for some time.
import { type SQLChunk, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { SINK_PREFIX } from '../logs/log-sinks';
import { type LogTable, listPartitions, lockToDrop, type Partition, REQUESTS } from '../logs/partitions';

const DAY_MS = 86_400_000;
/** Readers look at the floor every second; a question takes half a minute at most. */
const PUBLISHED_MS = 10 * 60_000;

/** From where on Postgres has rows of a table. */
export interface LogFloor {
  /** Has all rows from before. */
  readonly store: string;
  readonly ms: number;
  /** When it got there. */
  readonly atMs: number;
  /** Postgres lacks rows of this time and later; absent if it got all of them. */
  readonly withoutRowsMs?: number | undefined;
}

/** The floor above all rows: Postgres gets no more of them. */
export const NO_ROWS_MS = Date.UTC(2100, 0);

export const isAboveAll = ({ ms }: LogFloor): boolean => ms >= NO_ROWS_MS;
/** Readers look at the floor every second: they know of it before the first row is missing. */
const TOLD_MS = 60_000;
/** From when on writers leave rows to the store; never where Postgres gets them. */
export const noRowsFromMs = (floor: LogFloor | null): number =>
  floor !== null && isAboveAll(floor) ? floor.atMs + TOLD_MS : Number.MAX_SAFE_INTEGER;
/** A whole minute, after the time of all rows that the store has alone. */
const nextFloorMs = (nowMs: number): number => (Math.ceil(nowMs / TOLD_MS) + 1) * TOLD_MS;

/** The floor as the settings have it, as text. */
export function toFloor(text: string | number | null | undefined): LogFloor | null {
  if (typeof text !== 'string') return null;
  const { store, ms, at_ms: atMs, without_rows_ms: withoutRowsMs } = JSON.parse(text) as StoredFloor;
  return { store, ms, atMs, ...(withoutRowsMs === undefined ? {} : { withoutRowsMs }) };
}

interface StoredFloor {
  readonly store: string;
  readonly ms: number;
  readonly at_ms: number;
  readonly without_rows_ms?: number;
}

async function writeFloor(
  db: Db,
  { store, ms, atMs, withoutRowsMs }: LogFloor,
  { floorKey } = REQUESTS,
): Promise<void> {
  const stored: StoredFloor = {
    ...{ store, ms, at_ms: atMs },
    ...(withoutRowsMs === undefined ? {} : { without_rows_ms: withoutRowsMs }),
  };
  await db.execute(sql`insert into settings (key, value) values (${floorKey}, ${JSON.stringify(stored)}::jsonb)
    on conflict (key) do update set value = excluded.value, updated_at = now()`);
}

export async function readLogFloor(db: Pick<Db, 'execute'>, { floorKey } = REQUESTS): Promise<LogFloor | null> {
  const [row] = await db.execute<{ floor: string }>(
    sql`select value::text as floor from settings where key = ${floorKey}`,
  );
  return toFloor(row?.floor);
}

interface Thinning {
  readonly store: string;
  /** Days that end before are wanted gone. */
  readonly beforeMs: number;
  readonly nowMs: number;
  /** Requests unless given. */
  readonly table?: LogTable;
}

/** Sends readers of compared days to the store. Returns the floor; null while Postgres has every row. */
export async function raiseLogFloor(
  db: Db,
  { store, beforeMs, nowMs, table = REQUESTS }: Thinning,
): Promise<LogFloor | null> {
  const floor = await readLogFloor(db, table);
  // Rows of another address can't be found here.
  if (floor !== null && floor.store !== store) return floor;
  const rows = await db.execute<{ day: string }>(
    sql`select to_char(day, 'YYYY-MM-DD') as day from ${sql.identifier(table.days)} where store = ${store}`,
  );
  const compared = new Set(rows.map(({ day }) => day));
  const open = (await listPartitions(db, table.name)).find(({ day }) => !compared.has(day) && !hadNoRows(floor, day));
  const wantedMs = Math.floor(beforeMs / DAY_MS) * DAY_MS;
  const ms = Math.min(wantedMs, open === undefined ? wantedMs : Date.parse(open.day));
  if (ms <= (floor?.ms ?? 0) || (compared.size === 0 && floor === null) || (await isAwaited(db, ms))) return floor;
  const raised = { store, ms, atMs: nowMs, withoutRowsMs: floor?.withoutRowsMs };
  await writeFloor(db, raised, table);
  return raised;
}

/** Leaves all rows to the store that has every day: writers do so a minute later. */
export async function endRows(db: Db, store: string, nowMs: number): Promise<LogFloor> {
  const floor = await readLogFloor(db);
  const ended = { store, ms: NO_ROWS_MS, atMs: nowMs, withoutRowsMs: floor?.withoutRowsMs ?? nowMs + TOLD_MS };
  await writeFloor(db, ended);
  return ended;
}

/** Postgres gets rows again; those of until now stay in the store alone. */
export async function beginRows(db: Db, nowMs: number): Promise<void> {
  const floor = await readLogFloor(db);
  if (floor !== null && isAboveAll(floor)) await writeFloor(db, { ...floor, ms: nextFloorMs(nowMs), atMs: nowMs });
}

/** The store may have rows of the day that Postgres never got: they can't be compared. */
export const hadNoRows = (floor: LogFloor | null, day: string): boolean =>
  floor?.withoutRowsMs !== undefined && Date.parse(day) < floor.ms;

/** Drops the days before the floor, once readers know of it; returns them. */
export async function dropBelowFloor(
  db: Db,
  floor: LogFloor,
  { nowMs, table = REQUESTS }: Pick<Thinning, 'nowMs' | 'table'>,
): Promise<readonly string[]> {
  if (nowMs - floor.atMs < PUBLISHED_MS) return [];
  const days: string[] = [];
  for (const partition of await listPartitions(db, table.name)) {
    if (Date.parse(partition.day) + DAY_MS > floor.ms) break;
    if (await dropDay(db, { ...partition, store: floor.store, compared: sql.identifier(table.days) })) {
      days.push(partition.day);
    }
  }
  return days;
}

interface DroppedDay extends Partition {
  readonly store: string;
  /** The table of compared days. */
  readonly compared: SQLChunk;
}

/** Spend of runs is kept: their budgets are counted from it. */
async function dropDay(db: Db, { store, compared, table, day }: DroppedDay): Promise<boolean> {
  return db.transaction(async (tx) => {
    await lockToDrop(tx);
    const [known] = await tx.execute(sql`select 1 from ${compared} where store = ${store} and day = ${day}::date`);
    if (known === undefined || (await isAwaited(tx, Date.parse(day) + DAY_MS))) return false;
    const rows = sql.identifier(table);
    await tx.execute(sql`update runs r set dropped_usd = r.dropped_usd + s.usd
      from (select project_id, run_id, sum(cost_usd) as usd from ${rows} where run_id is not null group by 1, 2) as s
      where r.project_id = s.project_id and r.run_id = s.run_id`);
    await tx.execute(sql`update ${compared} set dropped_at = now() where store = ${store} and day = ${day}::date`);
    await tx.execute(sql`drop table ${rows}`);
    return true;
  });
}

/** A copy of rows from before is still to come, in whichever store. */
async function isAwaited(db: Db, beforeMs: number): Promise<boolean> {
  const [row] = await db.execute(sql`
    select 1 from log_batches b, jsonb_array_elements(b.entries) as entry
    where b.seq > (select min((value->>'seq')::bigint) from settings where starts_with(key, ${SINK_PREFIX}))
      and (entry->>0)::bigint < ${beforeMs} limit 1`);
  return row !== undefined;
}
