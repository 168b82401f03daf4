import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { instant } from '../instant';
import type { PartitionedTable } from './partitions';

/** How far a sink has got. Kept as a setting, so that batches stay as long as a sink needs them. */
export interface SinkState {
  /** Address without options. */
  readonly name: string;
  /** Last batch that it has. */
  readonly seq: number;
  /** Since when it takes nothing; null while it does. */
  readonly failingSinceMs: number | null;
  readonly problem: string | null;
  /** When its first batch was stored that it doesn't have; null without one. */
  readonly waitingSinceMs: number | null;
}

export const SINK_PREFIX = 'log_sink:';
/** Setting of a sink that answers in place of Postgres: since when it has all rows. */
export const ENGINE_PREFIX = 'log_engine:';
/** The same of tool calls: until when it has all of them. */
export const CALL_ENGINE_PREFIX = 'call_engine:';

const keysOf = (names: readonly string[]) => JSON.stringify(names.map((name) => SINK_PREFIX + name));

/** Creates new sinks, which begin with the next batch. What a former one of the name had is not known. */
export async function addSinks(db: Pick<Db, 'execute'>, names: readonly string[]): Promise<void> {
  await db.execute(sql`with made as (
      insert into settings (key, value)
      select key, jsonb_build_object('seq', coalesce(
        -- Rows that nobody has, and Postgres neither.
        (select min(seq) - 1 from log_lines where lines is not null), (select max(seq) from log_batches), 0))
      from jsonb_array_elements_text(${keysOf(names)}::jsonb) as key on conflict (key) do nothing
      returning substr(key, ${SINK_PREFIX.length + 1}) as name
    ), days as (delete from log_days where dropped_at is null and store in (select name from made)
    ), calls as (delete from call_days where dropped_at is null and store in (select name from made))
    delete from settings where key in (
      select prefix || name from made, unnest(array[${ENGINE_PREFIX}, ${CALL_ENGINE_PREFIX}]::text[]) as prefix)`);
}

/** Creates new sinks, and forgets all others. */
export async function settleSinks(db: Db, names: readonly string[]): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(sql`delete from settings where starts_with(key, ${SINK_PREFIX})
      and key not in (select jsonb_array_elements_text(${keysOf(names)}::jsonb))`);
    await addSinks(tx, names);
  });
}

export async function listSinks(db: Db): Promise<readonly SinkState[]> {
  const rows = await db.execute<{
    name: string;
    seq: string;
    failing: number | null;
    problem: string | null;
    waiting: number | null;
  }>(sql`
    select substr(s.key, ${SINK_PREFIX.length + 1}) as name, s.value->>'seq' as seq,
      (s.value->>'failing_since_ms')::float8 as failing, s.value->>'problem' as problem,
      (select extract(epoch from b.created_at)::float8 * 1000 from log_batches b
        where b.seq > (s.value->>'seq')::bigint order by b.seq limit 1) as waiting
    from settings s where starts_with(s.key, ${SINK_PREFIX}) order by s.key`);
  return rows.map(({ name, seq, failing, problem, waiting }) => ({
    ...{ name, seq: Number(seq), problem },
    ...{ failingSinceMs: failing, waitingSinceMs: waiting },
  }));
}

/** The last batch that a sink has; 0 without such a sink. */
export async function readSinkSeq(db: Db, name: string): Promise<number> {
  const [row] = await db.execute<{ seq: string }>(
    sql`select value->>'seq' as seq from settings where key = ${SINK_PREFIX + name}`,
  );
  return Number(row?.seq ?? 0);
}

/** The sink has everything up to this batch. */
export async function advanceSink(db: Db, name: string, seq: number): Promise<void> {
  await db.execute(sql`update settings set value = jsonb_build_object('seq', ${seq}::bigint), updated_at = now()
    where key = ${SINK_PREFIX + name}`);
}

