import { sql } from 'drizzle-orm';
import { type RowSums, type SumOptions, toSums } from '../logs/log-days';
import { REQUESTS } from '../logs/partitions';
import type { Stretch } from '../stats/read/read-days';
import type { Ask } from '../stats/read/time-limit';
import { instantOf } from './segment-rows';

/** As `sumRows` of Postgres. */
export async function sumRowsElsewhere(
  ask: Ask,
  { fromMs, toMs }: Stretch,
  { withBodies = false, table = REQUESTS }: SumOptions = {},
): Promise<RowSums> {
  const { saved, tokens, refused } = table.sums;
  const within = sql`created_at >= ${instantOf(fromMs)} and created_at < ${instantOf(toMs)}`;
  const bodies = withBodies ? sql`(select count() from gateway_log_bodies final where ${within})` : sql`0`;
  const [row] = await ask<Record<string, unknown>>(sql`
    select count() as rows, sum(cost_usd) as cost, ${sql.raw(saved)} as saved, ${sql.raw(tokens)} as tokens,
      ${sql.raw(refused)} as refused, ${bodies} as bodies,
      sum(reinterpretAsUInt32(reverse(unhex(substring(toString(id), 29, 8))))) as ids
    from ${sql.raw(table.name)} final where ${within}`);
  return toSums(row ?? {});
}
