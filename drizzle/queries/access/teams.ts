import type { TeamPlace } from '@llm0/core/access/access';
import { and, count, eq, ilike, inArray, isNull, or, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { projects } from '../../schema/projects';
import { organizations, teamMembers, teams, users } from '../../schema/teams';
import { containsPattern } from '../contains-pattern';
import type { Page, PageRequest } from '../page';
import { Rows, type Stored } from '../rows';

export { DEFAULT_ORGANIZATION_ID, DEFAULT_TEAM_ID } from '../../schema/projects';

export const organizationRows = new Rows(organizations);
export type StoredOrganization = Stored<typeof organizationRows>;

export const teamRows = new Rows(teams);
export type StoredTeam = Stored<typeof teamRows>;

export const memberRows = new Rows(teamMembers);
export type StoredMember = Stored<typeof memberRows>;

/** A project with its team and organization. */
export interface ProjectPlace extends TeamPlace {
  readonly projectId: string;
}

const place = { projectId: projects.id, teamId: projects.teamId, organizationId: teams.organizationId };

/** Deleted projects count: their rows stay. Unknown ids are missing. */
export async function findProjectPlaces(db: Db, ids: readonly string[]): Promise<readonly ProjectPlace[]> {
  if (ids.length === 0) return [];
  return db
    .select(place)
    .from(projects)
    .leftJoin(teams, eq(teams.id, projects.teamId))
    .where(inArray(projects.id, [...ids]));
}

/** All projects of these teams and organizations, by the ids of either. */
export async function listProjectPlaces(db: Db, places: readonly string[]): Promise<readonly ProjectPlace[]> {
  if (places.length === 0) return [];
  const isWithin = or(inArray(projects.teamId, [...places]), inArray(teams.organizationId, [...places]));
  return db.select(place).from(projects).leftJoin(teams, eq(teams.id, projects.teamId)).where(isWithin);
}

/** null for an unknown team. */
export async function findTeamPlace(db: Db, teamId: string): Promise<TeamPlace | null> {
  const team = await teamRows.get(db, { id: teamId });
  return team && { teamId: team.id, organizationId: team.organizationId };
}

/** Newest first; `places` are ids of teams and organizations, undefined = all. */
export function listTeams(
  db: Db,
  { places, organizationId, q, ...page }: PageRequest & TeamFilter,
): Promise<Page<StoredTeam>> {
  const isVisible = places && or(inArray(teams.id, [...places]), inArray(teams.organizationId, [...places]));
  const isNamed = q === undefined ? undefined : ilike(teams.name, containsPattern(q));
  return teamRows.list(db, page, { organizationId }, and(isVisible, isNamed));
}

interface TeamFilter {
  /** Substring of the name. */
  readonly q?: string | undefined;
  readonly places?: readonly string[] | undefined;
  readonly organizationId?: string | undefined;
}

/** Existing projects of a team; deleted ones don't count. */
export const countProjectsOfTeam = (db: Db, teamId: string): Promise<number> =>
  db.$count(projects, and(eq(projects.teamId, teamId), isNull(projects.deletedAtMs)));

export const countTeams = (db: Db, organizationId: string): Promise<number> =>
  db.$count(teams, eq(teams.organizationId, organizationId));

/** Numbers of projects and members by team. */
export async function countInTeams(db: Db, ids: readonly string[]) {
  if (ids.length === 0) return { projects: new Map<string, number>(), members: new Map<string, number>() };
  const owned = await db
    .select({ id: projects.teamId, n: count() })
    .from(projects)
    .where(and(inArray(projects.teamId, [...ids]), isNull(projects.deletedAtMs)))
    .groupBy(projects.teamId);
  const joined = await db
    .select({ id: teamMembers.teamId, n: count() })
    .from(teamMembers)
    .where(inArray(teamMembers.teamId, [...ids]))
    .groupBy(teamMembers.teamId);
  const byId = (rows: readonly { id: string | null; n: number }[]) => new Map(rows.map(({ id, n }) => [id ?? '', n]));
  return { projects: byId(owned), members: byId(joined) };
}

/** Members of a team with their names, the newest first. */
export async function listMembers(db: Db, teamId: string) {
  return db
    .select({ ...memberRows.columns, email: users.email, name: users.name, isActive: users.isActive })
    .from(teamMembers)
    .innerJoin(users, eq(users.id, teamMembers.userId))
    .where(eq(teamMembers.teamId, teamId))
    .orderBy(sql`lower(${users.name})`, users.id);
}
