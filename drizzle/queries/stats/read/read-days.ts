import { sql } from 'drizzle-orm';
import type { Db } from '../../../client';
import { sqlState } from '../../../sql-state';
import { CANCELED } from './time-limit';

/** Rows are read at most so far back at once. */
export const MAX_ROW_DAYS = 7;
const DAY_MS = 86_400_000;
/** The first stretch is short, so that the newest rows are there whatever comes. */
const FIRST_STRETCH_MS = 3_600_000;
const TIME_LIMIT_MS = 2500;

export interface Stretch {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
}

/**
 * Walks over a range of rows backwards in ever longer stretches (at most a day), for at most 3 s and 7 days. `read` gets a
 * connection whose statements end by then, and returns true when it has enough. Resolves to the first moment that was
 * read: later than `fromMs` when the bounds were met.
 */
export async function readDays(
  db: Db,
  range: Stretch,
  read: (db: Db, stretch: Stretch) => Promise<boolean>,
): Promise<number> {
  const endMs = performance.now() + TIME_LIMIT_MS;
  const oldestMs = Math.max(range.fromMs, range.toMs - MAX_ROW_DAYS * DAY_MS);
  let toMs = range.toMs;
  let lengthMs = FIRST_STRETCH_MS;
  while (toMs > oldestMs) {
    const leftMs = Math.ceil(endMs - performance.now());
    if (leftMs <= 0) break;
    const stretch = { fromMs: Math.max(oldestMs, toMs - lengthMs), toMs };
    const outcome = await withTimeLimit(db, leftMs, (tx) => read(tx, stretch));
    if (outcome === 'late') break;
    toMs = stretch.fromMs;
    if (outcome.value) break;
    lengthMs = Math.min(DAY_MS, lengthMs * 4);
  }
  return toMs;
}

async function withTimeLimit<T>(db: Db, limitMs: number, work: (tx: Db) => Promise<T>): Promise<'late' | { value: T }> {
  try {
    return await db.transaction(async (tx) => {
      // Workers beside the query would take the other cores from the requests.
      await tx.execute(sql`select set_config('statement_timeout', ${String(limitMs)}, true),
        set_config('max_parallel_workers_per_gather', '0', true)`);
      return { value: await work(tx) };
    });
  } catch (error) {
    if (sqlState(error) === CANCELED) return 'late';
    throw error;
  }
}
