import { periodAt } from '@llm0/core/limits/budgets';
import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { usdFromNano } from '../../money';
import { asTable } from '../clickhouse/as-table';
import { EngineAwayError } from '../clickhouse/ask-clickhouse';
import { askDays } from '../clickhouse/group-rows';
import { engineOf, rowsBefore } from '../clickhouse/log-engine';
import { executePrepared } from '../execute-prepared';
import { instant } from '../instant';
import { readLines } from '../log-lines/line-batches';
import { factOfLine } from '../log-lines/row-line';
import { readLackingFloor } from '../log-lines/stored-requests';
import { readSinkSeq } from '../logs/log-sinks';
import { utcDay } from '../stats/utc-day';
import { inOrder, type SignedFact } from '../stats/write/rollup-deltas';

interface LabelRow extends Record<string, unknown> {
  readonly id: string;
  readonly project_id: string;
  readonly label: string;
  readonly value: string;
}

const nameOf = (projectId: string, label: string, value: string) => JSON.stringify([projectId, label, value]);

/** Adds rows to the spend of labels that have a budget; belongs into the transaction that wrote the rows. */
export async function writeLabelSpend(tx: Db, facts: readonly SignedFact[]): Promise<void> {
  const labelled = new Set<string>();
  for (const { fact } of facts) if (fact.labels !== null && fact.costNanoUsd !== 0) labelled.add(fact.projectId);
  if (labelled.size === 0) return;
  const projects = JSON.stringify([...labelled]);
  const budgets = await executePrepared<LabelRow>(
    tx,
    sql`select id, project_id, label, value from label_budgets
      where project_id in (select value::uuid from json_array_elements_text(${projects}::json))`,
  );
  if (budgets.length === 0) return;
  const ids = new Map(budgets.map(({ id, project_id, label, value }) => [nameOf(project_id, label, value), id]));
  const ofBudgets = new Set(budgets.map(({ project_id: projectId }) => projectId));
  const sums = new Map<string, { readonly id: string; readonly date: string; costNanoUsd: number }>();
  for (const { fact, sign } of facts) {
    if (fact.labels === null || !ofBudgets.has(fact.projectId)) continue;
    for (const [label, value] of Object.entries(fact.labels)) {
      const id = ids.get(nameOf(fact.projectId, label, value));
      if (id === undefined) continue;
      const date = utcDay(fact.createdAtMs);
      const sum = sums.getOrInsertComputed(`${id} ${date}`, () => ({ id, date, costNanoUsd: 0 }));
      sum.costNanoUsd += sign * fact.costNanoUsd;
    }
  }
  const spent = inOrder(sums).filter(({ costNanoUsd }) => costNanoUsd !== 0);
  if (spent.length === 0) return;
  await executePrepared(
    tx,
    sql`insert into label_spend as t (label_budget_id, date, spent_usd)
      select r.id, r.date, r."costNanoUsd" * 0.000000001
      from json_to_recordset(${JSON.stringify(spent)}::json) as r(id uuid, date date, "costNanoUsd" bigint)
      on conflict (label_budget_id, date) do update set spent_usd = t.spent_usd + excluded.spent_usd`,
  );
}

interface FilledBudget {
  readonly id: string;
  readonly projectId: string;
  readonly label: string;
  readonly value: string;
}

/** Sums that Postgres no longer has rows for; to be read outside of the transaction. */
export async function readOlderSpend(db: Db, budget: Omit<FilledBudget, 'id'>, nowMs: number): Promise<OlderSpend> {
  const { projectId, label, value } = budget;
  const elsewhere = await rowsBefore(db);
  const seq = (await readLackingFloor(db)) !== undefined ? await readSinkSeq(db, engineOf(db)?.store ?? '') : undefined;
  const scope = { fromMs: startOfPeriods(nowMs), projectId, labels: { [label]: value }, lastSeq: seq };
  const { splitMs = 0, callsMs = 0 } = elsewhere ?? {};
  return { splitMs, callsMs, days: await askDays(elsewhere, scope), seq };
}

export interface OlderSpend {
  /** Rows of Postgres count from here on. */
  readonly splitMs: number;
  /** The same of tool calls. */
  readonly callsMs: number;
  readonly days: readonly object[];
  /** The last batch in it, where later ones aren't in Postgres either. */
  readonly seq?: number | undefined;
}

const NOTHING: OlderSpend = { splitMs: 0, callsMs: 0, days: [] };
const startOfPeriods = (nowMs: number) => Math.min(periodAt('month', nowMs).fromMs, periodAt('week', nowMs).fromMs);
const DAY = 'ms float8, cost_usd numeric';

/** Sums up the rows of a new budget since its month and week began. Only under `lockLogWrites`. */
export async function fillLabelSpend(
  tx: Db,
  budget: FilledBudget,
  { nowMs, older = NOTHING }: { readonly nowMs: number; readonly older?: OlderSpend | undefined },
): Promise<void> {
  const { id, projectId, label, value } = budget;
  const sinceMs = startOfPeriods(nowMs);
  const since = sql`(${utcDay(sinceMs)}::date::timestamp at time zone 'UTC')`;
  const lines = await spendOfLines(tx, budget, { afterSeq: older.seq, fromMs: Date.parse(utcDay(sinceMs)) });
  const rowsOf = (table: 'gateway_logs' | 'tool_calls', fromMs: number) => sql`
    select created_at, cost_usd from ${sql.identifier(table)}
    where project_id = ${projectId}::uuid and created_at >= greatest(${since}, ${instant(fromMs)}) and cost_usd <> 0
      and labels @> ${JSON.stringify({ [label]: value })}::jsonb`;
  await tx.execute(sql`
    insert into label_spend (label_budget_id, date, spent_usd)
    select ${id}::uuid, (created_at at time zone 'UTC')::date, sum(cost_usd)
    from (${rowsOf('gateway_logs', older.splitMs)} union all ${rowsOf('tool_calls', older.callsMs)}
      union all select to_timestamp(ms / 1000.0), cost_usd from ${asTable([...older.days, ...lines], DAY)}) as labelled
    where cost_usd <> 0 group by 2`);
}

/** What ClickHouse said is no longer right: ask it again. */
export class RowsOnTheirWayError extends EngineAwayError {}

/** Of rows that ClickHouse didn't have yet when it was asked. Throws when the answer is no longer right. */
async function spendOfLines(
  tx: Db,
  { projectId, label, value }: FilledBudget,
  { afterSeq, fromMs }: { readonly afterSeq: number | undefined; readonly fromMs: number },
): Promise<readonly object[]> {
  if (afterSeq === undefined) return [];
  const [moved] = await tx.execute(
    sql`select 1 from log_lines where seq > ${afterSeq} and (lines is null or corrects) limit 1`,
  );
  if (moved !== undefined) throw new RowsOnTheirWayError('rows are on their way to ClickHouse: try again');
  const found: object[] = [];
  for await (const { text } of readLines(tx, { afterSeq, fromMs })) {
    for (const line of text.split('\n')) {
      const fact = factOfLine(line);
      const isMeant = fact.projectId === projectId && fact.labels?.[label] === value && fact.createdAtMs >= fromMs;
      if (isMeant) found.push({ ms: fact.createdAtMs, cost_usd: usdFromNano(fact.costNanoUsd) });
    }
  }
  return found;
}
