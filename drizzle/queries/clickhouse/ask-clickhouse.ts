// Without an answer of ClickHouse in time, questions throw `EngineAwayError`, and readers answer from Postgres if it has
// the rows.
import type { ClickHouseClient } from '@clickhouse/client';
import { inTime } from '@llm0/core/async/in-time';
import type { SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import type { Ask } from '../stats/read/time-limit';
import { withLabelColumns } from './label-columns';

/** As the code of an error, which outlives a change of threads. */
export const ENGINE_AWAY = 'ENGINE_AWAY';

/** ClickHouse did not answer, or not in time. */
export class EngineAwayError extends Error {
  readonly code = ENGINE_AWAY;
}

const LIMIT_SECONDS = 2.8;
/** A server that hangs doesn't keep its own limit. */
const WAIT_MS = 3000;
/**
 * Errors of a statement, which are ours: an answer of Postgres would hide them. Unknown identifier, syntax, types, arguments.
 * https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp
 */
const OF_STATEMENT: ReadonlySet<string> = new Set([
  '6',
  '36',
  '42',
  '43',
  '44',
  '46',
  '47',
  '53',
  '62',
  '70',
  '72',
  '386',
]);

const SETTINGS = {
  max_execution_time: LIMIT_SECONDS,
  // Texts, which no number of JavaScript rounds.
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  // As in Postgres, where a name means the column.
  prefer_column_name_to_alias: 1,
  // Rows of one id have one time, and so one partition.
  do_not_merge_across_partitions_select_final: 1,
  use_skip_indexes_if_final: 1,
} as const;

const dialect = new PgDialect();

/** Text of a statement for ClickHouse, with its values written out. */
export function renderForClickHouse(query: SQL): string {
  const { sql: text, params } = dialect.sqlToQuery(query);
  return text.replace(/\$(\d{1,4})/g, (_, index: string) => literalOf(params[Number(index) - 1]));
}

/** https://clickhouse.com/docs/sql-reference/syntax#string */
function literalOf(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return `'${value.replace(/[\\']/g, '\\$&').replaceAll('\0', '\\0')}'`;
  throw new TypeError(`ClickHouse takes no ${typeof value} here`);
}

/** Asks in the SQL of ClickHouse, which texts of Postgres mostly are too. Throws after 3 s. */
export function askOfClient(
  open: () => Promise<ClickHouseClient>,
  hotLabels: readonly string[] = [],
  waitMs = WAIT_MS,
): Ask {
  return async <T extends Record<string, unknown>>(query: SQL) => {
    const text = withLabelColumns(renderForClickHouse(query), hotLabels);
    const ended = new AbortController();
    const ask = async () => {
      const client = await open();
      const settings = { clickhouse_settings: { ...SETTINGS }, abort_signal: ended.signal };
      const found = await client.query({ query: text, format: 'JSONEachRow', ...settings });
      return await found.json<T>();
    };
    try {
      return await inTime(ask(), waitMs, () => {
        throw new Error(`no answer within ${waitMs} ms`);
      });
    } catch (error) {
      ended.abort();
      throw toOurs(error);
    }
  };
}

/** A question that takes too long, and a server that refuses it, leave it to Postgres. */
function toOurs(error: unknown): Error {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  if (error instanceof Error && OF_STATEMENT.has(String(code))) return error;
  return new EngineAwayError(String(message ?? error), { cause: error });
}
