import type { Db } from '../../client';
import { endRows, hadNoRows, isAboveAll, type LogFloor } from '../clickhouse/log-floor';
import { listComparedDays, readEngineState } from '../logs/log-days';
import { listPartitions } from '../logs/partitions';
import { utcDay } from '../stats/utc-day';

/** Writers make sure of each record, so the newest rows may be on their way. */
const MOST_LAG_MS = 15_000;

/** Postgres gets no more rows, if the store has every day. Returns the floor; null while Postgres has every row. */
export async function leaveRowsTo(db: Db, store: string, nowMs: number): Promise<LogFloor | null> {
  const { floor, completeAtMs, failingSinceMs, waitingSinceMs } = await readEngineState(db, store);
  if (floor !== null && (floor.store !== store || isAboveAll(floor))) return floor;
  const isCurrent = failingSinceMs === null && (waitingSinceMs ?? nowMs) > nowMs - MOST_LAG_MS;
  if (completeAtMs === null || !isCurrent) return floor;
  const compared = await listComparedDays(db, store);
  const isOpen = (day: string) => day < utcDay(nowMs) && !compared.has(day) && !hadNoRows(floor, day);
  const isMoved = !(await listPartitions(db)).some(({ day }) => isOpen(day));
  return isMoved ? endRows(db, store, nowMs) : floor;
}
