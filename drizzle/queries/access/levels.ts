import type { Level } from '@llm0/core/limits/budgets';
import { and, inArray, isNull, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { apiKeys } from '../../schema/api-keys';
import { projects } from '../../schema/projects';
import { organizations, teams, users } from '../../schema/teams';

export interface LevelOwner {
  readonly scope: Level;
  readonly levelId: string;
}

const TABLES = { organization: organizations, team: teams, user: users } as const;

/** Projects of an organization or team, or keys of a user; deleted ones are members, too, since their rows stay. */
const MEMBERS: { readonly [L in Level]: (id: SQL) => SQL } = {
  organization: (id) => sql`select p.id from ${projects} p join ${teams} t on t.id = p.team_id
    where t.organization_id = ${id}`,
  team: (id) => sql`select p.id from ${projects} p where p.team_id = ${id}`,
  user: (id) => sql`select k.id from ${apiKeys} k where k.user_id = ${id}`,
};

/** Of the level in a column. */
export const selectMembersOf = (level: Level, id: SQL): SQL => MEMBERS[level](id);
export const selectMembers = ({ scope, levelId }: LevelOwner): SQL => MEMBERS[scope](sql`${levelId}::uuid`);

/** Column of roll-ups with a level's members. */
export const memberColumn = (scope: Level): SQL => sql.raw(scope === 'user' ? 'api_key_id' : 'project_id');

export async function membersOf(db: Db, owner: LevelOwner): Promise<ReadonlySet<string>> {
  const rows = await db.execute<{ id: string }>(selectMembers(owner));
  return new Set(rows.map(({ id }) => id));
}

/** Versions for the hot store. */
export interface RaisedVersions {
  readonly projectId: string;
  /** null = only the keys. */
  readonly projectVersion: number | null;
  readonly keys: readonly { readonly keyId: string; readonly version: number }[];
}

/**
 * Raises the version of a level, and of everything below it, whose requests read the level again. By 2 where its members
 * changed: spend is counted anew, if it has a budget.
 */
export async function raiseLevel(
  tx: Db,
  { scope, levelId }: LevelOwner,
  by: 1 | 2,
): Promise<readonly RaisedVersions[]> {
  const table = TABLES[scope];
  const isMeant =
    by === 1 ? sql`true` : sql`coalesce(daily_budget_usd, weekly_budget_usd, monthly_cap_usd) is not null`;
  const found = await tx.execute(sql`update ${table} set version = version + ${by}::int
    where id = ${levelId}::uuid and ${isMeant} returning 1`);
  if (found.length === 0) return [];
  const members = sql`(${selectMembers({ scope, levelId })})`;
  const touched = { updatedAtMs: sql`now()` };
  if (scope === 'user') {
    const isTheirs = and(sql`${apiKeys.id} in ${members}`, isNull(apiKeys.deletedAtMs));
    const keys = await tx
      .update(apiKeys)
      .set(touched)
      .where(isTheirs)
      .returning({ keyId: apiKeys.id, projectId: apiKeys.projectId, version: apiKeys.version });
    return keys.map(({ projectId, ...key }) => ({ projectId, projectVersion: null, keys: [key] }));
  }
  // In one order, as all changes of several projects.
  const isBelow = sql`${projects.id} in (select p.id from ${projects} p where p.id in ${members} and p.deleted_at is null
    order by p.id for no key update)`;
  const changed = await tx
    .update(projects)
    .set(touched)
    .where(isBelow)
    .returning({ projectId: projects.id, projectVersion: projects.version });
  return changed.map((one) => ({ ...one, keys: [] }));
}

/**
 * Takes the locks of organizations and teams before a project of theirs is changed, as their own changes do: then none
 * waits for another in a circle.
 */
export async function lockTeams(tx: Db, teamIds: readonly (string | null | undefined)[]): Promise<void> {
  const ids = teamIds.filter((id) => id != null);
  if (ids.length === 0) return;
  const { id: organizationId } = organizations;
  const theirs = tx.select({ id: teams.organizationId }).from(teams).where(inArray(teams.id, ids));
  const above = tx.select({ id: organizationId }).from(organizations).where(inArray(organizationId, theirs));
  await above.orderBy(organizationId).for('no key update');
  await tx.select({ id: teams.id }).from(teams).where(inArray(teams.id, ids)).orderBy(teams.id).for('no key update');
}

/** After a project has moved: budgets of both teams, and of their organizations if these differ. */
export async function raiseTeams(tx: Db, teamIds: readonly (string | null)[]): Promise<readonly RaisedVersions[]> {
  const ids = teamIds.filter((id) => id !== null);
  const found = await tx.select({ id: teams.organizationId }).from(teams).where(inArray(teams.id, ids));
  const organizations = new Set(found.map(({ id }) => id));
  return [
    ...(await raiseMembers(tx, 'team', ids)),
    ...(organizations.size < 2 ? [] : await raiseMembers(tx, 'organization', [...organizations])),
  ];
}

/** After a key has got another user. */
export const raiseUsers = (tx: Db, userIds: readonly (string | null)[]): Promise<readonly RaisedVersions[]> =>
  raiseMembers(
    tx,
    'user',
    userIds.filter((id) => id !== null),
  );

async function raiseMembers(tx: Db, scope: Level, ids: readonly string[]): Promise<readonly RaisedVersions[]> {
  const raised: RaisedVersions[] = [];
  for (const levelId of ids) raised.push(...(await raiseLevel(tx, { scope, levelId }, 2)));
  return raised;
}
