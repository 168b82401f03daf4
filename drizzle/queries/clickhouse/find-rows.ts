import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { nanoFromUsd } from '../../money';
import { gatewayLogs } from '../../schema/gateway-logs';
import type { LogSort, SortedPosition } from '../logs/log-sorts';
import type { LogFilter, StoredLog } from '../logs/logs';
import type { Stretch } from '../stats/read/read-days';
import { OUTCOME_OF_ROW } from '../stats/read/segment-sql';
import type { Ask } from '../stats/read/time-limit';
import { rowsWhere } from './rows-where';
import { CREATED_MS, instantOf, LAST_MS, ROWS } from './segment-rows';

export type FoundRow = Readonly<Record<string, unknown>>;

/** Values by the type of their column in Postgres; others are as ClickHouse has them. */
const READERS: Readonly<Record<string, (value: unknown) => unknown>> = {
  'numeric(20,9)': (value) => nanoFromUsd(String(value)),
  'timestamp (3) with time zone': Number,
  bigint: Number,
  jsonb: (value) => (typeof value === 'string' ? JSON.parse(value) : isEmpty(value) ? null : value),
};

/** A map without entries stands for a row without labels. */
const isEmpty = (value: unknown) => Object.keys(value as object).length === 0;

/** Columns of a table as ClickHouse selects them, and how a row of Postgres comes out of them. */
export function columnsOf<T>(table: PgTable) {
  const columns: readonly (readonly [field: string, column: PgColumn])[] = Object.entries(getTableColumns(table));
  const selected = sql.join(
    columns.map(([, { name }]) => (name === 'created_at' ? sql`${CREATED_MS} as created_at` : sql.raw(name))),
    sql`, `,
  );
  const toStored = (row: FoundRow): T => {
    const entries = columns.map(([field, column]) => {
      const value = row[column.name];
      const read = READERS[column.getSQLType()];
      return [field, value === null || read === undefined ? value : read(value)];
    });
    return Object.fromEntries(entries) as T;
  };
  return { selected, toStored };
}

const { selected: SELECTED, toStored } = columnsOf<StoredLog>(gatewayLogs);

export interface FindRows {
  readonly filter: LogFilter;
  readonly sort: LogSort;
  readonly at: SortedPosition | undefined;
  readonly limit: number;
}

/** The first rows of an order, after a position. */
export async function findRows(ask: Ask, { filter, sort, at, limit }: FindRows): Promise<readonly StoredLog[]> {
  const { orderBy, after } = orderOf(sort);
  const where = rowsWhere(filter, ...(at === undefined ? [] : [after(at)]));
  const rows = await ask<FoundRow>(
    sql`select ${SELECTED} from ${ROWS} where ${where} order by ${orderBy} limit ${limit}`,
  );
  return rows.map(toStored);
}

/** The newest rows of some batches. */
export async function findRowsOfBatches(
  ask: Ask,
  filter: LogFilter,
  { afterSeq, lastSeq, limit }: { readonly afterSeq: number; readonly lastSeq: number; readonly limit: number },
): Promise<readonly StoredLog[]> {
  const where = rowsWhere(filter, sql`batch > ${afterSeq} and batch <= ${lastSeq}`);
  const { orderBy } = orderOf('-created_at');
  const rows = await ask<FoundRow>(
    sql`select ${SELECTED} from ${ROWS} where ${where} order by ${orderBy} limit ${limit}`,
  );
  return rows.map(toStored);
}

/** The same in the order of time: most questions have their rows near the beginning, where few parts are read. */
export async function findInTime(ask: Ask, question: FindRows): Promise<readonly StoredLog[]> {
  const { filter, sort, at, limit } = question;
  const isDescending = sort.startsWith('-');
  const startMs = isDescending
    ? Math.min(filter.toMs ?? Number.POSITIVE_INFINITY, (at?.createdAtMs ?? Number.POSITIVE_INFINITY) + 1)
    : Math.max(filter.fromMs ?? 0, at?.createdAtMs ?? 0);
  if (!Number.isFinite(startMs) || startMs === 0) return findRows(ask, question);
  const range = isDescending
    ? { fromMs: filter.fromMs ?? 0, toMs: startMs }
    : { fromMs: startMs, toMs: filter.toMs ?? LAST_MS };
  return inStretches({ ...range, isDescending, limit }, (stretch, most) =>
    findRows(ask, { ...question, filter: { ...filter, ...stretch }, limit: most }),
  );
}

/** The first stretch; each further one is as long as four of the one before. */
const STRETCH_MS = 3_600_000;
const STRETCHES = 5;

/** The first rows of a range, read in ever longer stretches. */
export async function inStretches<T>(
  { fromMs, toMs, isDescending, limit }: Stretch & { readonly isDescending: boolean; readonly limit: number },
  read: (stretch: Stretch, limit: number) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const found: T[] = [];
  let lengthMs = STRETCH_MS;
  let atMs = isDescending ? toMs : fromMs;
  for (let nth = 0; nth <= STRETCHES && found.length < limit; nth++, lengthMs *= 4) {
    const isLast = nth === STRETCHES;
    const endMs = isDescending
      ? Math.max(fromMs, isLast ? 0 : atMs - lengthMs)
      : Math.min(toMs, isLast ? LAST_MS : atMs + lengthMs);
    if (isDescending ? endMs >= atMs : endMs <= atMs) break;
    const stretch = isDescending ? { fromMs: endMs, toMs: atMs } : { fromMs: atMs, toMs: endMs };
    found.push(...(await read(stretch, limit - found.length)));
    atMs = endMs;
  }
  return found;
}

