import { and, eq, gt, gte, lt, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { failoverLogs } from '../../schema/gateway-logs';
import { ofProjects, type ProjectScope } from '../of-projects';
import { Rows, type Stored } from '../rows';
import { askInTime } from '../stats/read/time-limit';

/** Switches from one target to the next. */
export const failoverRows = new Rows(failoverLogs);
export type StoredFailover = Stored<typeof failoverRows>;

/** The switches of one request, in order. */
export function listFailovers(db: Db, requestId: string): Promise<readonly StoredFailover[]> {
  return failoverRows.find(db, eq(failoverLogs.requestId, requestId), failoverLogs.switchIndex);
}

/** Requests per provider that failed there and moved to another target; skipped targets don't count. */
export function countFailovers(
  db: Db,
  { fromMs, toMs, projectId }: { readonly fromMs: number; readonly toMs: number; readonly projectId?: ProjectScope },
): Promise<readonly { readonly provider: string; readonly failovers: number }[]> {
  const question = sql`
    select ${failoverLogs.originalProvider} as provider, count(distinct ${failoverLogs.requestId})::int as failovers
    from ${failoverLogs}
    where ${and(
      gte(failoverLogs.createdAtMs, fromMs),
      lt(failoverLogs.createdAtMs, toMs),
      // Skipped targets have latency 0.
      gt(failoverLogs.originalAttemptLatencyMs, 0),
      ofProjects(projectId, sql`${failoverLogs.projectId}`),
    )}
    group by 1 order by 1`;
  return askInTime(db, (ask) => ask<{ provider: string; failovers: number }>(question));
}
