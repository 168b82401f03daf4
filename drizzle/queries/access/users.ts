import type { Grant } from '@llm0/core/access/access';
import { and, eq, ilike, inArray, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { adminSessions } from '../../schema/admin-access';
import { apiKeys } from '../../schema/api-keys';
import { type GroupRole, teamMembers, teams, users } from '../../schema/teams';
import { containsPattern } from '../contains-pattern';
import type { Page, PageRequest } from '../page';
import { parseJson } from '../parse-json';
import { Rows, type Stored } from '../rows';
import { writeScimRoles } from '../scim/write-roles';
import { keyRows, type StoredApiKey } from './api-keys';
import { FOLLOWS_ROLE } from './may-use';

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

/** Ids of teams and organizations; undefined = everywhere. */
type Places = readonly string[] | undefined;

interface UserFilter {
  /** Part of the name or address. Of users elsewhere, the whole address. */
  readonly q?: string | undefined;
  readonly places?: Places;
}

/** Newest first. */
export function listUsers(db: Db, { q, places, ...page }: PageRequest & UserFilter): Promise<Page<StoredUser>> {
  const pattern = q === undefined ? undefined : containsPattern(q);
  const matches = pattern && or(ilike(users.name, pattern), ilike(users.email, pattern));
  if (places === undefined) return userRows.list(db, page, {}, matches || undefined);
  const isNamed = q === undefined ? undefined : sql`lower(${users.email}) = ${q.trim().toLowerCase()}`;
  return userRows.list(db, page, {}, or(and(isMemberAt(places), matches || undefined), isNamed));
}

const isMemberAt = (places: readonly string[]) => sql`exists (
  select 1 from ${teamMembers} m join ${teams} t on t.id = m.team_id where m.user_id = ${users.id}
  and (${inArray(sql`m.team_id`, [...places])} or ${inArray(sql`t.organization_id`, [...places])}))`;

/** null for a user who is a member of none of the places. */
export async function findUserAt(db: Db, id: string, places: Places): Promise<StoredUser | null> {
  if (places === undefined) return userRows.get(db, { id });
  return (await userRows.find(db, and(eq(users.id, id), isMemberAt(places))))[0] ?? null;
}

/** What an identity provider says of somebody. */
export interface SignedIn {
  readonly issuer: string;
  readonly subject: string;
  /** Of the person in the issuer's directory, where the subject is another one for each application. */
  readonly directoryId: string | null;
  readonly email: string | null;
  readonly isEmailVerified: boolean;
  /** null: not told; a new user is called by the address or the subject. */
  readonly name: string | null;
  readonly atMs: number;
}

/**
 * The user of an identity, made at the first sign-in. A user that never signed in is taken over by a verified address. One
 * that SCIM sent also by its `externalId` or `userName`, if that is the subject.
 */
export async function signInUser(tx: Db, signedIn: SignedIn): Promise<{ user: StoredUser; isNew: boolean }> {
  const { issuer, subject, email, isEmailVerified, atMs: lastSignInAtMs } = signedIn;
  const name = signedIn.name ?? email;
  // Tokens for the data plane often tell neither.
  const told = {
    ...(email !== null && { email, isEmailVerified }),
    ...(name !== null && { name }),
    lastSignInAtMs,
  };
  const known = await userRows.update(tx, { issuer, subject }, told);
  if (known !== null) return { user: known, isNew: false };
  const waiting = await findWaiting(tx, signedIn);
  const taken = waiting && (await userRows.update(tx, { id: waiting.id }, { ...told, issuer, subject }));
  if (taken) return { user: taken, isNew: false };
  const made = { name: subject, ...told, issuer, subject };
  return { user: await userRows.put(tx, ['issuer', 'subject'], made), isNew: true };
}

async function findWaiting(tx: Db, { subject, directoryId, email, isEmailVerified }: SignedIn) {
  const ids = [subject, ...(directoryId === null ? [] : [directoryId])];
  const isNamed = and(isNotNull(users.userName), or(inArray(users.externalId, ids), inArray(users.userName, ids)));
  const isMet = isEmailVerified && email !== null ? sql`lower(${users.email}) = ${email.toLowerCase()}` : undefined;
  // The subject says more than the address.
  const order = sql`(${isNamed}) is true desc, ${users.createdAtMs}, ${users.id}`;
  const [waiting] = await userRows.first(tx, 1, and(isNull(users.subject), or(isNamed, isMet)), order);
  return waiting;
}

/**
 * Gives a user the roles of the groups in a token, of each team the first; takes away what groups of tokens gave before.
 * Groups of SCIM give theirs in other teams. Returns the keys whose rights may have changed.
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
    and m.identity_provider_id is not null and not m.is_from_scim
    and not exists (select 1 from ${given} as g where g.team_id = m.team_id)
    returning 1`);
  const won = await tx.execute(sql`insert into ${teamMembers} (team_id, user_id, role, identity_provider_id)
    select team_id, ${userId}::uuid, role, ${identityProviderId}::uuid from ${given} as g
    on conflict (team_id, user_id) do update set role = excluded.role, updated_at = now(),
      identity_provider_id = excluded.identity_provider_id, is_from_scim = false
    where team_members.identity_provider_id is not null
      and (team_members.role, team_members.identity_provider_id, team_members.is_from_scim)
      is distinct from (excluded.role, excluded.identity_provider_id, false)
    returning 1`);
  const changed = await writeScimRoles(tx, [userId]);
  return lost.length + won.length + changed.length === 0 ? [] : raiseKeysOfUsers(tx, [userId]);
}

/**
 * Gives these users (undefined: all) the roles of their groups in SCIM, and takes away what such groups gave before.
 * Returns the keys whose rights may have changed.
 */
export async function setScimRoles(tx: Db, userIds?: readonly string[]): Promise<readonly StoredApiKey[]> {
  return raiseKeysOfUsers(tx, await writeScimRoles(tx, userIds));
}

/** After a change of roles, which decide about keys of their users: returns these with their new versions. */
export async function raiseKeysOfUsers(tx: Db, userIds: readonly string[]): Promise<readonly StoredApiKey[]> {
  if (userIds.length === 0) return [];
  const areTheirs = and(inArray(apiKeys.userId, [...userIds]), isNull(apiKeys.deletedAtMs));
  // In one order, as all changes of several keys.
  await tx.select({ id: apiKeys.id }).from(apiKeys).where(areTheirs).orderBy(apiKeys.id).for('no key update');
  const touched = { updatedAtMs: sql`now()`, followsRole: FOLLOWS_ROLE };
  return tx.update(apiKeys).set(touched).where(areTheirs).returning(keyRows.columns);
}

/** Before these memberships end with their team or identity provider. Returns the keys whose rights may have changed. */
export async function raiseKeysOfMembers(
  tx: Db,
  of: { readonly teamId: string } | { readonly identityProviderId: string },
): Promise<readonly StoredApiKey[]> {
  const isMeant =
    'teamId' in of ? eq(teamMembers.teamId, of.teamId) : eq(teamMembers.identityProviderId, of.identityProviderId);
  const members = await tx.selectDistinct({ id: teamMembers.userId }).from(teamMembers).where(isMeant);
  return raiseKeysOfUsers(
    tx,
    members.map(({ id }) => id),
  );
}

/** Until the transaction ends, others wait to change the user. */
export async function lockUser(tx: Db, id: string): Promise<void> {
  await tx.select({ id: users.id }).from(users).where(eq(users.id, id)).for('no key update');
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
