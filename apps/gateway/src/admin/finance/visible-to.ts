import type { Db } from '@llm0/drizzle/client';
import { projectsWith } from '../access/asked';
import type { Actor } from '../admin-services';
import { notFound } from '../fields/find-or-refuse';
import type { Visible } from './schema';

/**
 * Projects and places whose spend the actor may read; null = everything. The guard can't narrow statements: a closed month
 * belongs to the team that closed it, wherever its project is now. Throws 404 for foreign projects.
 */
export async function visibleTo(
  db: Db,
  actor: Actor,
  asked: string | readonly string[] | undefined,
): Promise<Visible | null> {
  if (actor.access.mayEverywhere('read_spend')) return null;
  const projects = (await projectsWith({ db, actor }, ['read_spend'])).map(({ projectId }) => projectId);
  const own = new Set(projects);
  if ([asked ?? []].flat().some((id) => !own.has(id.toLowerCase()))) throw notFound('project');
  return { places: actor.access.placesOf('read_spend'), projects };
}
