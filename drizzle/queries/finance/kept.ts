import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { instant } from '../instant';
import { ofProjects, type ProjectScope } from '../of-projects';
import type { Stretch } from '../stats/read/read-days';
import type { Kept } from './month-segments';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Available data of a month; `rowsKeptMs` is the retention of rows. */
export async function loadKept(db: Db, range: Stretch, at: { readonly nowMs: number; readonly rowsKeptMs: number }) {
  const keptFromMs = Math.ceil((at.nowMs - at.rowsKeptMs) / DAY_MS) * DAY_MS;
  const edges = [range.fromMs, range.toMs].map((ms) => Math.floor(ms / DAY_MS) * DAY_MS);
  const days = sql.join(
    edges.map((ms) => sql`(${instant(ms)})`),
    sql`, `,
  );
  // A day with deleted hours has fewer requests in its hours than in its total.
  const [lost, before] = await Promise.all([
    db.execute<{ day: string }>(sql`
      select (date_part('epoch', day) * 1000)::bigint::text as day from (values ${days}) as edges (day)
      where (select coalesce(sum(requests), 0) from rollup_day where bucket = day)
        <> (select coalesce(sum(requests), 0) from rollup_hour where bucket >= day and bucket < day + interval '24 hours')`),
    db.execute<{ found: boolean }>(sql`
      select exists (select 1 from rollup_day where bucket >= ${instant(edges[0] ?? 0)}
        and bucket < ${instant(keptFromMs)}) as found`),
  ]);
  const kept: Kept = {
    rowsFromMs: before[0]?.found === true ? keptFromMs : 0,
    lostDays: new Set(lost.map(({ day }) => Number(day))),
  };
  return kept;
}

/** The UTC day of the first request of the projects; null without one. */
export async function findFirstDay(db: Db, projectId: ProjectScope): Promise<number | null> {
  const [row] = await db.execute<{ ms: number | null }>(sql`
    select (extract(epoch from min(bucket)) * 1000)::float8 as ms from rollup_day
    where ${ofProjects(projectId)} and requests > 0`);
  return row?.ms ?? null;
}
