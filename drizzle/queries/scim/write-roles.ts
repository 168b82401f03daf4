import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { identityProviders, scimGroupMembers, scimGroups, teamMembers, teams } from '../../schema/teams';

const SCIM_ROLES_LOCK = 7107330069;

/**
 * Makes the memberships by SCIM what the groups of these users (undefined: of all) give: of each provider in use, by name,
 * the first of its `group_roles` in a team. Those by hand and by tokens hold. Returns the users whose roles changed.
 */
export async function writeScimRoles(tx: Db, userIds?: readonly string[]): Promise<readonly string[]> {
  if (userIds?.length === 0) return [];
  const isMeant = userIds === undefined ? sql`true` : sql`m.user_id = any(${`{${userIds.join()}}`}::uuid[])`;
  // Two changes at once would each miss what the other takes away, so that a lost role stayed.
  const lock = await tx.execute(sql`select pg_advisory_xact_lock(${SCIM_ROLES_LOCK})
    where exists (select 1 from ${scimGroupMembers} m where ${isMeant})
    or exists (select 1 from ${teamMembers} m where m.is_from_scim and ${isMeant})`);
  if (lock.length === 0) return [];
  const given = sql`(select distinct on (m.user_id, t.id) m.user_id, t.id as team_id, r.one->>'role' as role,
      p.id as identity_provider_id
    from ${scimGroupMembers} m join ${scimGroups} g on g.id = m.group_id
    join ${identityProviders} p on p.is_active
    cross join lateral jsonb_array_elements(p.group_roles) with ordinality as r(one, position)
    join ${teams} t on t.id = (r.one->>'team_id')::uuid
    where r.one->>'group' = g.display_name and ${isMeant}
    order by m.user_id, t.id, p.name, r.position)`;
  const lost = await tx.execute<{
    user_id: string;
  }>(sql`delete from ${teamMembers} m where m.is_from_scim and ${isMeant}
    and not exists (select 1 from ${given} as g where g.team_id = m.team_id and g.user_id = m.user_id)
    returning m.user_id`);
  const won = await tx.execute<{ user_id: string }>(sql`
    insert into ${teamMembers} (team_id, user_id, role, identity_provider_id, is_from_scim)
    select team_id, user_id, role, identity_provider_id, true from ${given} as g
    on conflict (team_id, user_id) do update set role = excluded.role, updated_at = now(),
      identity_provider_id = excluded.identity_provider_id
    where team_members.is_from_scim and (team_members.role, team_members.identity_provider_id)
      is distinct from (excluded.role, excluded.identity_provider_id)
    returning user_id`);
  return [...new Set([...lost, ...won].map((row) => row.user_id))];
}
