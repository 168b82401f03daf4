import { and, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { EngineAwayError } from '../clickhouse/ask-clickhouse';
import { findFirstMs, findInTime, findRow, findRows } from '../clickhouse/find-rows';
import { floorOf, type RowsElsewhere, rowsBefore, withEngine } from '../clickhouse/log-engine';
import { withoutSwitches } from '../clickhouse/without-switches';
import type { PageRequest } from '../page';
import { readStretches, type Stretch } from '../stats/read/read-days';
import { QuestionTooLargeError } from '../stats/read/time-limit';
import {
  decodeSortedCursor,
  encodeSortedCursor,
  type LogOrder,
  type LogSort,
  NEWEST_FIRST,
  orderOf,
  type SortedCursor,
} from './log-sorts';
import { type LogFilter, logConditions, logRows, type StoredLog } from './logs';

export interface LogPageRequest extends PageRequest {
  /** Newest first unless given. */
  readonly sort?: LogSort;
  /** Milliseconds that reading may take; 2.5 s unless given. */
  readonly limitMs?: number;
}

/** A page of requests. */
export interface LogPage {
  readonly data: readonly StoredLog[];
  readonly nextCursor: string | null;
  /**
   * Set if only part of the range was read. By time, `nextCursor` continues from there; other orders sort only rows
   * from there on, and their last page is final.
   */
  readonly partialFromMs?: number;
}

/** null when there is none (yet: a row is visible within 2 s of the answer's end). */
export async function getLogByRequestId(db: Db, requestId: string): Promise<StoredLog | null> {
  const found = await logRows.get(db, { requestId });
  if (found !== null) return found;
  const elsewhere = await rowsBefore(db);
  return elsewhere === undefined ? null : findRow(elsewhere.ask, requestId);
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
/** Rows carry the store's clock, which may run a little ahead. */
const CLOCK_TOLERANCE_MS = 60_000;
/**
 * The first page determines how far its order reaches. Later pages must reach as far within 3 s, on a busier machine as
 * well.
 */
const FIRST_SORTED_MS = 1500;
const NEXT_SORTED_MS = 2900;

/**
 * Sorts by time through an index. Filters without an index, texts and labels among them, scan at most 3 s. Any
 * other order scans the range once per page, within 3 s, so writes pay for no index.
 */
export async function searchLogs(db: Db, filter: LogFilter, page: LogPageRequest, nowMs: number): Promise<LogPage> {
  const { sort = NEWEST_FIRST, limit, limitMs, cursor } = page;
  const search: Search = {
    ...{ filter, limit, limitMs, sort, order: orderOf(sort) },
    at: cursor === undefined ? undefined : decodeSortedCursor(sort, cursor),
  };
  const read = (elsewhere: RowsElsewhere | undefined) => {
    const isBoth = elsewhere !== undefined && elsewhere.splitMs > (filter.fromMs ?? 0);
    return isBoth ? searchBoth(db, search, { elsewhere, nowMs }) : searchHere(db, search, nowMs);
  };
  try {
    // Switches between providers are in Postgres alone.
    if (filter.failoverFrom !== undefined) return await read(await rowsBefore(db, filter.fromMs));
    return await withEngine(db, { nowMs, fromMs: filter.fromMs }, read);
  } catch (error) {
    if (!(error instanceof EngineAwayError)) throw error;
    return searchRest(db, search, { error, nowMs });
  }
}

/** What Postgres has, if older rows would follow. */
async function searchRest(
  db: Db,
  search: Search,
  { error, nowMs }: { readonly error: EngineAwayError; readonly nowMs: number },
): Promise<LogPage> {
  const { filter, order, sort, at } = search;
  const fromMs = await floorOf(db);
  const isBelow = (filter.toMs ?? nowMs) <= fromMs || (at !== undefined && order.isByTime && at.createdAtMs <= fromMs);
  if (isBelow || (order.isByTime && !order.isDescending)) throw error;
  const page = await searchHere(db, { ...search, filter: { ...filter, fromMs } }, nowMs);
  if (page.partialFromMs !== undefined || (order.isByTime && page.nextCursor !== null)) return page;
  if (!order.isByTime) return { ...page, partialFromMs: fromMs };
  const nextCursor = encodeSortedCursor(sort, { value: null, createdAtMs: fromMs, id: FIRST_ID });
  return { data: page.data, nextCursor, partialFromMs: fromMs };
}

async function searchHere(db: Db, search: Search, nowMs: number): Promise<LogPage> {
  const { filter, order, limit } = search;
  const isDirect = filter.requestId !== undefined || (order.isByTime && hasIndex(filter));
  if (isDirect) return toPage(search, await readRows(db, search, limit + 1));
  const range = await rangeOf(db, search.filter, nowMs);
  return order.isByTime ? walkInTime(db, search, range) : sortAll(db, search, range);
}

interface Both {
  readonly elsewhere: RowsElsewhere;
  readonly nowMs: number;
}

/** The newest rows from Postgres, all others from the store that has them. */
async function searchBoth(db: Db, search: Search, { elsewhere: { ask, splitMs }, nowMs }: Both): Promise<LogPage> {
  const { filter, sort, order, limit, at } = search;
  const isReached = filter.toMs === undefined || filter.toMs > splitMs;
  const here = (most: number) =>
    isReached ? searchHere(db, { ...search, limit: most, filter: { ...filter, fromMs: splitMs } }, nowMs) : EMPTY;
  const older = await withoutSwitches(db, { ...filter, toMs: Math.min(filter.toMs ?? splitMs, splitMs) });
  const find = order.isByTime && filter.requestId === undefined ? findInTime : findRows;
  const there = (most: number) => find(ask, { filter: older, sort, at, limit: most });
  if (!order.isByTime) {
    const [recent, rest] = await Promise.all([here(limit), there(limit + 1)]);
    const sorted = [...recent.data, ...rest].sort(order.compare);
    return recent.nextCursor === null ? toPage(search, sorted) : cutPage(search, sorted.slice(0, limit));
  }
  if (order.isDescending) {
    const recent = await here(limit);
    if (recent.nextCursor !== null) return recent;
    return toPage(search, [...recent.data, ...(await there(limit + 1 - recent.data.length))]);
  }
  const first = await there(limit + 1);
  if (first.length > limit) return toPage(search, first);
  const recent = await here(limit + 1 - first.length);
  const isMore = recent.nextCursor !== null && first.length + recent.data.length <= limit;
  const page = toPage(search, [...first, ...recent.data]);
  return isMore ? { ...page, nextCursor: recent.nextCursor } : page;
}

const EMPTY: LogPage = { data: [], nextCursor: null };

interface Search {
  readonly filter: LogFilter;
  readonly sort: LogSort;
  readonly order: LogOrder;
  readonly limit: number;
  readonly limitMs: number | undefined;
  readonly at: SortedCursor | undefined;
}

/** True if a time index covers the filter. */
function hasIndex(filter: LogFilter): boolean {
  const { projectId, customerId, fromMs: _from, toMs: _to, requestId: _request, ...others } = filter;
  const hasFew = typeof projectId !== 'object' && (typeof customerId !== 'object' || customerId.length === 1);
  return hasFew && Object.values(others).every((value) => value === undefined);
}

function readRows(db: Db, { filter, order, at }: Search, limit: number, stretch?: Stretch) {
  const conditions = logConditions({ ...filter, ...stretch });
  return logRows.first(db, limit, and(...conditions, at && order.after(at)), ...order.orderBy);
}

/** All the time in which rows may be. */
export async function rangeOf(db: Db, { fromMs, toMs }: LogFilter, nowMs: number): Promise<Stretch> {
  return { fromMs: fromMs ?? (await firstRowMs(db)), toMs: toMs ?? nowMs + CLOCK_TOLERANCE_MS };
}

/** The same with rows that Postgres no longer has. */
export async function wholeRangeOf(db: Db, filter: LogFilter, nowMs: number): Promise<Stretch> {
  const elsewhere = await rowsBefore(db, filter.fromMs);
  const range = await rangeOf(db, filter, nowMs);
  if (elsewhere === undefined || filter.fromMs !== undefined) return range;
  const firstMs = await findFirstMs(elsewhere.ask).catch(() => range.fromMs);
  return { ...range, fromMs: Math.min(range.fromMs, firstMs) };
}

async function walkInTime(db: Db, search: Search, range: Stretch): Promise<LogPage> {
  const { order, limit, at, sort } = search;
  const isForward = !order.isDescending;
  // The row at the cursor's very moment may still have neighbours to show.
  const rest = {
    fromMs: isForward ? Math.max(range.fromMs, at?.createdAtMs ?? range.fromMs) : range.fromMs,
    toMs: isForward ? range.toMs : Math.min(range.toMs, (at?.createdAtMs ?? range.toMs) + 1),
  };
  const found: StoredLog[] = [];
  const walk = { isForward, limitMs: search.limitMs };
  const reachedMs = await readStretches(db, rest, walk, async (tx, stretch) => {
    found.push(...(await readRows(tx, search, limit + 1 - found.length, stretch)));
    return found.length > limit;
  });
  const isPartial = found.length <= limit && (isForward ? reachedMs < rest.toMs : reachedMs > rest.fromMs);
  if (!isPartial) return toPage(search, found);
  const edge = isForward ? { createdAtMs: reachedMs - 1, id: LAST_ID } : { createdAtMs: reachedMs, id: FIRST_ID };
  const nextCursor = encodeSortedCursor(sort, { value: null, ...edge });
  return { data: found, nextCursor, partialFromMs: reachedMs };
}

/** The first rows of an order without an index: merges those of each stretch. */
async function sortAll(db: Db, search: Search, range: Stretch): Promise<LogPage> {
  const { order, limit, at } = search;
  const span = { ...range, fromMs: at?.fromMs ?? range.fromMs };
  let first: readonly StoredLog[] = [];
  const walk = { limitMs: search.limitMs ?? (at === undefined ? FIRST_SORTED_MS : NEXT_SORTED_MS) };
  const reachedMs = await readStretches(db, span, walk, async (tx, stretch) => {
    const rows = await readRows(tx, search, limit + 1, stretch);
    if (rows.length > 0) first = [...first, ...rows].sort(order.compare).slice(0, limit + 1);
    return false;
  });
  const isShort = reachedMs > span.fromMs;
  if (isShort && at !== undefined) throw new QuestionTooLargeError('the next page takes too long');
  const fromMs = isShort ? reachedMs : at?.fromMs;
  return { ...toPage(search, first, fromMs), ...(fromMs === undefined ? {} : { partialFromMs: fromMs }) };
}

/** Cuts the one row read beyond the limit off again. */
function toPage({ sort, order, limit }: Search, rows: readonly StoredLog[], fromMs?: number): LogPage {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  if (rows.length <= limit || last === undefined) return { data, nextCursor: null };
  return { data, nextCursor: encodeSortedCursor(sort, { ...order.positionOf(last), fromMs }) };
}

/** A page that others follow. */
function cutPage({ sort, order }: Search, data: readonly StoredLog[]): LogPage {
  const last = data.at(-1);
  return { data, nextCursor: last === undefined ? null : encodeSortedCursor(sort, order.positionOf(last)) };
}

async function firstRowMs(db: Db): Promise<number> {
  const [row] = await db.execute<{ ms: number | null }>(
    sql`select (extract(epoch from min(created_at)) * 1000)::float8 as ms from gateway_logs`,
  );
  return row?.ms ?? 0;
}
