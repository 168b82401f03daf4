import type { Project } from '@llm0/core/keys/api-key';
import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { projects } from '../../schema/projects';
import { afterCursor, newestFirst, type Page, type PageRequest, toPage } from '../page';

/** A project with its dates (epoch milliseconds). */
export interface StoredProject extends Project {
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** What an operator sets; everything but the name has a default. Money in nano-USD. */
export type ProjectSettings = Partial<Omit<Project, 'id' | 'name' | 'version'>>;

type Row = typeof projects.$inferSelect;

/** `project` columns as the core type. */
export function toProject(row: Row): StoredProject {
  const { createdAt, updatedAt, deletedAt: _, ...project } = row;
  return { ...project, createdAtMs: createdAt.getTime(), updatedAtMs: updatedAt.getTime() };
}

export async function createProject(
  db: Db,
  input: ProjectSettings & { readonly name: string },
): Promise<StoredProject> {
  const [row] = await db.insert(projects).values(input).returning();
  if (row === undefined) throw new Error('insert into projects returned no row');
  return toProject(row);
}

/** Newest first, without deleted ones. */
export async function listProjects(db: Db, page: PageRequest): Promise<Page<StoredProject>> {
  const rows = await db
    .select()
    .from(projects)
    .where(and(isNull(projects.deletedAt), afterCursor(page, projects.createdAt, projects.id)))
    .orderBy(...newestFirst(projects.createdAt, projects.id))
    .limit(page.limit + 1);
  return toPage(rows.map(toProject), page.limit);
}

/** null when there is none, or it was deleted. */
export async function getProject(db: Db, id: string): Promise<StoredProject | null> {
  const [row] = await db.select().from(projects).where(live(id));
  return row === undefined ? null : toProject(row);
}

/** Changes what is given (null = no limit) and raises `version`; null when there is no such project. */
export async function updateProject(
  db: Db,
  id: string,
  changes: ProjectSettings & { readonly name?: string },
): Promise<StoredProject | null> {
  if (Object.values(changes).every((value) => value === undefined)) return getProject(db, id);
  const [row] = await db.update(projects).set(changes).where(live(id)).returning();
  return row === undefined ? null : toProject(row);
}

/**
 * Hides the project and makes its keys be refused (`isActive` false, `version` raised); its log rows stay.
 * Returns the new version for the hot store, null when there is no such project.
 */
export async function deleteProject(db: Db, id: string): Promise<{ readonly version: number } | null> {
  const [row] = await db
    .update(projects)
    .set({ isActive: false, deletedAt: sql`now()` })
    .where(live(id))
    .returning({ version: projects.version });
  return row ?? null;
}

export async function countProjects(db: Db): Promise<number> {
  return db.$count(projects, isNull(projects.deletedAt));
}

const live = (id: string) => and(eq(projects.id, id), isNull(projects.deletedAt));
