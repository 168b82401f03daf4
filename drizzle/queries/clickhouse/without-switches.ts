import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { instant } from '../instant';
import { failedAt, HAS_LEFT, isSwitch } from '../logs/failovers';
import type { LogFilter } from '../logs/logs';
import { QuestionTooLargeError } from '../stats/read/time-limit';
import { LAST_MS } from './segment-rows';

/** Requests of one filter whose ids fit into a statement. */
const MOST_SWITCHES = 10_000;

/**
 * The filter for ClickHouse, which has no switches between providers: it names their requests. Throws
 * `QuestionTooLargeError` if they are too many for that.
 */
export async function withoutSwitches(
  db: Db,
  { failoverFrom, switched, sentTo, failedAt: failed, ...filter }: LogFilter,
): Promise<LogFilter> {
  const findFailed = (provider: string) => findRequests(db, filter, sql`bool_or(${failedAt(provider)})`);
  const wanted: SQL[] = [];
  if (failoverFrom !== undefined) {
    wanted.push(
      sql`bool_or(f.fallback_succeeded)`,
      sql`bool_or(f.original_provider = ${failoverFrom} and ${HAS_LEFT})`,
    );
  }
  if (switched !== undefined) wanted.push(sql`bool_or(${isSwitch(switched)})`);
  return {
    ...filter,
    ...(wanted.length > 0 && { requestIds: await findRequests(db, filter, sql.join(wanted, sql` and `)) }),
    ...(sentTo && { sentTo: { ...sentTo, failedIds: await findFailed(sentTo.provider) } }),
    ...(failed && { failedAt: { ...failed, failedIds: await findFailed(failed.provider) } }),
  };
}

/** `wanted`: over all switches of a request. */
async function findRequests(db: Db, { fromMs = 0, toMs = LAST_MS }: LogFilter, wanted: SQL) {
  const rows = await db.execute<{ id: string }>(sql`
    select f.request_id as id from failover_logs f
    where f.created_at >= ${instant(fromMs)} and f.created_at < ${instant(toMs)}
    group by f.request_id, f.created_at having ${wanted} limit ${MOST_SWITCHES + 1}`);
  if (rows.length > MOST_SWITCHES) throw new QuestionTooLargeError('too many requests changed their provider');
  return rows.map(({ id }) => id);
}
