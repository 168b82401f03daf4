import { and, asc, eq, inArray, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { scimGroupMembers, scimGroups, users } from '../../schema/teams';
import { type StoredUser, userRows } from '../access/users';
import type { Place, Places } from './filter';

export type { ScimProfile } from '../../schema/teams';

const text = (at: SQL): Place => ({ kind: 'text', at: sql`(${at})` });
const profile = (...path: readonly string[]) => text(sql`${users.scim} #>> ${`{${path.join()}}`}::text[]`);

/** Emails in their stored form. */
const EMAILS: Places = new Map([
  ['value', text(sql`e.one->>'value'`)],
  ['display', text(sql`e.one->>'display'`)],
  ['type', text(sql`e.one->>'type'`)],
  ['primary', { kind: 'boolean', at: sql`(e.one->>'primary')::boolean` }],
]);
const GROUPS: Places = new Map([
  ['value', { kind: 'exact', at: sql`g.id` }],
  ['display', text(sql`g.display_name`)],
]);

export const USER_PLACES: Places = new Map<string, Place>([
  ['id', { kind: 'exact', at: users.id }],
  ['externalId', { kind: 'exact', at: users.externalId }],
  ['userName', { kind: 'text', at: users.userName }],
  ['displayName', profile('displayName')],
  ['name.formatted', profile('name', 'formatted')],
  ['name.familyName', profile('name', 'familyName')],
  ['name.givenName', profile('name', 'givenName')],
  ['active', { kind: 'boolean', at: users.isActive }],
  ['meta.created', { kind: 'instant', at: users.createdAtMs }],
  ['meta.lastModified', { kind: 'instant', at: users.updatedAtMs }],
  ['emails', { kind: 'list', from: sql`jsonb_array_elements(${users.scim}->'emails') as e(one)`, parts: EMAILS }],
  [
    'groups',
    {
      kind: 'list',
      from: sql`${scimGroupMembers} m join ${scimGroups} g on g.id = m.group_id and m.user_id = ${users.id}`,
      parts: GROUPS,
    },
  ],
]);

export interface ScimPage {
  /** undefined = all. */
  readonly condition: SQL | undefined;
  readonly offset: number;
  readonly limit: number;
}

/** Users that SCIM sent, the oldest first, and how many there are. */
export async function listScimUsers(db: Db, { condition, offset, limit }: ScimPage) {
  const isMeant = and(isNotNull(users.userName), condition);
  const total = await db.$count(users, isMeant);
  const rows: readonly StoredUser[] =
    limit === 0
      ? []
      : await db
          .select(userRows.columns)
          .from(users)
          .where(isMeant)
          .orderBy(asc(users.createdAtMs), asc(users.id))
          .limit(limit)
          .offset(offset);
  return { total, rows };
}

/** null for a user that SCIM did not send. */
export async function findScimUser(db: Db, id: string): Promise<StoredUser | null> {
  const [user] = await userRows.find(db, and(eq(users.id, id), isNotNull(users.userName)));
  return user ?? null;
}

export interface Newcomer {
  readonly userName: string;
  readonly externalId: string | null;
  readonly email: string | null;
}

/**
 * Users that were here before SCIM sent them: by the subject or the address. `isSure` is false for an address that nobody
 * vouches for; somebody else may have it.
 */
export async function findUsersBefore(tx: Db, { userName, externalId, email }: Newcomer) {
  const ids = [userName, ...(externalId === null ? [] : [externalId])];
  const isSubject = inArray(users.subject, ids);
  const isAddress = email === null ? undefined : sql`lower(${users.email}) = ${email.toLowerCase()}`;
  const isSure = sql<boolean>`(${isSubject} or ${users.subject} is null or ${users.isEmailVerified}) is true`;
  return tx
    .select({ id: users.id, isSure })
    .from(users)
    .where(and(isNull(users.userName), or(isSubject, isAddress)))
    .orderBy(sql`(${isSubject}) is true desc`, asc(users.createdAtMs), asc(users.id));
}

/** Groups of SCIM by user. */
export async function listGroupsOfUsers(db: Db, userIds: readonly string[]) {
  const rows = await db
    .select({ userId: scimGroupMembers.userId, id: scimGroups.id, displayName: scimGroups.displayName })
    .from(scimGroupMembers)
    .innerJoin(scimGroups, eq(scimGroups.id, scimGroupMembers.groupId))
    .where(inArray(scimGroupMembers.userId, [...userIds]))
    .orderBy(scimGroups.displayName);
  return Map.groupBy(rows, ({ userId }) => userId);
}
