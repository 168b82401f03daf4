import { and, eq, gt, inArray, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { failoverLogs, gatewayLogs } from '../../schema/gateway-logs';
import { askOutage } from '../clickhouse/newest-rows';
import { askInTime } from '../stats/read/time-limit';

interface Outage {
  readonly provider: string;
  /** Failing models; others of the provider may be healthy. */
  readonly models: readonly string[];
  /** Earliest time to look at. */
  readonly fromMs: number;
}

/** First failure of these models since their last answer, in epoch milliseconds; null without one. */
export async function findOutageStart(db: Db, { provider, models, fromMs }: Outage): Promise<number | null> {
  const elsewhere = await askOutage(db, { provider, models, fromMs });
  const from = sql`to_timestamp(${Math.max(fromMs, elsewhere?.answeredMs ?? 0)} / 1000.0)`;
  const own = and(eq(gatewayLogs.finalProvider, provider), inArray(gatewayLogs.model, [...models]));
  const isCached = sql`(${gatewayLogs.cacheHit} or ${gatewayLogs.semanticCacheHit})`;
  const since = sql`coalesce((select created_at from last_ok), ${from})`;
  const question = sql`
    with last_ok as (
      select ${gatewayLogs.createdAtMs} as created_at from ${gatewayLogs}
      where ${and(own, eq(gatewayLogs.status, 'success'), sql`not ${isCached}`, sql`${gatewayLogs.createdAtMs} >= ${from}`)}
      order by ${gatewayLogs.createdAtMs} desc limit 1)
    select (extract(epoch from least(
      (select min(${failoverLogs.createdAtMs}) from ${failoverLogs}
        where ${and(
          eq(failoverLogs.originalProvider, provider),
          inArray(failoverLogs.originalModel, [...models]),
          gt(failoverLogs.createdAtMs, since),
        )}),
      (select min(${gatewayLogs.createdAtMs}) from ${gatewayLogs}
        where ${and(
          ...[own, eq(gatewayLogs.status, 'error'), sql`${gatewayLogs.errorCode} like 'upstream%'`],
          gt(gatewayLogs.createdAtMs, since),
        )})
    )) * 1000)::float8 as at_ms`;
  const [row] = await askInTime(db, (ask) => ask<{ at_ms: number | null }>(question));
  const times = [row?.at_ms, elsewhere?.failedMs].filter((ms) => ms != null);
  return times.length === 0 ? null : Math.min(...times);
}
