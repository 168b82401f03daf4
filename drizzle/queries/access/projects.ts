import type { Project } from '@llm0/core/keys/api-key';
import { and, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { projects } from '../../schema/projects';
import { runs } from '../../schema/runs';
import { Rows, type Stored } from '../rows';

const rowsWhere = (live: SQL) =>
  new Rows(projects, { hidden: ['deletedAtMs', 'guardrailsVersion', 'pseudonymSecret'], live });

/** Projects that are not deleted. */
export const projectRows = rowsWhere(isNull(projects.deletedAtMs));
/** The others, whose requests and changes keep their ids. */
export const deletedProjectRows = rowsWhere(isNotNull(projects.deletedAtMs));
export type StoredProject = Stored<typeof projectRows>;

/** Operator's settings; all except the name have defaults. Money in nano-USD, null = no limit. */
export type ProjectSettings = Partial<Omit<Project, 'id' | 'name' | 'version'>>;

/**
 * Hides the project, stops its runs and makes its keys be refused (`isActive` false, `version` raised); its log rows stay.
 * Returns it with its new version for the hot store, null when there is no such project.
 */
export async function deleteProject(db: Db, id: string): Promise<StoredProject | null> {
  await db
    .update(runs)
    .set({ stoppedAtMs: sql`now()`, updatedAtMs: sql`now()` })
    .where(and(eq(runs.projectId, id), isNull(runs.stoppedAtMs)));
  return projectRows.update(db, { id }, { isActive: false, deletedAtMs: sql`now()` });
}

export async function countProjects(db: Db): Promise<number> {
  return db.$count(projects, isNull(projects.deletedAtMs));
}
