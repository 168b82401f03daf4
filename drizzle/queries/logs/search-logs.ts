import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { decodeCursor, encodeCursor, type PageRequest } from '../page';
import { readDays } from '../stats/read/read-days';
import { type LogFilter, listLogs, type StoredLog } from './logs';

/** A page of requests; `partial`: not all of the time asked for was searched, `nextCursor` goes on from there. */
export interface LogPage {
  readonly data: readonly StoredLog[];
  readonly nextCursor: string | null;
  readonly partial: boolean;
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
/** Rows carry the store's clock, which may run a little ahead. */
const CLOCK_TOLERANCE_MS = 60_000;

/** Newest first. Texts and labels have no index: they are searched within the bounds of `readDays`. */
export async function searchLogs(db: Db, filter: LogFilter, page: PageRequest, nowMs: number): Promise<LogPage> {
  const needsSearch = filter.q !== undefined || filter.labels !== undefined;
  if (!needsSearch || filter.requestId !== undefined) return { ...(await listLogs(db, filter, page)), partial: false };
  const range = { fromMs: filter.fromMs ?? (await firstRowMs(db)), toMs: endOf(filter, page, nowMs) };
  const found: StoredLog[] = [];
  const readFromMs = await readDays(db, range, async (tx, stretch) => {
    const left = page.limit + 1 - found.length;
    const rows = await listLogs(tx, { ...filter, ...stretch }, { cursor: page.cursor, limit: left });
    found.push(...rows.data);
    return found.length > page.limit;
  });
  const data = found.slice(0, page.limit);
  const last = data.at(-1);
  if (found.length > page.limit && last !== undefined) return { data, nextCursor: encodeCursor(last), partial: false };
  const partial = readFromMs > range.fromMs;
  return { data, nextCursor: partial ? encodeCursor({ createdAtMs: readFromMs, id: FIRST_ID }) : null, partial };
}

function endOf(filter: LogFilter, page: PageRequest, nowMs: number): number {
  const toMs = filter.toMs ?? nowMs + CLOCK_TOLERANCE_MS;
  // The row at the cursor's very moment may still have neighbours to show.
  return page.cursor === undefined ? toMs : Math.min(toMs, decodeCursor(page.cursor).createdAtMs + 1);
}

async function firstRowMs(db: Db): Promise<number> {
  const [row] = await db.execute<{ ms: number | null }>(
    sql`select (extract(epoch from min(created_at)) * 1000)::float8 as ms from gateway_logs`,
  );
  return row?.ms ?? 0;
}
