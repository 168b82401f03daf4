import { sql } from 'drizzle-orm';
import type { Db } from '../../../client';
import { nanoFromUsd } from '../../../money';
import { instant } from '../../instant';
import { ofProjects, type ProjectScope } from '../../of-projects';
import { askInTime } from './time-limit';

export interface SpendHours {
  /** Nano-USD by the hour's start; hours without any are left out. */
  readonly byHour: ReadonlyMap<number, number>;
  /** First known hour; null without one. */
  readonly firstMs: number | null;
}

/** Cost of single hours (starts in epoch milliseconds), from the roll-up of hours. */
export async function loadSpendHours(db: Db, hoursMs: readonly number[], projectId: ProjectScope): Promise<SpendHours> {
  const own = ofProjects(projectId);
  const oldest = instant(Math.min(...hoursMs));
  return askInTime(db, async (ask) => {
    const rows = await ask<{ ms: number; usd: string }>(sql`
      select (extract(epoch from bucket) * 1000)::float8 as ms, sum(cost_usd) as usd from rollup_hour
      where ${own} and bucket in (select to_timestamp(value::bigint / 1000.0)
        from jsonb_array_elements_text(${JSON.stringify(hoursMs)}::jsonb))
      group by bucket`);
    const [first] = await ask<{ ms: number | null }>(sql`
      select (extract(epoch from min(bucket)) * 1000)::float8 as ms from rollup_hour where ${own} and bucket >= ${oldest}`);
    return { byHour: new Map(rows.map(({ ms, usd }) => [ms, nanoFromUsd(usd)])), firstMs: first?.ms ?? null };
  });
}
