import { GatewayError } from '@llm0/core/errors/gateway-error';
import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { nanoFromUsd, usdFromNano } from '../../money';
import { gatewayLogs } from '../../schema/gateway-logs';
import { instant } from '../instant';
import type { StoredLog } from './logs';

/** Values as texts, so that they survive a cursor; null where a row has none. */
interface Sort {
  readonly column: PgColumn | SQL;
  readonly type: 'float8' | 'numeric' | 'bigint' | 'text';
  readonly read: (log: StoredLog) => string | null;
}

const shown = (value: number | null) => (value === null ? null : String(value));
const { latencyMs, ttftMs, overheadMs, upstreamMs, costNanoUsd, savedNanoUsd } = gatewayLogs;
const { tokensIn, tokensOut, tokensTotal, httpStatus, finalProvider, provider } = gatewayLogs;

/** Texts compare by bytes here and in Postgres, in any locale. */
const SORTS = {
  latency_ms: { column: latencyMs, type: 'float8', read: (log) => shown(log.latencyMs) },
  ttft_ms: { column: ttftMs, type: 'float8', read: (log) => shown(log.ttftMs) },
  overhead_ms: { column: overheadMs, type: 'float8', read: (log) => shown(log.overheadMs) },
  upstream_ms: { column: upstreamMs, type: 'float8', read: (log) => shown(log.upstreamMs) },
  cost_usd: { column: costNanoUsd, type: 'numeric', read: (log) => usdFromNano(log.costNanoUsd) },
  saved_usd: { column: savedNanoUsd, type: 'numeric', read: (log) => usdFromNano(log.savedNanoUsd) },
  tokens_in: { column: tokensIn, type: 'bigint', read: (log) => shown(log.tokensIn) },
  tokens_out: { column: tokensOut, type: 'bigint', read: (log) => shown(log.tokensOut) },
  tokens_total: { column: tokensTotal, type: 'bigint', read: (log) => shown(log.tokensTotal) },
  http_status: { column: httpStatus, type: 'bigint', read: (log) => shown(log.httpStatus) },
  status: { column: gatewayLogs.status, type: 'text', read: (log) => log.status },
  error_code: { column: gatewayLogs.errorCode, type: 'text', read: (log) => log.errorCode },
  model: { column: gatewayLogs.model, type: 'text', read: (log) => log.model },
  provider: {
    column: sql`coalesce(${finalProvider}, ${provider})`,
    type: 'text',
    read: (log) => log.finalProvider ?? log.provider,
  },
  customer_id: { column: gatewayLogs.customerId, type: 'text', read: (log) => log.customerId },
} as const satisfies Record<string, Sort>;

type SortField = keyof typeof SORTS | 'created_at';
/** Sort order of rows; a minus sorts descending. */
export type LogSort = SortField | `-${SortField}`;

const FIELDS: readonly SortField[] = ['created_at', ...(Object.keys(SORTS) as (keyof typeof SORTS)[])];
export const LOG_SORTS: readonly LogSort[] = FIELDS.flatMap((field) => [field, `-${field}` as const]);
export const NEWEST_FIRST: LogSort = '-created_at';

/** The row a page ended with. */
export interface SortedPosition {
  readonly value: string | null;
  readonly createdAtMs: number;
  readonly id: string;
}

/** A sort order: equal values newest first, missing values last in both directions. */
export interface LogOrder {
  readonly orderBy: readonly SQL[];
  readonly isByTime: boolean;
  readonly isDescending: boolean;
  readonly positionOf: (log: StoredLog) => SortedPosition;
  /** Rows after the position. */
  readonly after: (position: SortedPosition) => SQL;
  readonly compare: (a: StoredLog, b: StoredLog) => number;
  /** The value can be one of a cursor. */
  readonly takes: (value: unknown) => value is string | null;
}

export function orderOf(sort: LogSort): LogOrder {
  const isDescending = sort.startsWith('-');
  const field = (isDescending ? sort.slice(1) : sort) as SortField;
  return field === 'created_at' ? timeOrder(isDescending) : valueOrder(SORTS[field], isDescending);
}