export async function noteSinkFailure(db: Db, name: string, { atMs, problem }: { atMs: number; problem: string }) {
  const failure = JSON.stringify({ failing_since_ms: atMs, problem });
  await db.execute(sql`update settings set updated_at = now(),
    value = ${failure}::jsonb || value || jsonb_build_object('problem', ${problem}::text)
    where key = ${SINK_PREFIX + name}`);
}

/** Milliseconds of `created_at`, and id of a row; a third value marks that of a tool call. */
export type SinkEntry = readonly [createdAtMs: number, id: string, isCall?: 1];

export interface SinkPart {
  readonly entries: readonly SinkEntry[];
  /** Rows of `log_lines` that belong to it too. */
  readonly lines: number;
  /** The last batch in it; the asked one without any. */
  readonly seq: number;
}

export interface SinkPartOptions {
  readonly afterSeq: number;
  /** No batch after this one. */
  readonly lastSeq?: number | undefined;
  /** Batches that were stored before this instant. */
  readonly beforeMs: number;
  readonly mostRows: number;
}

/** Lines are stored as they are, so that a part has this many more of them. */
const LINES_FOR_A_ROW = 4;

/** The next rows in the order in which they were stored, in whole batches. A corrected row comes again, under the same id. */
export async function readSinkPart(db: Db, options: SinkPartOptions): Promise<SinkPart> {
  const { afterSeq, lastSeq = Number.MAX_SAFE_INTEGER, beforeMs, mostRows } = options;
  const [row] = await db.execute<{ entries: SinkEntry[] | null; lines: string | null; seq: string | null }>(sql`
    with counted as (
      select seq, entries, lines,
        sum(jsonb_array_length(entries) + lines / ${LINES_FOR_A_ROW}) over (order by seq) as total
      from (
        select b.seq, b.entries, coalesce(l.rows, 0) as lines
        from log_batches b left join log_lines l on l.seq = b.seq where b.seq > ${afterSeq} and b.seq <= ${lastSeq}
          -- In the order of commits: one that began earlier may follow one that began later.
          and b.seq < coalesce((select min(seq) from log_batches
            where seq > ${afterSeq} and created_at >= ${instant(beforeMs)}), 9223372036854775807)
        order by b.seq limit ${mostRows}) as next
    ), taken as (
      select seq, entries, lines from counted where total <= ${mostRows} or seq = (select min(seq) from counted)
    )
    select (select jsonb_agg(entry order by seq) from taken, jsonb_array_elements(entries) as entry) as entries,
      (select sum(lines) from taken) as lines, (select max(seq) from taken) as seq`);
  return { entries: row?.entries ?? [], lines: Number(row?.lines ?? 0), seq: Number(row?.seq ?? afterSeq) };
}

/** Kept with a request. */
export type BodyColumn = 'request_body' | 'upstream_request_body' | 'response_body';

/** The rows as JSON, one a line, without those that were deleted meanwhile. */
export async function readSinkLines(
  db: Db,
  entries: readonly SinkEntry[],
  bodies: readonly BodyColumn[],
  table: PartitionedTable = 'gateway_logs',
): Promise<readonly string[]> {
  if (entries.length === 0) return [];
  const pairs = sql.raw(bodies.map((name) => `'${name}', b.${name}`).join(', '));
  const kept =
    bodies.length === 0
      ? sql``
      : sql`|| coalesce((select jsonb_build_object(${pairs})
          from gateway_log_bodies b where b.request_id = g.request_id), '{}')`;
  const rows = await db.execute<{ line: string }>(sql`
    with wanted as materialized (
      select to_timestamp((entry->>0)::bigint / 1000.0) as created_at, (entry->>1)::uuid as id
      from jsonb_array_elements(${JSON.stringify(entries)}::jsonb) as entry
    )
    select (to_jsonb(g) ${kept})::text as line from ${sql.identifier(table)} g
    where g.created_at = any(array(select created_at from wanted)) and g.id = any(array(select id from wanted))`);
  return rows.map(({ line }) => line);
}
