import { GatewayError } from '@llm0/core/errors/gateway-error';
import { eq, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { labelBudgets } from '../../schema/label-budgets';
import { projects } from '../../schema/projects';
import { lockLogWrites } from '../logs/partitions';
import type { ProjectScope } from '../of-projects';
import type { Page, PageRequest } from '../page';
import { ofLiveProject, type RowOf, Rows, type Stored } from '../rows';
import { fillLabelSpend, type OlderSpend } from './label-spend';

export const labelBudgetRows = new Rows(labelBudgets);
export type StoredLabelBudget = Stored<typeof labelBudgetRows>;

/** A changed budget, and the version of its project by which requests learn of it. */
export interface ChangedLabelBudget extends StoredLabelBudget {
  readonly projectVersion: number;
}

export type NewLabelBudget = Pick<StoredLabelBudget, 'projectId' | 'label' | 'value'> & Partial<LabelAmounts>;
export type LabelAmounts = Pick<RowOf<typeof labelBudgets>, 'dailyNanoUsd' | 'weeklyNanoUsd' | 'monthlyNanoUsd'>;

/**
 * Creates a budget and sums up the rows of its running periods; the log's writers wait meanwhile. Throws `conflict` if
 * the label has one.
 */
export async function createLabelBudget(
  tx: Db,
  budget: NewLabelBudget,
  sums: { readonly nowMs: number; readonly older?: OlderSpend },
): Promise<ChangedLabelBudget> {
  await lockLogWrites(tx);
  const made = await labelBudgetRows.createUnlessThere(tx, budget);
  if (made === null) {
    const message = `The label ${budget.label}=${budget.value} has a budget. Change it, or delete it first.`;
    throw new GatewayError('conflict', message, { param: 'label' });
  }
  await fillLabelSpend(tx, made, sums);
  return raiseVersion(tx, made);
}

export async function changeLabelBudget(
  tx: Db,
  id: string,
  amounts: Partial<LabelAmounts>,
): Promise<ChangedLabelBudget | null> {
  const changed = await labelBudgetRows.update(tx, { id }, amounts);
  return changed && raiseVersion(tx, changed);
}

export async function deleteLabelBudget(tx: Db, id: string): Promise<ChangedLabelBudget | null> {
  const deleted = await labelBudgetRows.delete(tx, { id });
  return deleted && raiseVersion(tx, deleted);
}

/** Newest first, without those of deleted projects. */
export function listLabelBudgets(
  db: Db,
  page: PageRequest,
  projectId?: ProjectScope,
): Promise<Page<StoredLabelBudget>> {
  return labelBudgetRows.list(db, page, { projectId }, ofLiveProject(labelBudgets.projectId));
}

/** A trigger raises the version with every update. */
async function raiseVersion(tx: Db, budget: StoredLabelBudget): Promise<ChangedLabelBudget> {
  const [project] = await tx
    .update(projects)
    .set({ updatedAtMs: sql`now()` })
    .where(eq(projects.id, budget.projectId))
    .returning({ version: projects.version });
  if (project === undefined) throw new Error('the project of the budget is gone');
  return { ...budget, projectVersion: project.version };
}
