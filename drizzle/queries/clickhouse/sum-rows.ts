import { sql } from 'drizzle-orm';
import { type RowSums, toSums } from '../logs/log-days';
import type { Stretch } from '../stats/read/read-days';
import type { Ask } from '../stats/read/time-limit';
import { instantOf, ROWS } from './segment-rows';

/** As `sumRows` of Postgres. */
export async function sumRowsElsewhere(ask: Ask, { fromMs, toMs }: Stretch, withBodies: boolean): Promise<RowSums> {
  const within = sql`created_at >= ${instantOf(fromMs)} and created_at < ${instantOf(toMs)}`;
  const bodies = withBodies ? sql`(select count() from gateway_log_bodies final where ${within})` : sql`0`;
  const [row] = await ask<Record<string, unknown>>(sql`
    select count() as rows, sum(cost_usd) as cost, sum(saved_usd) as saved, sum(tokens_total) as tokens,
      sum(coalesce(refused_count, 1)) as refused, ${bodies} as bodies,
      sum(reinterpretAsUInt32(reverse(unhex(substring(toString(id), 29, 8))))) as ids
    from ${ROWS} where ${within}`);
  return toSums(row ?? {});
}
