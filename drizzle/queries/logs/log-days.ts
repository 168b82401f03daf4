import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { nanoFromUsd } from '../../money';
import { type LogFloor, toFloor } from '../clickhouse/log-floor';
import { instant } from '../instant';
import type { Stretch } from '../stats/read/read-days';
import { CALL_ENGINE_PREFIX, ENGINE_PREFIX, type SinkEntry } from './log-sinks';
import { CALLS, LOG_TABLES, type LogTable, REQUESTS } from './partitions';

/** What is compared of a stretch of rows; equal sums mean equal rows. */
export interface RowSums {
  readonly rows: number;
  readonly costNanoUsd: number;
  readonly savedNanoUsd: number;
  readonly tokens: number;
  readonly refused: number;
  /** Of the last four bytes of their ids. */
  readonly ids: number;
  /** Kept prompts and answers. */
  readonly bodies: number;
}

/** How far the copy of the log in another store has got. */
export interface EngineState {
  /** Since when it has all rows, and answers; null before. */
  readonly completeAtMs: number | null;
  /** Tool calls from before were all compared; 0 without any. */
  readonly callsUntilMs: number;
  /** Days that were compared. */
  readonly days: number;
  readonly rows: number;
  readonly costNanoUsd: number;
  readonly failingSinceMs: number | null;
  readonly problem: string | null;
  readonly waitingSinceMs: number | null;
  /** Rows from before are in this store alone; null while Postgres has all of them. */
  readonly floor: LogFloor | null;
  /** The same of tool calls; never later. */
  readonly callFloor: LogFloor | null;
}

export async function readEngineState(db: Db, store: string): Promise<EngineState> {
  const [row] = await db.execute<Record<string, number | string | null>>(sql`
    select (select (value->>'complete_at_ms')::float8 from settings where key = ${ENGINE_PREFIX + store}) as complete,
      (select (value->>'until_ms')::float8 from settings where key = ${CALL_ENGINE_PREFIX + store}) as calls_until,
      (select value::text from settings where key = ${REQUESTS.floorKey}) as floor,
      (select value::text from settings where key = ${CALLS.floorKey}) as call_floor,
      d.days, d.rows, d.usd, (s.value->>'failing_since_ms')::float8 as failing, s.value->>'problem' as problem,
      (select extract(epoch from b.created_at)::float8 * 1000 from log_batches b
        where b.seq > (s.value->>'seq')::bigint order by b.seq limit 1) as waiting
    from (select count(*)::int as days, coalesce(sum(rows), 0)::float8 as rows,
        coalesce(sum(cost_usd), 0)::numeric(30,9)::text as usd from log_days where store = ${store}) as d
      left join settings s on s.key = ${`log_sink:${store}`}`);
  return {
    ...{ completeAtMs: numberOf(row?.complete), days: Number(row?.days ?? 0), rows: Number(row?.rows ?? 0) },
    ...{ costNanoUsd: nanoFromUsd(String(row?.usd ?? '0')), failingSinceMs: numberOf(row?.failing) },
    ...{ problem: (row?.problem ?? null) as string | null, waitingSinceMs: numberOf(row?.waiting) },
    ...{ floor: toFloor(row?.floor), callFloor: toFloor(row?.call_floor) },
    callsUntilMs: Number(row?.calls_until ?? 0),
  };
}

const numberOf = (value: number | string | null | undefined) =>
  value === null || value === undefined ? null : Number(value);

/** From now on the store answers. */
export async function noteComplete(db: Db, store: string, nowMs: number): Promise<void> {
  await db.execute(sql`insert into settings (key, value)
    values (${ENGINE_PREFIX + store}, jsonb_build_object('complete_at_ms', ${nowMs}::bigint)) on conflict (key) do nothing`);
}

/** From now on the store answers for tool calls from before that instant. */
export async function noteCallsUntil(db: Db, store: string, ms: number): Promise<void> {
  await db.execute(sql`insert into settings (key, value)
    values (${CALL_ENGINE_PREFIX + store}, jsonb_build_object('until_ms', ${ms}::bigint))
    on conflict (key) do update set value = excluded.value, updated_at = now()`);
}

/** Every day is compared again; until then, Postgres answers. */
export async function forgetComparisons(db: Db, store: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(sql`delete from settings where key in (${ENGINE_PREFIX + store}, ${CALL_ENGINE_PREFIX + store})`);
    for (const { days } of LOG_TABLES) {
      await tx.execute(sql`delete from ${sql.identifier(days)} where store = ${store} and dropped_at is null`);
    }
  });
}

export async function listComparedDays(db: Db, store: string, table = REQUESTS): Promise<ReadonlySet<string>> {
  const rows = await db.execute<{ day: string }>(
    sql`select to_char(day, 'YYYY-MM-DD') as day from ${sql.identifier(table.days)} where store = ${store}`,
  );
  return new Set(rows.map(({ day }) => day));
}