const { createdAtMs, id } = gatewayLogs;
const byId = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const newestFirst = (a: StoredLog, b: StoredLog) => b.createdAtMs - a.createdAtMs || byId(b.id, a.id);
const rowOf = (at: SortedPosition) => sql`(${instant(at.createdAtMs)}, ${at.id}::uuid)`;
const isOlder = (at: SortedPosition) => sql`(${createdAtMs}, ${id}) < ${rowOf(at)}`;

const timeOrder = (isDescending: boolean): LogOrder => ({
  orderBy: isDescending ? [sql`${createdAtMs} desc`, sql`${id} desc`] : [sql`${createdAtMs}`, sql`${id}`],
  isByTime: true,
  isDescending,
  positionOf: (log) => ({ value: null, createdAtMs: log.createdAtMs, id: log.id }),
  after: (at) => (isDescending ? isOlder(at) : sql`(${createdAtMs}, ${id}) > ${rowOf(at)}`),
  compare: isDescending ? newestFirst : (a, b) => newestFirst(b, a),
  takes: (value) => value === null,
});

function valueOrder(sort: Sort, isDescending: boolean): LogOrder {
  const { type, read } = sort;
  const column = type === 'text' ? sql`${sort.column} collate "C"` : sql`${sort.column}`;
  const direction = sql.raw(isDescending ? 'desc' : 'asc');
  const beyond = sql.raw(isDescending ? '<' : '>');
  const compareValues = type === 'text' ? byBytes : type === 'numeric' ? byMoney : (a: string, b: string) => +a - +b;
  return {
    orderBy: [sql`${column} ${direction} nulls last`, sql`${createdAtMs} desc`, sql`${id} desc`],
    isByTime: false,
    isDescending,
    positionOf: (log) => ({ value: read(log), createdAtMs: log.createdAtMs, id: log.id }),
    after: (at) => {
      if (at.value === null) return sql`(${sort.column} is null and ${isOlder(at)})`;
      const value = sql`${at.value}::${sql.raw(type)}`;
      return sql`(${column} ${beyond} ${value} or (${sort.column} = ${value} and ${isOlder(at)})
        or ${sort.column} is null)`;
    },
    compare: (one, other) => {
      const [a, b] = [read(one), read(other)];
      if (a === null || b === null) return Number(a === null) - Number(b === null) || newestFirst(one, other);
      return (isDescending ? compareValues(b, a) : compareValues(a, b)) || newestFirst(one, other);
    },
    takes: (value): value is string | null =>
      value === null || (typeof value === 'string' && VALUES[type].test(value) && value.isWellFormed()),
  };
}

/** Postgres's name of the type. */
const VALUES = {
  float8: /^-?\d{1,25}(?:\.\d{1,20})?(?:e[+-]?\d{1,2})?$/,
  numeric: /^-?\d{1,20}\.\d{9}$/,
  bigint: /^-?\d{1,18}$/,
  text: /^[^\0]{0,600}$/,
} as const satisfies Record<Sort['type'], RegExp>;
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const byMoney = (a: string, b: string) => nanoFromUsd(a) - nanoFromUsd(b);

/** End of a page of sorted rows; `fromMs`: earlier rows weren't sorted. */
export interface SortedCursor extends SortedPosition {
  readonly fromMs?: number;
}

export const encodeSortedCursor = (sort: LogSort, { value, createdAtMs: atMs, id, fromMs }: SortedCursor): string =>
  Buffer.from(JSON.stringify([sort, value, atMs, id, fromMs ?? null])).toString('base64url');

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const isMs = (value: unknown): value is number => Number.isSafeInteger(value) && Math.abs(value as number) < 1e15;

/** Throws `invalid_request` (param `cursor`) for a foreign cursor. */
export function decodeSortedCursor(sort: LogSort, cursor: string): SortedCursor {
  const [sorted, value, atMs, at, fromMs] = parseList(cursor);
  const isRight = sorted === sort && isMs(atMs) && typeof at === 'string' && UUID.test(at);
  if (isRight && (fromMs === null || isMs(fromMs)) && orderOf(sort).takes(value)) {
    return { value, createdAtMs: atMs, id: at, fromMs: fromMs ?? undefined };
  }
  const message = 'cursor is not one this API gave out for this sort: use next_cursor of the page before';
  throw new GatewayError('invalid_request', message, { param: 'cursor' });
}

function parseList(cursor: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}
