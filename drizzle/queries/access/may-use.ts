import { type Permission, type Reach, ROLE_TABLE, type Role } from '@llm0/core/access/roles';
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Db } from '../../client';
import { apiKeys } from '../../schema/api-keys';
import { projects } from '../../schema/projects';
import { teamMembers, teams, users } from '../../schema/teams';

/** Roles that hold there and permit keys of one's own. */
function rolesIn(reach: Reach): readonly Role[] {
  const rows = Object.entries(ROLE_TABLE) as [Role, (typeof ROLE_TABLE)[Role]][];
  const permits = ({ permissions }: { readonly permissions: readonly Permission[] }) =>
    permissions.includes('change_own_keys');
  return rows.filter(([, row]) => row.reach === reach && permits(row)).map(([role]) => role);
}

/** The key's user is active and may have keys in a project of this team. */
const permits = (teamId: SQL | PgColumn) => sql<boolean>`exists (
  select 1 from ${teamMembers} m join ${users} u on u.id = m.user_id and u.is_active join ${teams} t on t.id = m.team_id
  where m.user_id = ${apiKeys.userId} and (m.role in ${rolesIn('system')} or (m.role in ${rolesIn('team')}
    and m.team_id = ${teamId}) or (m.role in ${rolesIn('organization')} and t.organization_id =
      (select p.organization_id from ${teams} p where p.id = ${teamId}))))`;

/** False once the user of the key has lost the role that permits it. Of a key with its project. */
export const MAY_USE = sql<boolean>`(not (${apiKeys.isSignOn} or ${apiKeys.followsRole}) or ${permits(projects.teamId)})`;

const teamOfKey = sql`(select team_id from ${projects} own where own.id = ${apiKeys.projectId})`;

/** From its user's next role on, the key works only with one. The latest change of roles in the transaction counts. */
export const FOLLOWS_ROLE = sql<boolean>`(${apiKeys.followsRole} or ${permits(teamOfKey)})`;

/** After a key has got this user. */
export async function followRole(tx: Db, keyId: string): Promise<void> {
  const isNew = and(eq(apiKeys.id, keyId), eq(apiKeys.followsRole, false), isNull(apiKeys.deletedAtMs));
  await tx
    .update(apiKeys)
    .set({ followsRole: true })
    .where(and(isNew, permits(teamOfKey)));
}
