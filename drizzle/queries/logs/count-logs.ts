import { and, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { gatewayLogs } from '../../schema/gateway-logs';
import { countFound } from '../clickhouse/find-rows';
import { rowsBefore } from '../clickhouse/log-engine';
import { withoutSwitches } from '../clickhouse/without-switches';
import { askInTime } from '../stats/read/time-limit';
import { type LogFilter, logConditions } from './logs';

/** Number of rows, counted within 3 s. */
export async function countLogs(db: Db, filter: LogFilter): Promise<number> {
  const elsewhere = await rowsBefore(db, filter.fromMs);
  const question = sql`select count(*)::int as n from ${gatewayLogs}
    where ${and(...logConditions({ ...filter, fromMs: elsewhere?.splitMs ?? filter.fromMs }))}`;
  const [row] = await askInTime(db, (ask) => ask<{ n: number }>(question));
  if (elsewhere === undefined) return row?.n ?? 0;
  const older = await withoutSwitches(db, {
    ...filter,
    toMs: Math.min(filter.toMs ?? elsewhere.splitMs, elsewhere.splitMs),
  });
  return (row?.n ?? 0) + (await countFound(elsewhere.ask, older));
}
