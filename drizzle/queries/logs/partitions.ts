import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { utcDay } from '../stats/utc-day';

const DAY_MS = 86_400_000;
/** A table of rows by day that ClickHouse has too. */
export interface LogTable {
  readonly name: 'gateway_logs' | 'tool_calls';
  /** Its days that were compared. */
  readonly days: 'log_days' | 'call_days';
  /** Setting that tells from where on Postgres has its rows. */
  readonly floorKey: string;
  /** What is compared besides number, cost and ids; in the SQL of both stores. */
  readonly sums: Readonly<Record<'saved' | 'tokens' | 'refused', string>>;
}

export const REQUESTS: LogTable = {
  name: 'gateway_logs',
  days: 'log_days',
  floorKey: 'log_floor',
  sums: { saved: 'sum(saved_usd)', tokens: 'sum(tokens_total)', refused: 'sum(coalesce(refused_count, 1))' },
};

/** Calls of MCP tools: bytes in place of tokens, failures in place of refusals. */
export const CALLS: LogTable = {
  name: 'tool_calls',
  days: 'call_days',
  floorKey: 'call_floor',
  sums: { saved: '0', tokens: 'sum(bytes_in + bytes_out)', refused: 'count(*) filter (where is_error)' },
};

/** Both have the same days. Requests come first: calls never leave Postgres before them. */
export const LOG_TABLES = [REQUESTS, CALLS] as const;

export type PartitionedTable = LogTable['name'];
const TABLES = LOG_TABLES.map(({ name }) => name);

/** Serializes all writers of these tables and partitions, across processes. */
const LOG_WRITE_LOCK = 7_107_330_003;

/** Held until the transaction ends. */
export async function lockLogWrites(tx: Db): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${sql.raw(String(LOG_WRITE_LOCK))})`);
}

/**
 * Makes the daily partitions of these days (`YYYY-MM-DD`, UTC) where they are missing; returns the days made. A partition
 * is made apart and then attached, which never blocks readers or writers of the table.
 */
export async function ensurePartitions(db: Db, days: readonly string[]): Promise<readonly string[]> {
  if (days.length === 0) return [];
  return db.transaction(async (tx) => {
    await lockLogWrites(tx);
    const made = new Set<string>();
    for (const table of TABLES) {
      const existing = new Set((await listPartitions(tx, table)).map((partition) => partition.day));
      for (const day of new Set(days)) {
        if (existing.has(day)) continue;
        await makePartition(tx, table, day);
        made.add(day);
      }
    }
    return [...made].sort();
  });
}

async function makePartition(tx: Db, table: PartitionedTable, day: string): Promise<void> {
  const whole = sql.identifier(table);
  const part = sql.identifier(`${table}_${day.replaceAll('-', '')}`);
  const from = sql.raw(`'${day} 00:00:00+00'`);
  const to = sql.raw(`'${utcDay(Date.parse(day) + DAY_MS)} 00:00:00+00'`);
  await tx.execute(sql`create table ${part} (like ${whole} including defaults including constraints)`);
  await tx.execute(sql`alter table ${whole} attach partition ${part} for values from (${from}) to (${to})`);
}

/** Today's partition and those of the next `daysAhead` days. */
export async function ensurePartitionsAhead(db: Db, nowMs: number, daysAhead = 7): Promise<readonly string[]> {
  const days = Array.from({ length: daysAhead + 1 }, (_, index) => utcDay(nowMs + index * DAY_MS));
  return ensurePartitions(db, days);
}

export interface Partition {
  readonly table: string;
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
}

/** Oldest first. */
export async function listPartitions(db: Db, table: PartitionedTable = 'gateway_logs'): Promise<readonly Partition[]> {
  const rows = await db.execute<{ name: string }>(sql`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = ${table}::regclass order by c.relname`);
  return rows.map(({ name }) => {
    const digits = name.slice(table.length + 1);
    return { table: name, day: `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6, 8)}` };
  });
}

/** Dropping needs the whole table for a moment: it fails, until the next run, rather than block the queue. */
export async function lockToDrop(tx: Db): Promise<void> {
  await tx.execute(sql`set local lock_timeout = '5s'`);
  await lockLogWrites(tx);
}

/** Drops partitions of days before `beforeMs`, and failover rows of that time; returns the days. */
export async function dropPartitionsBefore(db: Db, beforeMs: number): Promise<readonly string[]> {
  const all = (await Promise.all(TABLES.map((table) => listPartitions(db, table)))).flat();
  const old = all.filter(({ day }) => Date.parse(day) + DAY_MS <= beforeMs);
  for (const { table } of old) {
    await db.transaction(async (tx) => {
      await lockToDrop(tx);
      await tx.execute(sql`drop table ${sql.identifier(table)}`);
    });
  }
  const firstKept = utcDay(beforeMs);
  await db.execute(sql`delete from failover_logs where created_at < ${firstKept}::date::timestamp at time zone 'UTC'`);
  return [...new Set(old.map(({ day }) => day))];
}
