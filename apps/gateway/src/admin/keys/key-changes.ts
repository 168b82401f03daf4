import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import type { Db } from '@llm0/drizzle/client';
import { type KeyPath, keyRows, lockApiKey, type StoredApiKey } from '@llm0/drizzle/queries/access/api-keys';
import { type RaisedVersions, raiseUsers } from '@llm0/drizzle/queries/access/levels';
import { followRole } from '@llm0/drizzle/queries/access/may-use';
import type { Actor, AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import type { HotStoreMirror } from '../customers/hot-store-mirror';
import { requireProject } from '../fields/find-or-refuse';
import type { LevelLimits } from '../teams/level-limits';
import { boundsAfter, refuseLooser, refuseProjectLabels, writeBounds } from './bounds';
import { showKey } from './schema';

export function createKeyChanges({ db, hotStore }: Pick<AdminServices, 'db' | 'hotStore'>, mirror: HotStoreMirror) {
  return new AuditedChanges(db, {
    resource: 'key',
    idOf: (key) => key.id,
    show: showKey,
    goLive: ({ projectId, id: keyId, version }, action) => {
      const write = () => hotStore.setVersions(projectId, null, [{ keyId, version }]);
      // An unknown key loads at its first request, so its secret can be shown either way.
      return action === 'create' ? mirror.applyLater(`key ${keyId}`, write) : mirror.apply(`key ${keyId}`, write);
    },
  });
}

/** Throws `not_found` without the project. */
export async function findKey(db: Db, at: KeyPath): Promise<StoredApiKey | null> {
  await requireProject(db, at.projectId);
  return keyRows.get(db, at);
}

/** Until the transaction ends, others wait to change the key. */
async function lockKey(tx: Db, at: KeyPath): Promise<StoredApiKey | null> {
  await lockApiKey(tx, at);
  return findKey(tx, at);
}

export const keyPath = (param: { id: string; key_id: string }): KeyPath => ({ projectId: param.id, id: param.key_id });

interface Changing {
  readonly changes: ReturnType<typeof createKeyChanges>;
  readonly limits: LevelLimits;
}

export async function changeKey(
  { changes, limits }: Changing,
  actor: Actor,
  {
    at,
    set,
  }: { readonly at: KeyPath; readonly set: Parameters<typeof keyRows.update>[2] & { userId?: string | null } },
): Promise<StoredApiKey> {
  let raised: readonly RaisedVersions[] = [];
  const write = async (tx: Db) => {
    raised = await raiseOwners(tx, at, set.userId);
    const key = refuseDefaultAboveMost(await keyRows.update(tx, at, set));
    if (key === null || !actor.may('change_keys')) return key;
    if (set.userId != null) await followRole(tx, key.id);
    return writeBounds(tx, key, boundsAfter(key, set));
  };
  const find = async (tx: Db) => {
    // Admins take no lock here: a change of the user takes that of the user first.
    if (actor.may('change_keys')) return refuseActivation(await findKey(tx, at), set.isActive === true);
    const key = refuseActivation(await lockKey(tx, at), set.isActive === true);
    refuseLooser(key?.bounds ?? null, set);
    if (set.labels != null) refuseProjectLabels(await requireProject(tx, at.projectId), set);
    return key;
  };
  const key = await changes.update(actor, find, write);
  await limits.bringIntoForce({ scope: 'user', levelId: key.userId ?? '' }, raised);
  return key;
}

/** A key's spend moves to its new user's budget. */
async function raiseOwners(tx: Db, at: KeyPath, userId: string | null | undefined): Promise<readonly RaisedVersions[]> {
  const before = userId === undefined ? null : await keyRows.get(tx, at);
  return before === null || before.userId === userId ? [] : raiseUsers(tx, [before.userId, userId ?? null]);
}

/** Approving a key is another right than changing it. */
function refuseActivation(key: StoredApiKey | null, isActivated: boolean): StoredApiKey | null {
  if (!isActivated || key === null || key.requestedAtMs === null) return key;
  throw new GatewayError('conflict', 'This key waits for approval. An admin of the team approves it.', {
    param: 'is_active',
  });
}

/** Within the transaction that wrote the key. */
export function refuseDefaultAboveMost<T extends StoredApiKey | null>(key: T): T {
  const { defaultRunBudgetNanoUsd: usual, maxRunBudgetNanoUsd: most } = key ?? {};
  if (usual == null || most == null || usual <= most) return key;
  throw invalidRequest('default_run_budget_usd', 'must not be above max_run_budget_usd');
}
