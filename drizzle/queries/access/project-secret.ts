import { eq } from 'drizzle-orm';
import type { Db } from '../../client';
import { projects } from '../../schema/projects';

/** Root secret of a project, which never changes; null without the project. */
export async function findProjectSecret(db: Db, projectId: string): Promise<string | null> {
  const [row] = await db.select({ secret: projects.pseudonymSecret }).from(projects).where(eq(projects.id, projectId));
  return row?.secret ?? null;
}