/** Postgres compares ids by their bytes; ClickHouse begins in the middle of them. */
export const ID = sql.raw('UUIDToNum(id)');
const idOf = (id: string) => sql`UUIDToNum(toUUID(${id}))`;
export const isOlder = ({ createdAtMs, id }: Pick<SortedPosition, 'createdAtMs' | 'id'>): SQL =>
  sql`(created_at < ${instantOf(createdAtMs)} or (created_at = ${instantOf(createdAtMs)} and ${ID} < ${idOf(id)}))`;
const isNewer = ({ createdAtMs, id }: SortedPosition): SQL =>
  sql`(created_at > ${instantOf(createdAtMs)} or (created_at = ${instantOf(createdAtMs)} and ${ID} > ${idOf(id)}))`;

const TEXTS: ReadonlySet<string> = new Set(['status', 'error_code', 'model', 'provider', 'customer_id']);
const MONEY: ReadonlySet<string> = new Set(['cost_usd', 'saved_usd']);

/** As `orderOf` of `../logs/log-sorts.ts`. */
function orderOf(sort: LogSort): { readonly orderBy: SQL; readonly after: (at: SortedPosition) => SQL } {
  const isDescending = sort.startsWith('-');
  const field = isDescending ? sort.slice(1) : sort;
  const direction = sql.raw(isDescending ? 'desc' : 'asc');
  if (field === 'created_at') {
    return { orderBy: sql`created_at ${direction}, ${ID} ${direction}`, after: isDescending ? isOlder : isNewer };
  }
  const column = field === 'provider' ? sql`coalesce(final_provider, provider)` : sql.raw(field);
  const beyond = sql.raw(isDescending ? '<' : '>');
  const after = (at: SortedPosition) => {
    if (at.value === null) return sql`(${column} is null and ${isOlder(at)})`;
    const value = MONEY.has(field)
      ? sql`toDecimal64(${at.value}, 9)`
      : sql`${TEXTS.has(field) ? at.value : Number(at.value)}`;
    return sql`(${column} ${beyond} ${value} or (${column} = ${value} and ${isOlder(at)}) or ${column} is null)`;
  };
  return { orderBy: sql`${column} ${direction} nulls last, created_at desc, ${ID} desc`, after };
}

const HOUR_MS = 3_600_000;

/** The gateway's ids begin with a time near that of the row: few parts are read. Other ids are looked for everywhere. */
export async function findById<T extends FoundRow>(ask: Ask, id: string, from: SQL): Promise<T | undefined> {
  const where = sql`id = ${id}`;
  const ms = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  const near = sql`${where} and created_at >= ${instantOf(ms - HOUR_MS)} and created_at < ${instantOf(ms + HOUR_MS)}`;
  const [row] = id[14] === '7' ? await ask<T>(sql`${from} where ${near} limit 1`) : [];
  return row ?? (await ask<T>(sql`${from} where ${where} limit 1`))[0];
}

/** null when there is none. */
export async function findRow(ask: Ask, requestId: string): Promise<StoredLog | null> {
  const row = await findById<FoundRow>(ask, requestId, sql`select ${SELECTED} from ${ROWS}`);
  return row === undefined ? null : toStored(row);
}

/** Time of the first row. Parts know theirs, so that none is read. */
export async function findFirstMs(ask: Ask): Promise<number> {
  const [row] = await ask<{ ms: string; n: string }>(
    sql`select toUnixTimestamp64Milli(min(created_at)) as ms, count() as n from gateway_logs`,
  );
  return Number(row?.n ?? 0) === 0 ? Number.POSITIVE_INFINITY : Number(row?.ms);
}

export async function countFound(ask: Ask, filter: LogFilter): Promise<number> {
  const [row] = await ask<{ n: string }>(sql`select count() as n from ${ROWS} where ${rowsWhere(filter)}`);
  return Number(row?.n ?? 0);
}

export interface FoundTally {
  readonly start: string;
  readonly outcome: string;
  readonly n: string;
  readonly requests: string;
  readonly [column: string]: unknown;
}

/** Rows and requests by time and outcome. */
export function tallyFound(ask: Ask, filter: LogFilter, intervalMs: number): Promise<readonly FoundTally[]> {
  const step = sql.raw(String(intervalMs));
  return ask<FoundTally>(sql`select intDiv(${CREATED_MS}, ${step}) * ${step} as start, ${OUTCOME_OF_ROW} as outcome,
      count() as n, sum(coalesce(refused_count, 1)) as requests
    from ${ROWS} where ${rowsWhere(filter)} group by 1, 2`);
}

export interface FoundBodies {
  readonly project_id: string;
  readonly created_at: string;
  readonly request_body: string | null;
  readonly upstream_request_body: string | null;
  readonly response_body: string | null;
  readonly [column: string]: unknown;
}

/** Kept prompt and answer, as the columns of Postgres would be read as text. */
export async function findBodies(ask: Ask, requestId: string): Promise<FoundBodies | null> {
  const from = sql`select project_id, ${CREATED_MS} as created_at, request_body, upstream_request_body, response_body
    from gateway_log_bodies final`;
  return (await findById<FoundBodies>(ask, requestId, from)) ?? null;
}
