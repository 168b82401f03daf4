import { invalidRequest } from '@llm0/core/errors/gateway-error';
import type { Db } from '@llm0/drizzle/client';
import { type StoredUser, userRows } from '@llm0/drizzle/queries/access/users';
import { conditionOf } from '@llm0/drizzle/queries/scim/filter';
import {
  findScimUser,
  findUsersBefore,
  listGroupsOfUsers,
  listScimUsers,
  USER_PLACES,
} from '@llm0/drizzle/queries/scim/users';
import { required } from '../fields/find-or-refuse';
import type { UserChanges } from '../users/user-changes';
import { USER_SHAPE } from './attributes';
import { metaOf, type Resource } from './resource';
import { ScimRefused, unlessTaken } from './scim-error';
import { type Complex, listOf } from './shape-resource';

const TAKEN = 'userName: another user has this name.';

export function userResource(db: Db, changes: UserChanges): Resource {
  const show = async (users: readonly StoredUser[], base: string, { hasGroups }: { readonly hasGroups: boolean }) => {
    const ids = users.map(({ id }) => id);
    const groups = await listGroupsOfUsers(db, hasGroups ? ids : []);
    return users.map((user) => {
      const { id, userName, externalId, scim } = user;
      const own = (groups.get(id) ?? []).map((group) => ({
        ...{ value: group.id, $ref: `${base}/Groups/${group.id}`, display: group.displayName },
      }));
      const profile = { ...(externalId !== null && { externalId }), userName, ...scim, ...activeOf(user) };
      const member = own.length > 0 && { groups: own };
      return { schemas: [USER_SHAPE.schema], id, ...profile, ...member, meta: metaOf(USER_SHAPE, user, base) };
    });
  };
  return {
    shape: USER_SHAPE,
    linked: 'groups',
    list: async ({ filter, ...page }) => {
      const condition = filter && conditionOf(filter, USER_PLACES);
      if (filter && !condition) throw new ScimRefused('invalidFilter', 'filter names an attribute that has no filter.');
      const { total, rows } = await listScimUsers(db, { ...page, condition });
      return { total, show: (base, hasGroups) => show(rows, base, { hasGroups }) };
    },
    find: async (id) => {
      const user = required(await findScimUser(db, id), 'user');
      return (base, hasGroups) => show([user], base, { hasGroups });
    },
    create: async (actor, given) => {
      const fields = fieldsOf({ active: true, ...given });
      const user = await unlessTaken(TAKEN, createOrAdopt({ db, changes }, actor, fields));
      return (base, hasGroups) => show([user], base, { hasGroups });
    },
    change: async (actor, id, decide) => {
      required(await findScimUser(db, id), 'user');
      const changed = changes.update(actor, id, (_, before) => fieldsOf(decide(givenOf(before))));
      const user = await unlessTaken(TAKEN, changed);
      return (base, hasGroups) => show([user], base, { hasGroups });
    },
    remove: async (actor, id) => {
      required(await findScimUser(db, id), 'user');
      await changes.remove(actor, id);
    },
  };
}

type Fields = ReturnType<typeof fieldsOf>;

/**
 * A user who is here already, and whom the provider's subject or a verified address names, keeps roles and keys. An address
 * that nobody vouches for is refused: it may be somebody else's.
 */
async function createOrAdopt(
  { db, changes }: { readonly db: Db; readonly changes: UserChanges },
  actor: Parameters<UserChanges['create']>[0],
  fields: Fields,
): Promise<StoredUser> {
  const [before] = await findUsersBefore(db, fields);
  if (before === undefined) return changes.create(actor, (tx) => userRows.create(tx, fields));
  if (before.isSure) {
    return changes.update(actor, before.id, (_, { userName }) => {
      if (userName !== null) throw new ScimRefused('uniqueness', TAKEN);
      return fields;
    });
  }
  const message =
    `emails: the user ${before.id} has this address, and no issuer vouches for it. ` +
    'Delete that user in the gateway, or change its address.';
  throw new ScimRefused('uniqueness', message);
}

/** A row as a client may have sent it. */
function givenOf(user: StoredUser): Complex {
  const { userName, externalId, scim } = user;
  const kept = (scim ?? {}) as Complex;
  return { ...kept, userName: userName ?? '', ...activeOf(user), ...(externalId !== null && { externalId }) };
}

/** Nothing once a client removed the attribute, which leaves the user as it is. */
const activeOf = ({ isActive, scim }: StoredUser): Complex => (scim?.active === undefined ? {} : { active: isActive });

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

function fieldsOf({ userName, externalId, ...scim }: Complex) {
  const login = textOf(userName);
  if (login === undefined) throw invalidRequest('userName', 'is required');
  const { formatted, givenName, familyName } = (scim.name ?? {}) as Complex;
  const whole = [givenName, familyName].flatMap((part) => textOf(part) ?? []).join(' ');
  const emails = listOf(scim.emails).filter((one) => typeof one !== 'string');
  const first = emails.find(({ primary }) => primary === true) ?? emails[0];
  return {
    userName: login,
    externalId: textOf(externalId) ?? null,
    // Only somebody who says so makes a deactivated user active again.
    isActive: scim.active === undefined ? undefined : scim.active === true,
    name: textOf(scim.displayName) ?? textOf(formatted) ?? textOf(whole) ?? login,
    email: textOf(first?.value) ?? (login.includes('@') ? login : null),
    scim,
  };
}
