import { type SQL, sql } from 'drizzle-orm';
import type { ProjectScope } from '../of-projects';
import type { RowsElsewhere } from './log-engine';
import { CALL_ROWS, CREATED_MS, instantOf, isOfProjects, ROWS } from './segment-rows';

interface RunAt {
  readonly projectId: string;
  readonly runId: string;
}

/** Both tables, with what they tell of their rows. */
const TABLES = [
  {
    type: 'request',
    from: ROWS,
    end: 'splitMs',
    name: sql`model`,
    tokens: sql`tokens_total`,
    overhead: sql`overhead_ms`,
  },
  {
    type: 'tool_call',
    from: CALL_ROWS,
    end: 'callsMs',
    name: sql`server || '__' || tool`,
    tokens: sql`0`,
    overhead: sql`null`,
  },
] as const;

type RunTable = (typeof TABLES)[number];

/** A question to both tables; empty where Postgres has all rows. */
async function askBoth<T extends Record<string, unknown>>(
  elsewhere: RowsElsewhere | undefined,
  question: (table: RunTable, ofRun: (projectId: ProjectScope, runId: string) => SQL) => SQL,
): Promise<readonly T[]> {
  const found: T[] = [];
  if (elsewhere === undefined) return found;
  for (const table of TABLES) {
    const endMs = elsewhere[table.end];
    const ofRun = (projectId: ProjectScope, runId: string) =>
      sql`run_id = ${runId} and ${isOfProjects(projectId)} and created_at < ${instantOf(endMs)}`;
    if (endMs > 0) found.push(...(await elsewhere.ask<T>(question(table, ofRun))));
  }
  return found;
}

/** Sums of a run's earlier rows, as `loadRunUsage` adds them up; none without any. */
export const askRunSums = (elsewhere: RowsElsewhere | undefined, { projectId, runId }: RunAt) =>
  askBoth<Record<string, unknown>>(
    elsewhere,
    ({ type, from }, ofRun) => sql`select ${type} as type, sum(cost_usd) as cost_usd, count() as n,
        min(${CREATED_MS}) as first_ms, max(${CREATED_MS}) as last_ms
      from ${from} where ${ofRun(projectId, runId)} having count() > 0`,
  );

/** The first of a run's earlier rows, in order. */
export const askRunItems = (
  elsewhere: RowsElsewhere | undefined,
  { projectId, runId }: RunAt,
  limit: number,
): Promise<readonly object[]> =>
  askBoth(
    elsewhere,
    (
      { type, from, name, tokens, overhead },
      ofRun,
    ) => sql`select ${type} as type, toString(id) as request_id, ${CREATED_MS} as ms,
        ${name} as name, status, error_code, cost_usd, ${tokens} as tokens_total, latency_ms, ${overhead} as overhead_ms
      from ${from} where ${ofRun(projectId, runId)} order by created_at, UUIDToNum(id) limit ${limit}`,
  );

/** The project of the newest of a run's earlier rows. */
export async function askRunProject(
  elsewhere: RowsElsewhere | undefined,
  runId: string,
  scope: ProjectScope,
): Promise<string | null> {
  const found = await askBoth<{ id: string; ms: string }>(
    elsewhere,
    ({ from }, ofRun) => sql`select toString(project_id) as id, ${CREATED_MS} as ms from ${from}
      where ${ofRun(scope, runId)} order by created_at desc limit 1`,
  );
  return found.toSorted((a, b) => Number(b.ms) - Number(a.ms))[0]?.id ?? null;
}
