import type { Db } from '@llm0/drizzle/client';
import type { StoredApiKey } from '@llm0/drizzle/queries/access/api-keys';
import type { RaisedVersions } from '@llm0/drizzle/queries/access/levels';
import {
  endSessionsOfUser,
  lockUser,
  raiseKeysOfUsers,
  type StoredUser,
  stopKeysOfUser,
  userRows,
} from '@llm0/drizzle/queries/access/users';
import { raiseVersions } from '../../sign-on/raise-versions';
import type { Actor, AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import type { HotStoreMirror } from '../customers/hot-store-mirror';
import { type LevelFields, LevelLimits } from '../teams/level-limits';
import { showUser } from './schema';

type Fields = Parameters<typeof userRows.update>[2] & LevelFields;

/** Changes of users for the admin API and SCIM: audited, and in force at once. */
export class UserChanges {
  private readonly changes: AuditedChanges<StoredUser, ReturnType<typeof showUser>>;
  private readonly limits: LevelLimits;

  constructor(
    private readonly services: Pick<AdminServices, 'db' | 'hotStore'>,
    private readonly mirror: HotStoreMirror,
  ) {
    this.limits = new LevelLimits(services.hotStore, mirror);
    this.changes = new AuditedChanges(services.db, { resource: 'user', idOf: (user) => user.id, show: showUser });
  }

  create(actor: Actor, make: (tx: Db) => Promise<StoredUser>): Promise<StoredUser> {
    return this.changes.create(actor, make);
  }

  /** `decide` gets the user as it is; nobody changes it meanwhile. Throws `not_found`. */
  async update(
    actor: Actor,
    id: string,
    decide: (tx: Db, before: StoredUser) => Promise<Fields> | Fields,
  ): Promise<StoredUser> {
    const owner = { scope: 'user', levelId: id } as const;
    let changed: readonly StoredApiKey[] = [];
    let raised: readonly RaisedVersions[] = [];
    const write = async (tx: Db) => {
      const before = await userRows.get(tx, { id });
      if (before === null) return null;
      const fields = await decide(tx, before);
      raised = await this.limits.raise(tx, owner, fields);
      if (fields.isActive === false) changed = await stop(tx, id);
      if (fields.isActive === true && !before.isActive) changed = await raiseKeysOfUsers(tx, [id]);
      return userRows.update(tx, { id }, fields);
    };
    const find = async (tx: Db) => {
      await lockUser(tx, id);
      return userRows.get(tx, { id });
    };
    const user = await this.changes.update(actor, find, write);
    await this.limits.bringIntoForce(owner, raised);
    await this.bringIntoForce(changed);
    return user;
  }

  /** Throws `not_found`. */
  async remove(actor: Actor, id: string): Promise<void> {
    let changed: readonly StoredApiKey[] = [];
    await this.changes.remove(actor, async (tx) => {
      changed = await stop(tx, id);
      return userRows.delete(tx, { id });
    });
    // The deletion raises the versions once more.
    await this.bringIntoForce(changed.map((key) => ({ ...key, version: key.version + 1 })));
  }

  private async bringIntoForce(keys: readonly StoredApiKey[]): Promise<void> {
    const { hotStore } = this.services;
    for (const key of keys) await this.mirror.apply(`key ${key.id}`, () => raiseVersions(hotStore, [key]));
  }
}

/** Ends what the user has open; returns the keys that change with it. */
async function stop(tx: Db, userId: string): Promise<readonly StoredApiKey[]> {
  await endSessionsOfUser(tx, userId);
  return stopKeysOfUser(tx, userId);
}
