import { and, asc, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { scimGroupMembers, scimGroups, users } from '../../schema/teams';
import { Rows, type Stored } from '../rows';
import type { Place, Places } from './filter';
import type { ScimPage } from './users';

export const groupRows = new Rows(scimGroups);
export type StoredGroup = Stored<typeof groupRows>;

const MEMBERS: Places = new Map([['value', { kind: 'exact', at: sql`m.user_id` }]]);

export const GROUP_PLACES: Places = new Map<string, Place>([
  ['id', { kind: 'exact', at: scimGroups.id }],
  ['externalId', { kind: 'exact', at: scimGroups.externalId }],
  ['displayName', { kind: 'text', at: scimGroups.displayName }],
  ['meta.created', { kind: 'instant', at: scimGroups.createdAtMs }],
  ['meta.lastModified', { kind: 'instant', at: scimGroups.updatedAtMs }],
  [
    'members',
    {
      kind: 'list',
      from: sql`(select * from ${scimGroupMembers} where group_id = ${scimGroups.id}) m`,
      parts: MEMBERS,
    },
  ],
]);

/** The oldest first, and how many there are. */
export async function listScimGroups(db: Db, { condition, offset, limit }: ScimPage) {
  const total = await db.$count(scimGroups, condition);
  const rows: readonly StoredGroup[] =
    limit === 0
      ? []
      : await db
          .select(groupRows.columns)
          .from(scimGroups)
          .where(condition)
          .orderBy(asc(scimGroups.createdAtMs), asc(scimGroups.id))
          .limit(limit)
          .offset(offset);
  return { total, rows };
}

/** Until the transaction ends, others wait to change the group. null when there is none. */
export async function lockGroup(tx: Db, id: string): Promise<StoredGroup | null> {
  const [group] = await tx.select(groupRows.columns).from(scimGroups).where(eq(scimGroups.id, id)).for('update');
  return group ?? null;
}

/** Ids of the members by group. */
export async function listMembersOfGroups(db: Db, groupIds: readonly string[]): Promise<ReadonlyMap<string, string[]>> {
  const { groupId, userId } = scimGroupMembers;
  const isMeant = inArray(groupId, [...groupIds]);
  const rows = await db.select({ groupId, userId }).from(scimGroupMembers).where(isMeant).orderBy(userId);
  const byGroup = Map.groupBy(rows, (row) => row.groupId);
  return new Map([...byGroup].map(([id, members]) => [id, members.map((row) => row.userId)]));
}

/** Those of the ids that are users whom SCIM sent. */
export async function findMemberIds(tx: Db, ids: readonly string[]): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const isSent = and(inArray(users.id, [...ids]), isNotNull(users.userName));
  // Nobody deletes one of them meanwhile.
  const found = await tx.select({ id: users.id }).from(users).where(isSent).for('key share');
  return found.map(({ id }) => id);
}

/** Makes exactly these the members. */
export async function setMembers(tx: Db, groupId: string, userIds: readonly string[]) {
  const wanted = `{${userIds.join()}}`;
  const left = await tx.execute<{ user_id: string }>(sql`delete from ${scimGroupMembers}
    where group_id = ${groupId}::uuid and user_id <> all(${wanted}::uuid[]) returning user_id`);
  const joined = await tx.execute<{ user_id: string }>(sql`insert into ${scimGroupMembers} (group_id, user_id)
    select ${groupId}::uuid, one from unnest(${wanted}::uuid[]) as w(one) on conflict do nothing returning user_id`);
  return { left: left.map((row) => row.user_id), joined: joined.map((row) => row.user_id) };
}
