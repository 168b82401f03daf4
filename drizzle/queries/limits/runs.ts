import { and, eq, isNotNull, isNull, lt, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { runs } from '../../schema/runs';
import { asTable } from '../clickhouse/as-table';
import { type RowsElsewhere, rowsBefore } from '../clickhouse/log-engine';
import { askRunItems, askRunProject, askRunSums } from '../clickhouse/run-rows';
import { innerRow } from '../inner-names';
import { instant } from '../instant';
import { ofProjects, type ProjectScope } from '../of-projects';
import type { Page, PageRequest } from '../page';
import { Rows, type Stored } from '../rows';

export const runRows = new Rows(runs);
export type StoredRun = Stored<typeof runRows>;

/** A run with the sums of its rows. */
export interface RunUsage {
  readonly spentNanoUsd: number;
  readonly requests: number;
  readonly toolCalls: number;
  /** Time of the first and last row; null without rows. */
  readonly firstAtMs: number | null;
  readonly lastAtMs: number | null;
}

/** One request or tool call of a run. */
export interface RunItem {
  readonly type: 'request' | 'tool_call';
  readonly requestId: string;
  readonly createdAtMs: number;
  /** Model, or `alias__tool`. */
  readonly name: string;
  readonly status: string;
  readonly errorCode: string | null;
  readonly costNanoUsd: number;
  readonly tokensTotal: number;
  readonly latencyMs: number;
  /** null: of a tool call, or not known. */
  readonly overheadMs: number | null;
}

const msOf = (time: SQL): SQL => sql`(extract(epoch from ${time}) * 1000)::float8`;
const ofRun = (projectId: string, runId: string): SQL => sql`run_id = ${runId} and project_id = ${projectId}::uuid`;

/** Requests and tool calls of a run that aren't elsewhere. */
export const rowsOfRun = (projectId: string, runId: string, elsewhere?: RowsElsewhere): SQL => sql`
  select 'request' as type, request_id, created_at, model as name, status, error_code, cost_usd, tokens_total, latency_ms,
      overhead_ms from gateway_logs where ${ofRun(projectId, runId)} and created_at >= ${instant(elsewhere?.splitMs ?? 0)}
  union all
  select 'tool_call', request_id, created_at, server || '__' || tool, status, error_code, cost_usd, 0, latency_ms,
      null from tool_calls where ${ofRun(projectId, runId)} and created_at >= ${instant(elsewhere?.callsMs ?? 0)}`;

type RunAt = Pick<StoredRun, 'projectId' | 'runId'>;

/** The run of these values, which the first request makes. */
export async function openRun(
  db: Db,
  run: RunAt & Pick<StoredRun, 'apiKeyId' | 'budgetNanoUsd'>,
): Promise<{ readonly run: StoredRun; readonly isNew: boolean }> {
  const made = await runRows.createUnlessThere(db, run);
  const { projectId, runId } = run;
  const found = made ?? (await runRows.get(db, { projectId, runId }));
  if (found === null) throw new Error('the run is gone');
  return { run: found, isNew: made !== null };
}

export const hasRuns = async (db: Db, projectId: string): Promise<boolean> =>
  (await runRows.first(db, 1, eq(runs.projectId, projectId))).length > 0;

/** Notes the first refusal. */
export async function pauseRun(db: Db, id: string, nowMs: number): Promise<void> {
  const goesOn = and(eq(runs.id, id), isNull(runs.pausedAtMs), isNull(runs.stoppedAtMs));
  await db.update(runs).set({ pausedAtMs: nowMs, updatedAtMs: sql`now()` }).where(goesOn);
}

export const RUN_STATES = ['running', 'paused', 'stopped'] as const;
export type RunState = (typeof RUN_STATES)[number];

/** `running`: it may go on, whether or not it does. */
export function runStateOf({ stoppedAtMs, pausedAtMs }: Partial<StoredRun>): RunState {
  if (stoppedAtMs != null) return 'stopped';
  return pausedAtMs == null ? 'running' : 'paused';
}

const IN_STATE: Readonly<Record<RunState, SQL | undefined>> = {
  running: and(isNull(runs.stoppedAtMs), isNull(runs.pausedAtMs)),
  paused: and(isNull(runs.stoppedAtMs), isNotNull(runs.pausedAtMs)),
  stopped: isNotNull(runs.stoppedAtMs),
};

interface RunsAsked {
  readonly projectId?: ProjectScope | undefined;
  readonly state?: RunState | undefined;
}

/** Newest first. */
export const listRuns = (db: Db, page: PageRequest, { projectId, state }: RunsAsked): Promise<Page<StoredRun>> =>
  runRows.list(db, page, { projectId }, state && IN_STATE[state]);

/** Runs of this name: one in each project at most. */
export const findRuns = (db: Db, runId: string, projectId?: ProjectScope): Promise<readonly StoredRun[]> =>
  runRows.find(db, and(eq(runs.runId, runId), ofProjects(projectId, sql`${runs.projectId}`)));

/** The project whose newest row belongs to a run without a budget; null without rows. */
export async function findRunProject(db: Db, runId: string, scope?: ProjectScope): Promise<string | null> {
  const newest = (table: 'gateway_logs' | 'tool_calls') => sql`(select project_id, created_at from
    ${sql.identifier(table)} where run_id = ${runId} and ${ofProjects(scope)} order by created_at desc limit 1)`;
  const [row] = await db.execute<{ project_id: string }>(sql`select project_id from (${newest('gateway_logs')}
    union all ${newest('tool_calls')}) as newest order by created_at desc limit 1`);
  return row?.project_id ?? askRunProject(await rowsBefore(db), runId, scope);
}

const SUMS = 'type text, cost_usd numeric, n bigint, first_ms float8, last_ms float8';
const ITEM =
  'type text, request_id uuid, ms float8, name text, status text, ' +
  'error_code text, cost_usd numeric, tokens_total bigint, latency_ms float8, overhead_ms float8';

/** `elsewhere`: of `rowsBefore`, which a transaction doesn't know. */
export async function loadRunUsage(db: Db, { projectId, runId }: RunAt, elsewhere?: RowsElsewhere): Promise<RunUsage> {
  const older = await askRunSums(elsewhere, { projectId, runId });
  const [row] = await db.execute(sql`select coalesce(sum(cost_usd), 0) as spent_usd,
      coalesce(sum(n) filter (where type = 'request'), 0)::float8 as requests,
      coalesce(sum(n) filter (where type = 'tool_call'), 0)::float8 as tool_calls,
      min(first_at)::float8 as first_at, max(last_at)::float8 as last_at
    from (select type, cost_usd, 1 as n, ${msOf(sql`created_at`)} as first_at, ${msOf(sql`created_at`)} as last_at
        from (${rowsOfRun(projectId, runId, elsewhere)}) as own
      union all select type, cost_usd, n, first_ms, last_ms from ${asTable(older, SUMS)}) as row`);
  return innerRow<RunUsage>(row ?? {});
}

/** The first requests and tool calls, in order. */
export async function listRunItems(db: Db, { projectId, runId }: RunAt, limit: number): Promise<readonly RunItem[]> {
  const elsewhere = await rowsBefore(db);
  const older = await askRunItems(elsewhere, { projectId, runId }, limit);
  const rows = await db.execute(sql`select type, request_id, ${msOf(sql`row.created_at`)} as created_at, name, status,
      error_code, cost_usd, tokens_total::float8 as tokens_total, latency_ms, overhead_ms
    from (${rowsOfRun(projectId, runId, elsewhere)}
      union all select type, request_id, to_timestamp(ms / 1000.0), name, status, error_code, cost_usd,
        tokens_total, latency_ms, overhead_ms from ${asTable(older, ITEM)}) as row
    order by row.created_at, request_id limit ${limit}`);
  return rows.map((row) => innerRow<RunItem>(row));
}

/** Runs from before that time whose counters the hot store still has. */
export const runsToForget = (db: Db, beforeMs: number, limit: number): Promise<readonly StoredRun[]> =>
  runRows.first(db, limit, and(isNull(runs.forgottenAtMs), lt(runs.createdAtMs, beforeMs)), sql`created_at`);

export async function forgottenRun(db: Db, id: string, nowMs: number): Promise<void> {
  await runRows.update(db, { id }, { forgottenAtMs: nowMs });
}

export async function deleteOldRuns(db: Db, beforeMs: number): Promise<number> {
  const deleted = await db.delete(runs).where(lt(runs.createdAtMs, beforeMs)).returning({ id: runs.id });
  return deleted.length;
}
