import { and, asc, eq, inArray, isNull, or, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { apiKeys } from '../../schema/api-keys';
import { projects } from '../../schema/projects';
import { teams } from '../../schema/teams';
import { keyRows } from './api-keys';

export interface ProjectChoice {
  /** Ids of teams and organizations; undefined = all projects. */
  readonly places?: readonly string[] | undefined;
  /** Id or name. */
  readonly project?: string | undefined;
}

/** The first projects of these places, by name. */
export async function findProjectsAt(db: Db, { places, project }: ProjectChoice, limit: number) {
  const isThere = places && or(inArray(projects.teamId, [...places]), inArray(teams.organizationId, [...places]));
  const isNamed =
    project === undefined ? undefined : or(eq(projects.name, project), sql`${projects.id}::text = ${project}`);
  return db
    .select({ id: projects.id, name: projects.name })
    .from(projects)
    .leftJoin(teams, eq(teams.id, projects.teamId))
    .where(and(isThere, isNamed, isNull(projects.deletedAtMs)))
    .orderBy(asc(projects.name), asc(projects.id))
    .limit(limit);
}

interface NewSignOnKey {
  readonly userId: string;
  readonly projectId: string;
  readonly name: string;
  readonly hash: string;
  readonly prefix: string;
  readonly isActive?: boolean;
  /** It waits for an admin since then. */
  readonly requestedAtMs?: number;
}

/** The key of a user's tokens in a project; `create` is the one to make where there is none. */
export async function putSignOnKey(tx: Db, { userId, projectId, ...create }: NewSignOnKey) {
  const made = await keyRows.createUnlessThere(tx, { userId, projectId, isSignOn: true, ...create });
  if (made !== null) return { id: made.id, hash: create.hash, isNew: true };
  const isTheirs = and(eq(apiKeys.userId, userId), eq(apiKeys.projectId, projectId), eq(apiKeys.isSignOn, true));
  const [known] = await tx
    .select({ id: apiKeys.id, hash: apiKeys.hash })
    .from(apiKeys)
    .where(and(isTheirs, isNull(apiKeys.deletedAtMs)));
  if (known === undefined) throw new Error('the key of a sign-on was deleted meanwhile');
  return { ...known, isNew: false };
}
