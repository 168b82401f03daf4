import { and, eq, gt, gte, lt, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { failoverLogs } from '../../schema/gateway-logs';
import { Rows, type Stored } from '../rows';
import { askInTime } from '../stats/read/time-limit';

/** Switches from one target to the next. */
export const failoverRows = new Rows(failoverLogs);
export type StoredFailover = Stored<typeof failoverRows>;

/** The switches of one request, in order. */
export function listFailovers(db: Db, requestId: string): Promise<readonly StoredFailover[]> {
  return failoverRows.find(db, eq(failoverLogs.requestId, requestId), failoverLogs.switchIndex);
}

/** How many requests failed at each provider and went on to another target; those that it was not asked for do not count. */
export function countFailovers(
  db: Db,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly { readonly provider: string; readonly failovers: number }[]> {
  const question = sql`
    select ${failoverLogs.originalProvider} as provider, count(distinct ${failoverLogs.requestId})::int as failovers
    from ${failoverLogs}
    where ${and(
      gte(failoverLogs.createdAtMs, fromMs),
      lt(failoverLogs.createdAtMs, toMs),
      // What was passed over took no time.
      gt(failoverLogs.originalAttemptLatencyMs, 0),
    )}
    group by 1 order by 1`;
  return askInTime(db, (ask) => ask<{ provider: string; failovers: number }>(question));
}
