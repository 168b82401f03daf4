import type { Db } from '@llm0/drizzle/client';
import { setScimRoles } from '@llm0/drizzle/queries/access/users';
import { conditionOf } from '@llm0/drizzle/queries/scim/filter';
import {
  findMemberIds,
  GROUP_PLACES,
  groupRows,
  listMembersOfGroups,
  listScimGroups,
  lockGroup,
  type StoredGroup,
  setMembers,
} from '@llm0/drizzle/queries/scim/groups';
import { raiseVersions } from '../../sign-on/raise-versions';
import type { Actor, AdminServices } from '../admin-services';
import { recordChange } from '../audit/record-change';
import type { HotStoreMirror } from '../customers/hot-store-mirror';
import { required } from '../fields/find-or-refuse';
import { GROUP_SHAPE } from './attributes';
import { metaOf, type Resource, type Show } from './resource';
import { ScimRefused, unlessTaken } from './scim-error';
import { type Complex, invalid, listOf } from './shape-resource';

const TAKEN = 'displayName: another group has this name.';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type Needs = Pick<AdminServices, 'db' | 'hotStore'>;

export function groupResource({ db, hotStore }: Needs, mirror: HotStoreMirror): Resource {
  const showing =
    (groups: readonly StoredGroup[]): Show =>
    (base, hasMembers) =>
      showGroups(db, groups, { base, hasMembers });
  const write = groupWriter({ db, hotStore }, mirror);
  return {
    shape: GROUP_SHAPE,
    linked: 'members',
    list: async ({ filter, ...page }) => {
      const condition = filter && conditionOf(filter, GROUP_PLACES);
      if (filter && !condition) throw new ScimRefused('invalidFilter', 'filter names an attribute that has no filter.');
      const { total, rows } = await listScimGroups(db, { ...page, condition });
      return { total, show: showing(rows) };
    },
    find: async (id) => showing([required(await groupRows.get(db, { id }), 'group')]),
    create: async (actor, given) => {
      const made = write(actor, 'create', async (tx) => {
        const { memberIds, ...fields } = await fieldsOf(tx, given, []);
        const group = await groupRows.create(tx, fields);
        const { joined } = await setMembers(tx, group.id, memberIds);
        return { group, before: null, concerned: joined, joined, left: [] };
      });
      return showing([await unlessTaken(TAKEN, made)]);
    },
    change: async (actor, id, decide) => {
      const changed = write(actor, 'update', async (tx) => {
        const before = required(await lockGroup(tx, id), 'group');
        const known = (await listMembersOfGroups(tx, [id])).get(id) ?? [];
        const { memberIds, ...fields } = await fieldsOf(tx, decide(givenOf(before, known)), known);
        const { joined, left } = await setMembers(tx, id, memberIds);
        const group = required(await groupRows.update(tx, { id }, fields), 'group');
        // Another name gives other roles to all of them.
        const all = group.displayName === before.displayName ? [] : memberIds;
        return { group, before, concerned: [...new Set([...joined, ...left, ...all])], joined, left };
      });
      return showing([await unlessTaken(TAKEN, changed)]);
    },
    remove: async (actor, id) => {
      await write(actor, 'delete', async (tx) => {
        const before = required(await lockGroup(tx, id), 'group');
        const { left } = await setMembers(tx, id, []);
        await groupRows.delete(tx, { id });
        return { group: before, before, concerned: left, joined: [], left };
      });
    },
  };
}

type Action = 'create' | 'update' | 'delete';

/** Audits changes, and brings the roles of everybody concerned into force. */
function groupWriter({ db, hotStore }: Needs, mirror: HotStoreMirror) {
  return async (actor: Actor, action: Action, work: (tx: Db) => Promise<Changed>): Promise<StoredGroup> => {
    const { group, raised } = await recordChange(db, actor, async (tx) => {
      const { group, before, concerned, ...members } = await work(tx);
      const result = { group, raised: await setScimRoles(tx, concerned) };
      const after = action === 'delete' ? undefined : { ...nameOf(group), ...members };
      const entry = { action, resource: 'scim_group' as const, resourceId: group.id };
      return { result, ...entry, before: before && nameOf(before), after };
    });
    await mirror.apply(`roles by SCIM ${crypto.randomUUID()}`, () => raiseVersions(hotStore, raised));
    return group;
  };
}

interface Changed {
  readonly group: StoredGroup;
  readonly before: StoredGroup | null;
  /** Users whose roles may change. */
  readonly concerned: readonly string[];
  readonly joined: readonly string[];
  readonly left: readonly string[];
}

const nameOf = ({ displayName, externalId }: StoredGroup) => ({ display_name: displayName, external_id: externalId });

async function showGroups(
  db: Db,
  groups: readonly StoredGroup[],
  { base, hasMembers }: { readonly base: string; readonly hasMembers: boolean },
) {
  const ids = groups.map(({ id }) => id);
  const members = await listMembersOfGroups(db, hasMembers ? ids : []);
  return groups.map((group) => {
    const { id, displayName, externalId } = group;
    const own = (members.get(id) ?? []).map((userId) => ({
      ...{ value: userId, $ref: `${base}/Users/${userId}`, type: 'User' },
    }));
    return {
      ...{ schemas: [GROUP_SHAPE.schema], id, ...(externalId !== null && { externalId }), displayName },
      ...(own.length > 0 && { members: own }),
      meta: metaOf(GROUP_SHAPE, group, base),
    };
  });
}

/** A row as a client may have sent it. */
function givenOf({ displayName, externalId }: StoredGroup, memberIds: readonly string[]): Complex {
  const own = memberIds.map((value) => ({ value }));
  return { displayName, ...(externalId !== null && { externalId }), ...(own.length > 0 && { members: own }) };
}

/** Throws for members that aren't users of SCIM; groups in groups aren't either. `before` are members already. */
async function fieldsOf(tx: Db, { displayName, externalId, members }: Complex, before: readonly string[]) {
  const ids = listOf(members).map((one) => String(typeof one === 'string' ? one : one.value).toLowerCase());
  const memberIds = [...new Set(ids)];
  const known = new Set(before);
  const asked = memberIds.filter((id) => !known.has(id) && UUID.test(id));
  for (const id of await findMemberIds(tx, asked)) known.add(id);
  const unknown = memberIds.find((id) => !known.has(id));
  if (unknown !== undefined) throw invalid('members', `has ${unknown.slice(0, 100)}, which is no user here`);
  return {
    displayName: String(displayName),
    externalId: typeof externalId === 'string' ? externalId : null,
    memberIds,
  };
}
