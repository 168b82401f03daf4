import { type SQL, sql } from 'drizzle-orm';
import type { ProjectScope } from '../of-projects';
import type { Stretch } from '../stats/read/read-days';
import type { RowsElsewhere } from './log-engine';
import { CALL_ROWS, CREATED_MS, instantOf, isOfProjects, ROWS } from './segment-rows';

const field = (name: string): SQL => sql`JSONExtractString(mark, ${name})`;

const TABLES = [
  { from: ROWS, end: 'splitMs' },
  { from: CALL_ROWS, end: 'callsMs' },
] as const;

/** Marks of guardrails before the change: one rule in several parts of a request or call counts once. */
export async function askMarks(
  elsewhere: RowsElsewhere | undefined,
  { fromMs, toMs, projectId }: Stretch & { readonly projectId?: ProjectScope },
): Promise<readonly object[]> {
  const found: object[] = [];
  if (elsewhere === undefined) return found;
  for (const { from, end } of TABLES) {
    const endMs = Math.min(toMs, elsewhere[end]);
    if (fromMs >= endMs) continue;
    const marks = await elsewhere.ask(sql`select ms, toString(project_id) as project_id, rule, side, check_type, action,
        outcome, sum(found) as matches, sum(took) as took_ms
      from (select id, ${CREATED_MS} as ms, project_id, ${field('rule')} as rule, ${field('on')} as side,
          ${field('check')} as check_type, ${field('action')} as action,
          multiIf(JSONHas(mark, 'error'), ${field('error')}, JSONExtractBool(mark, 'shadow'), 'watched', 'done') as outcome,
          JSONExtractInt(mark, 'count') as found, JSONExtractFloat(mark, 'ms') as took
        from ${from} array join JSONExtractArrayRaw(ifNull(guardrails, '[]')) as mark
        where guardrails is not null and created_at >= ${instantOf(Math.ceil(fromMs))}
          and created_at < ${instantOf(Math.ceil(endMs))} and ${isOfProjects(projectId)})
      group by id, ms, project_id, rule, side, check_type, action, outcome`);
    found.push(...marks);
  }
  return found;
}
