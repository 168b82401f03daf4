import type { BudgetOwner, BudgetSum, Level } from '@llm0/core/limits/budgets';
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { nanoFromUsd } from '../../money';
import { memberColumn, selectMembers } from '../access/levels';
import type { LogFloor } from '../clickhouse/log-floor';
import { askCosts, readLackingFloor } from '../log-lines/stored-requests';
import { rowsOfRun } from './runs';

/** A row's time may differ from its hold's. */
const ROW_APART_MS = 3_600_000;

const instantOf = (ms: number) => sql`to_timestamp(${ms}::bigint / 1000.0)`;
const dayOf = (ms: number) => sql`(${instantOf(ms)} at time zone 'UTC')::date`;

type Asked = Pick<BudgetSum, 'projectId' | 'fromMs' | 'toMs'>;

const inPeriod = ({ fromMs, toMs }: Asked) => sql`bucket >= ${instantOf(fromMs)} and bucket < ${instantOf(toMs)}`;
const fromDays = (asked: Asked) => sql`select sum(cost_usd) from rollup_day
  where project_id = ${asked.projectId}::uuid and ${inPeriod(asked)}`;
const fromMembers = (asked: Asked, owner: Extract<BudgetOwner, { scope: Level }>) => sql`select sum(cost_usd)
  from rollup_day where ${memberColumn(owner.scope)} in (${selectMembers(owner)}) and ${inPeriod(asked)}`;

/** Daily roll-ups, which are exact; a run's own rows, and its sum of those that Postgres no longer has. */
const SPENT: {
  readonly [S in BudgetOwner['scope']]: (asked: Asked, owner: Extract<BudgetOwner, { scope: S }>) => SQL;
} = {
  organization: fromMembers,
  team: fromMembers,
  user: fromMembers,
  share: (asked, { projectId }) => fromDays({ ...asked, projectId }),
  project: (asked) => fromDays(asked),
  key: (asked, { keyId }) => sql`${fromDays(asked)} and api_key_id = ${keyId}::uuid`,
  label: ({ projectId, fromMs, toMs }, { label, value }) => sql`select sum(s.spent_usd) from label_spend s
      join label_budgets b on b.id = s.label_budget_id
      where b.project_id = ${projectId}::uuid and b.label = ${label} and b.value = ${value}
        and s.date >= ${dayOf(fromMs)} and s.date < ${dayOf(toMs)}`,
  run: (
    { projectId },
    { runId },
  ) => sql`select sum(cost_usd) from (select cost_usd from (${rowsOfRun(projectId, runId)}) as row
    union all select dropped_usd from runs where project_id = ${projectId}::uuid and run_id = ${runId}) as spent`,
};

/** See `RebuildSource.sumBudget`: roll-ups and rows in one snapshot, so that no row is in one of them only. */
export async function sumBudget(db: Db, { owner, except, ...asked }: BudgetSum): Promise<number> {
  const spentBy = SPENT[owner.scope] as (asked: Asked, owner: BudgetOwner) => SQL;
  const spent = spentBy(asked, owner);
  const floor = except.length === 0 ? undefined : await readLackingFloor(db);
  if (floor !== undefined) return sumWithLines(db, { spent, except, floor, ...asked });
  const left = except.length === 0 ? sql`0` : sql`select sum(cost_usd) from (${rowsOf(asked, except)}) as booked`;
  const [row] = await db.execute<{ usd: string }>(
    sql`select (coalesce((${spent}), 0) - coalesce((${left}), 0))::numeric(20,9) as usd`,
  );
  return nanoFromUsd(row?.usd ?? '0');
}

interface SumWithLines extends Asked, Pick<BudgetSum, 'except'> {
  readonly spent: SQL;
  readonly floor: LogFloor;
}

/** The same where Postgres lacks rows. */
async function sumWithLines(db: Db, { spent, except, floor, ...asked }: SumWithLines): Promise<number> {
  const costs = await askCosts(db, except, floor);
  return db.transaction(
    async (tx) => {
      const [row] = await tx.execute<{ usd: string }>(sql`select coalesce((${spent}), 0)::numeric(20,9) as usd`);
      const rows = await tx.execute<{ id: string; usd: string }>(rowsOf(asked, except));
      const here = new Map(rows.map(({ id, usd }) => [id, nanoFromUsd(usd)]));
      const elsewhere = await costs(tx);
      const left = except.map((id) => here.get(id) ?? elsewhere.get(id) ?? 0);
      return left.reduce((sum, cost) => sum - cost, nanoFromUsd(row?.usd ?? '0'));
    },
    { isolationLevel: 'repeatable read' },
  );
}

function rowsOf({ fromMs, toMs }: Asked, requestIds: readonly string[]): SQL {
  const part = (table: 'gateway_logs' | 'tool_calls') => sql`select request_id as id, cost_usd, cost_usd as usd
    from ${sql.identifier(table)}
    where created_at >= ${instantOf(fromMs - ROW_APART_MS)} and created_at < ${instantOf(toMs + ROW_APART_MS)}
      and request_id in (select value::uuid from jsonb_array_elements_text(${JSON.stringify(requestIds)}::jsonb))`;
  return sql`${part('gateway_logs')} union all ${part('tool_calls')}`;
}
