import { sql } from 'drizzle-orm';
import type { Db } from '../../../client';
import { sqlState } from '../../../sql-state';
import { CANCELED } from './time-limit';

/** Rows are read at most so far back at once. */
export const MAX_ROW_DAYS = 7;
/** For rows of a customer, which have an index, and for sums of few: the time limit ends those reads. */
export const MAX_CUSTOMER_DAYS = 92;
const DAY_MS = 86_400_000;
/** The first stretch is short, so that the newest rows are always read. */
const FIRST_STRETCH_MS = 3_600_000;
const TIME_LIMIT_MS = 2500;

export interface Stretch {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
}

/** Direction of a scan. */
export interface Walk {
  /** Maximum of days; absent = all. */
  readonly days?: number;
  /** Oldest first. */
  readonly isForward?: boolean;
  readonly limitMs?: number;
}

/**
 * Reads a range of rows backwards in growing stretches (at most a day), within 3 s and `days`. `read` gets a connection
 * with that deadline and returns true to stop. Resolves to the first moment read, later than `fromMs` at a limit.
 */
export function readDays(
  db: Db,
  range: Stretch,
  read: (db: Db, stretch: Stretch) => Promise<boolean>,
  days = MAX_ROW_DAYS,
): Promise<number> {
  return readStretches(db, range, { days }, read);
}

/** A stretch that took less than this is followed by a longer one. */
const QUICK_MS = 100;

/**
 * Reads stretches in either direction, of any length by default. Resolves to the end of the range, or to where it
 * stopped.
 */
export async function readStretches(
  db: Db,
  range: Stretch,
  { days, isForward = false, limitMs = TIME_LIMIT_MS }: Walk,
  read: (db: Db, stretch: Stretch) => Promise<boolean>,
): Promise<number> {
  const endMs = performance.now() + limitMs;
  const span = days === undefined ? range : withinDays(range, days, isForward);
  let at = isForward ? span.fromMs : span.toMs;
  let lengthMs = FIRST_STRETCH_MS;
  while (isForward ? at < span.toMs : at > span.fromMs) {
    const startMs = performance.now();
    const leftMs = Math.ceil(endMs - startMs);
    if (leftMs <= 0) break;
    const stretch = isForward
      ? { fromMs: at, toMs: Math.min(span.toMs, at + lengthMs) }
      : { fromMs: Math.max(span.fromMs, at - lengthMs), toMs: at };
    const outcome = await withTimeLimit(db, leftMs, (tx) => read(tx, stretch));
    if (outcome === 'late') break;
    at = isForward ? stretch.toMs : stretch.fromMs;
    if (outcome.value) break;
    const isQuick = performance.now() - startMs < QUICK_MS;
    const longest = days === undefined ? Number.POSITIVE_INFINITY : DAY_MS;
    if (isQuick || lengthMs < DAY_MS) lengthMs = Math.min(longest, lengthMs * 4);
  }
  return at;
}

const withinDays = ({ fromMs, toMs }: Stretch, days: number, isForward: boolean): Stretch =>
  isForward
    ? { fromMs, toMs: Math.min(toMs, fromMs + days * DAY_MS) }
    : { fromMs: Math.max(fromMs, toMs - days * DAY_MS), toMs };

async function withTimeLimit<T>(db: Db, limitMs: number, work: (tx: Db) => Promise<T>): Promise<'late' | { value: T }> {
  try {
    return await db.transaction(async (tx) => {
      // Parallel workers would take cores from requests.
      await tx.execute(sql`select set_config('statement_timeout', ${String(limitMs)}, true),
        set_config('max_parallel_workers_per_gather', '0', true)`);
      return { value: await work(tx) };
    });
  } catch (error) {
    if (sqlState(error) === CANCELED) return 'late';
    throw error;
  }
}
