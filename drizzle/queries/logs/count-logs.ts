import { and, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { gatewayLogs } from '../../schema/gateway-logs';
import { askInTime } from '../stats/read/time-limit';
import { type LogFilter, logConditions } from './logs';

/** Number of rows, counted within 3 s. */
export async function countLogs(db: Db, filter: LogFilter): Promise<number> {
  const question = sql`select count(*)::int as n from ${gatewayLogs} where ${and(...logConditions(filter))}`;
  const [row] = await askInTime(db, (ask) => ask<{ n: number }>(question));
  return row?.n ?? 0;
}
