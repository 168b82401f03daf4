import { Access } from '@llm0/core/access/access';
import { type Permission, TOKEN_TABLE } from '@llm0/core/access/roles';
import type { SessionUser } from '@llm0/drizzle/queries/access/admin-sessions';
import type { AdminRole } from '@llm0/drizzle/queries/access/admin-tokens';
import type { Actor } from '../admin-services';

type Who = Pick<Actor, 'name' | 'access' | 'may' | 'rights' | 'user'>;

/** Holder of an admin token; `canReadBodies` null: by role. */
export function tokenActor(name: string, role: AdminRole, canReadBodies: boolean | null): Who {
  const permissions = new Set<Permission>(TOKEN_TABLE[role]);
  if (canReadBodies === true) permissions.add('read_bodies');
  if (canReadBodies === false) permissions.delete('read_bodies');
  return asActor(name, Access.everywhere(permissions), `${role} ${permissions.has('read_bodies')}`);
}

/** A person who signed in; the address tells people of one name apart. */
export function userActor(user: SessionUser): Who {
  const actor = asActor(user.email ?? user.name, Access.of(user.grants), JSON.stringify(user.grants));
  return { ...actor, user };
}

const asActor = (name: string, access: Access, rights: string): Who => ({
  ...{ name, access, rights, may: (permission: Permission) => access.mayEverywhere(permission) },
});