/** Days since an instant that Postgres no longer has, with the number of rows that the store had. */
export async function listDroppedDays(
  db: Db,
  store: string,
  { sinceMs, table = REQUESTS }: { readonly sinceMs: number; readonly table?: LogTable },
): Promise<readonly { readonly day: string; readonly rows: number }[]> {
  const days = await db.execute<{ day: string; rows: string }>(sql`
    select to_char(day, 'YYYY-MM-DD') as day, rows from ${sql.identifier(table.days)}
    where store = ${store} and dropped_at is not null and day >= (${instant(sinceMs)} at time zone 'UTC')::date order by day`);
  return days.map(({ day, rows }) => ({ day, rows: Number(rows) }));
}

export async function noteComparedDay(
  db: Db,
  store: string,
  { day, sums, table = REQUESTS }: { readonly day: string; readonly sums: RowSums; readonly table?: LogTable },
): Promise<void> {
  await db.execute(sql`insert into ${sql.identifier(table.days)} (store, day, rows, cost_usd)
    values (${store}, ${day}::date, ${sums.rows}, ${sums.costNanoUsd} * 0.000000001) on conflict (store, day) do nothing`);
}

const within = ({ fromMs, toMs }: Stretch) => sql`created_at >= ${instant(fromMs)} and created_at < ${instant(toMs)}`;

/** How a stretch is summed up. */
export interface SumOptions {
  readonly withBodies?: boolean;
  readonly table?: LogTable;
}

export async function sumRows(
  db: Db,
  stretch: Stretch,
  { withBodies = false, table = REQUESTS }: SumOptions = {},
): Promise<RowSums> {
  const { saved, tokens, refused } = table.sums;
  const bodies = withBodies
    ? sql`(select count(*)::float8 from gateway_log_bodies where ${within(stretch)})`
    : sql`0::float8`;
  const [row] = await db.execute<Record<string, number | string>>(sql`
    select count(*)::float8 as rows, coalesce(sum(cost_usd), 0)::numeric(30,9)::text as cost,
      coalesce(${sql.raw(saved)}, 0)::numeric(30,9)::text as saved, coalesce(${sql.raw(tokens)}, 0)::float8 as tokens,
      coalesce(${sql.raw(refused)}, 0)::float8 as refused, ${bodies} as bodies,
      coalesce(sum(('x' || right(id::text, 8))::bit(32)::bigint), 0)::float8 as ids
    from ${sql.identifier(table.name)} where ${within(stretch)}`);
  return toSums(row ?? {});
}

export const NO_ROWS: RowSums = {
  ...{ rows: 0, costNanoUsd: 0, savedNanoUsd: 0, tokens: 0 },
  ...{ refused: 0, ids: 0, bodies: 0 },
};

export const addSums = (a: RowSums, b: RowSums): RowSums => ({
  rows: a.rows + b.rows,
  costNanoUsd: a.costNanoUsd + b.costNanoUsd,
  savedNanoUsd: a.savedNanoUsd + b.savedNanoUsd,
  tokens: a.tokens + b.tokens,
  refused: a.refused + b.refused,
  ids: a.ids + b.ids,
  bodies: a.bodies + b.bodies,
});

/** Sums of a statement in either store. */
export function toSums(row: Readonly<Record<string, unknown>>): RowSums {
  const count = (name: string) => Number(row[name] ?? 0);
  const money = (name: string) => nanoFromUsd(String(row[name] ?? '0'));
  return {
    ...{ rows: count('rows'), costNanoUsd: money('cost'), savedNanoUsd: money('saved'), tokens: count('tokens') },
    ...{ refused: count('refused'), ids: count('ids'), bodies: count('bodies') },
  };
}

interface EntryOptions {
  readonly after: SinkEntry | undefined;
  readonly limit: number;
  readonly table?: LogTable;
}

/** Times and ids of the next rows, oldest first. */
export async function listEntries(
  db: Db,
  { fromMs, toMs }: Stretch,
  { after, limit, table = REQUESTS }: EntryOptions,
): Promise<readonly SinkEntry[]> {
  const later = after === undefined ? sql`true` : sql`(created_at, id) > (${instant(after[0])}, ${after[1]}::uuid)`;
  const rows = await db.execute<{ ms: number; id: string }>(sql`
    select (extract(epoch from created_at) * 1000)::float8 as ms, id from ${sql.identifier(table.name)}
    where ${within({ fromMs: after?.[0] ?? fromMs, toMs })} and ${later} order by created_at, id limit ${limit}`);
  return rows.map(({ ms, id }) => [ms, id]);
}
