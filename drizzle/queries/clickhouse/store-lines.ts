import type { ClickHouseClient } from '@clickhouse/client';

/** Rows of some batches, in the order in which Postgres stored them. */
export interface BatchedLines {
  /** The batch before the first one. */
  readonly afterSeq: number;
  /** The last one. */
  readonly seq: number;
  /** A JSON object each, as Postgres writes a row. */
  readonly lines: readonly string[];
  /** The same of tool calls. */
  readonly calls?: readonly string[];
}

/** Rows from before the batches, of which any may be there already. */
export const BEFORE_BATCHES = { afterSeq: 0, seq: 0 } as const;

/** The last batch after this one that ClickHouse has, whole or in part; undefined without one. */
export async function findLastBatch(client: ClickHouseClient, afterSeq: number): Promise<number | undefined> {
  const found = await client.query({
    query: `select max(batch) as last from (select batch from gateway_logs where batch > {afterSeq: UInt64}
      union all select batch from tool_calls where batch > {afterSeq: UInt64})`,
    query_params: { afterSeq },
    format: 'JSONEachRow',
  });
  const [row] = await found.json<{ last: string | number }>();
  const last = Number(row?.last ?? 0);
  return last === 0 ? undefined : last;
}

/** Text in a body has its quotes escaped, so it doesn't match. */
const hasBody = (line: string) => line.includes('"request_body": ');

/** Stores lines once: a repetition of the same batches changes nothing. */
export async function storeLines(
  client: ClickHouseClient,
  { afterSeq, seq, lines, calls = [] }: BatchedLines,
): Promise<void> {
  const newest = newestLines(lines);
  const newestCalls = newestLines(calls);
  // Rows without a batch are versions older than any: inserting them again is harmless, and may be meant.
  const token =
    seq === 0 ? crypto.randomUUID() : `${afterSeq}-${seq}-${smallestOf([...newest.keys(), ...newestCalls.keys()])}`;
  // Bodies go first: `findLastBatch` asks the others.
  const tables = [
    ['gateway_log_bodies', [...newest.values()].filter(hasBody)],
    ['tool_calls', [...newestCalls.values()]],
    ['gateway_logs', [...newest.values()]],
  ] as const;
  for (const [table, kept] of tables) {
    if (kept.length === 0) continue;
    // Postgres writes an object with at least its id, so the first field takes a comma.
    const values = kept.map((line) => `{"batch": ${seq}, ${line.slice(1)}`).join('\n');
    await client.command({
      query: `insert into ${table} format JSONEachRow\n${values}\n`,
      clickhouse_settings: {
        insert_deduplicate: 1,
        insert_deduplication_token: token,
        // Repeated insertions are recognized only by whole blocks, made here and now.
        async_insert: 0,
        date_time_input_format: 'best_effort',
        input_format_skip_unknown_fields: 1,
        input_format_null_as_default: 1,
        input_format_json_read_objects_as_strings: 1,
        input_format_json_read_arrays_as_strings: 1,
      },
    });
  }
}

const ID = /^\{"id": ?"([0-9a-f-]{36})"/;

/** By id: a row and its correction have the same version if they go together. */
function newestLines(lines: readonly string[]): ReadonlyMap<string, string> {
  const newest = new Map<string, string>();
  for (const line of lines) newest.set(ID.exec(line)?.[1] ?? line, line);
  return newest;
}

/** A new Postgres numbers its batches from one again: without an id, ClickHouse would take them for the former ones. */
function smallestOf(ids: Iterable<string>): string {
  let smallest = '';
  for (const id of ids) if (smallest === '' || id < smallest) smallest = id;
  return smallest;
}
