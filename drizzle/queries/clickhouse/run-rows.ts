import { type SQL, sql } from 'drizzle-orm';
import type { ProjectScope } from '../of-projects';
import type { RowsElsewhere } from './log-engine';
import { CREATED_MS, instantOf, isOfProjects, ROWS } from './segment-rows';

interface RunAt {
  readonly projectId: string;
  readonly runId: string;
}

const ofRun = ({ splitMs }: RowsElsewhere, projectId: ProjectScope, runId: string): SQL =>
  sql`run_id = ${runId} and ${isOfProjects(projectId)} and created_at < ${instantOf(splitMs)}`;

/** Sums of a run's earlier requests, as `loadRunUsage` adds them up; none without any. */
export async function askRunSums(elsewhere: RowsElsewhere | undefined, { projectId, runId }: RunAt) {
  if (elsewhere === undefined) return [];
  const rows = await elsewhere.ask<Record<string, unknown>>(sql`select sum(cost_usd) as cost_usd, count() as requests,
      min(${CREATED_MS}) as first_ms, max(${CREATED_MS}) as last_ms
    from ${ROWS} where ${ofRun(elsewhere, projectId, runId)} having count() > 0`);
  return rows;
}

/** The first of a run's earlier requests, in order. */
export async function askRunItems(
  elsewhere: RowsElsewhere | undefined,
  { projectId, runId }: RunAt,
  limit: number,
): Promise<readonly object[]> {
  if (elsewhere === undefined) return [];
  return elsewhere.ask(sql`select toString(id) as request_id, ${CREATED_MS} as ms, model as name, status, error_code,
      cost_usd, tokens_total, latency_ms
    from ${ROWS} where ${ofRun(elsewhere, projectId, runId)}
    order by created_at, UUIDToNum(id) limit ${limit}`);
}

/** The project of the newest of a run's earlier requests. */
export async function askRunProject(
  elsewhere: RowsElsewhere | undefined,
  runId: string,
  scope: ProjectScope,
): Promise<string | null> {
  const [row] =
    elsewhere === undefined
      ? []
      : await elsewhere.ask<{ id: string }>(sql`select toString(project_id) as id from ${ROWS}
          where ${ofRun(elsewhere, scope, runId)} order by created_at desc limit 1`);
  return row?.id ?? null;
}
