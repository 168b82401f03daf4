import type { Grant } from '@llm0/core/access/access';
import { and, eq, ilike, isNull, or, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { adminSessions } from '../../schema/admin-access';
import { apiKeys } from '../../schema/api-keys';
import { type GroupRole, teamMembers, teams, users } from '../../schema/teams';
import { containsPattern } from '../contains-pattern';
import type { Page, PageRequest } from '../page';
import { parseJson } from '../parse-json';
import { Rows, type Stored } from '../rows';
import { keyRows, type StoredApiKey } from './api-keys';

export const userRows = new Rows(users);
export type StoredUser = Stored<typeof userRows>;

type GrantRow = readonly [Grant['teamId'], Grant['organizationId'], Grant['role'], Grant['canReadBodies']];

/** Memberships of the user in the same query. */
export const GRANTS_OF_USER: SQL<readonly Grant[]> = sql`coalesce((
  select json_agg(json_build_array(m.team_id, t.organization_id, m.role, m.can_read_bodies) order by m.team_id)
  from ${teamMembers} m join ${teams} t on t.id = m.team_id where m.user_id = ${users.id}), '[]'::json)`.mapWith(
  toGrants,
);

function toGrants(json: unknown): readonly Grant[] {
  return (parseJson(json) as readonly GrantRow[]).map(([teamId, organizationId, role, canReadBodies]) => ({
    ...{ teamId, organizationId, role, canReadBodies },
  }));
}

/** The user's roles with the names of the teams. */
export async function listMemberships(db: Db, userId: string) {
  const { role, canReadBodies, identityProviderId, teamId } = teamMembers;
  return db
    .select({
      teamId,
      teamName: teams.name,
      organizationId: teams.organizationId,
      role,
      canReadBodies,
      identityProviderId,
    })
    .from(teamMembers)
    .innerJoin(teams, eq(teams.id, teamId))
    .where(eq(teamMembers.userId, userId))
    .orderBy(teams.name);
}

/** Newest first; `q` is a part of the name or address. */
export function listUsers(db: Db, { q, ...page }: PageRequest & { readonly q?: string }): Promise<Page<StoredUser>> {
  const pattern = q === undefined ? undefined : containsPattern(q);
  const matches = pattern && or(ilike(users.name, pattern), ilike(users.email, pattern));
  return userRows.list(db, page, {}, matches || undefined);
}

/** What an identity provider says of somebody. */
export interface SignedIn {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  readonly isEmailVerified: boolean;
  /** null: not told; a new user is called by the address or the subject. */
  readonly name: string | null;
  readonly atMs: number;
}

/**
 * The user of an identity, made at the first sign-in. A user that was added by hand and never signed in is taken over by
 * a verified address.
 */
export async function signInUser(tx: Db, signedIn: SignedIn): Promise<{ user: StoredUser; isNew: boolean }> {
  const { issuer, subject, email, isEmailVerified, atMs: lastSignInAtMs } = signedIn;
  const name = signedIn.name ?? email;
  // Tokens for the data plane often tell neither.
  const told = { ...(email !== null && { email }), ...(name !== null && { name }), lastSignInAtMs };
  const known = await userRows.update(tx, { issuer, subject }, told);
  if (known !== null) return { user: known, isNew: false };
  const isWaiting = and(isNull(users.subject), sql`lower(${users.email}) = ${email?.toLowerCase() ?? ''}`);
  const [waiting] = isEmailVerified && email !== null ? await userRows.first(tx, 1, isWaiting) : [];
  const taken = waiting && (await userRows.update(tx, { id: waiting.id }, { ...told, issuer, subject }));
  if (taken) return { user: taken, isNew: false };
  const made = { name: subject, ...told, issuer, subject };
  return { user: await userRows.put(tx, ['issuer', 'subject'], made), isNew: true };
}

/**
 * Gives a user the roles of the groups, of each team the first; takes away what groups of this provider gave before.
 * Returns the keys whose rights may have changed.
 */
export async function setGroupRoles(
  tx: Db,
  userId: string,
  { identityProviderId, roles }: { readonly identityProviderId: string; readonly roles: readonly GroupRole[] },
): Promise<readonly StoredApiKey[]> {
  const byTeam = new Map(roles.toReversed().map(({ team_id: teamId, role }) => [teamId, role]));
  const wanted = JSON.stringify([...byTeam].map(([team_id, role]) => ({ team_id, role })));
  const given = sql`(select w.team_id, w.role from jsonb_to_recordset(${wanted}::jsonb) as w(team_id uuid, role text)
    join ${teams} t on t.id = w.team_id)`;
  const lost = await tx.execute(sql`delete from ${teamMembers} m where m.user_id = ${userId}::uuid
    and m.identity_provider_id is not null and not exists (select 1 from ${given} as g where g.team_id = m.team_id)
    returning 1`);
  const won = await tx.execute(sql`insert into ${teamMembers} (team_id, user_id, role, identity_provider_id)
    select team_id, ${userId}::uuid, role, ${identityProviderId}::uuid from ${given} as g
    on conflict (team_id, user_id) do update set role = excluded.role, updated_at = now(),
      identity_provider_id = excluded.identity_provider_id
    where team_members.identity_provider_id is not null and (team_members.role, team_members.identity_provider_id)
      is distinct from (excluded.role, excluded.identity_provider_id)
    returning 1`);
  return lost.length + won.length === 0 ? [] : raiseSignOnKeys(tx, userId);
}

const signOnKeysOf = (userId: string) =>
  and(eq(apiKeys.userId, userId), eq(apiKeys.isSignOn, true), isNull(apiKeys.deletedAtMs));

/** After a change of roles, which decide about keys of tokens: returns these with their new versions. */
export async function raiseSignOnKeys(tx: Db, userId: string): Promise<readonly StoredApiKey[]> {
  return tx.update(apiKeys).set({ updatedAtMs: sql`now()` }).where(signOnKeysOf(userId)).returning(keyRows.columns);
}

/** Ends the sessions; returns how many there were. */
export async function endSessionsOfUser(db: Db, userId: string): Promise<number> {
  const ended = await db
    .delete(adminSessions)
    .where(eq(adminSessions.userId, userId))
    .returning({ id: adminSessions.id });
  return ended.length;
}

/**
 * Stops the keys of a user; returns those that worked, with their new versions for the hot store. Keys of tokens work
 * while the user is active.
 */
export async function stopKeysOfUser(tx: Db, userId: string): Promise<readonly StoredApiKey[]> {
  const isTheirs = and(eq(apiKeys.userId, userId), eq(apiKeys.isActive, true), isNull(apiKeys.deletedAtMs));
  return tx.update(apiKeys).set({ isActive: apiKeys.isSignOn }).where(isTheirs).returning(keyRows.columns);
}
