import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { instant } from '../instant';
import { HAS_LEFT } from '../logs/failovers';
import type { LogFilter } from '../logs/logs';
import { QuestionTooLargeError } from '../stats/read/time-limit';
import { LAST_MS } from './segment-rows';

/** Requests of one filter whose ids fit into a statement. */
const MOST_SWITCHES = 10_000;

/**
 * The filter for ClickHouse, which has no switches between providers: it names their requests. Throws
 * `QuestionTooLargeError` if they are too many for that.
 */
export async function withoutSwitches(db: Db, { failoverFrom, ...filter }: LogFilter): Promise<LogFilter> {
  if (failoverFrom === undefined) return filter;
  const { fromMs = 0, toMs = LAST_MS } = filter;
  const rows = await db.execute<{ id: string }>(sql`
    select f.request_id as id from failover_logs f
    where f.created_at >= ${instant(fromMs)} and f.created_at < ${instant(toMs)}
    group by f.request_id, f.created_at
    having bool_or(f.fallback_succeeded) and bool_or(f.original_provider = ${failoverFrom} and ${HAS_LEFT})
    limit ${MOST_SWITCHES + 1}`);
  if (rows.length > MOST_SWITCHES) throw new QuestionTooLargeError('too many requests changed their provider');
  return { ...filter, requestIds: rows.map(({ id }) => id) };
}
