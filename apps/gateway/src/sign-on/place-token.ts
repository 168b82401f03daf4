import { Access } from '@llm0/core/access/access';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { createKeySecret } from '@llm0/core/keys/api-key';
import type { HotStore } from '@llm0/core/limits/hot-store';
import type { Db } from '@llm0/drizzle/client';
import { needsApproval } from '@llm0/drizzle/queries/access/api-keys';
import { addAuditEntry } from '@llm0/drizzle/queries/access/audit-trail';
import { findProjectsAt, putSignOnKey } from '@llm0/drizzle/queries/access/sign-on-keys';
import { listMemberships, type StoredUser, setGroupRoles, signInUser } from '@llm0/drizzle/queries/access/users';
import type { GoodToken } from './access-tokens';
import { groupRolesOf, whoIs } from './claims';
import { raiseVersions } from './raise-versions';

interface Needs {
  readonly db: Db;
  readonly hotStore: Pick<HotStore, 'setVersions'>;
  readonly nowMs: () => number;
}

const HEADER = 'X-LLM0-Project';

/**
 * Makes the user at the first token, sets the roles of its groups, and finds or makes the key of its tokens in the project.
 * Returns the key's hash. Throws `permission_denied`, or `store_unavailable` without Postgres.
 */
export async function placeToken({ db, hotStore, nowMs }: Needs, token: GoodToken): Promise<string> {
  const work = db.transaction((tx) => place(tx, token, nowMs()));
  const { hash, raised, refusal } = await work.catch((cause: unknown) => {
    if (cause instanceof GatewayError) throw cause;
    const message = 'The store of users is unreachable. Retry shortly.';
    throw new GatewayError('store_unavailable', message, { retryAfterMs: 1000, cause });
  });
  await raiseVersions(hotStore, raised);
  // User and roles are kept: an admin can give this user a team, and a group that is gone takes its role along.
  if (refusal !== undefined) throw refusal;
  return hash;
}

interface Placed {
  readonly hash: string;
  readonly raised: NonNullable<Awaited<ReturnType<typeof setGroupRoles>>>;
  readonly refusal?: GatewayError;
}

async function place(tx: Db, { provider, claims, project }: GoodToken, nowMs: number): Promise<Placed> {
  const { user, isNew } = await signInUser(tx, whoIs(provider, claims, nowMs));
  if (!user.isActive) throw refused('This user is deactivated. Ask an admin.');
  const roles = groupRolesOf(provider, claims);
  const raised = roles && (await setGroupRoles(tx, user.id, { identityProviderId: provider.id, roles }));
  const access = Access.of(await listMemberships(tx, user.id));
  const chosen = await chooseProject(tx, user, { access, named: project }).catch(asRefusal);
  if (typeof chosen !== 'string') return { hash: '', raised: raised ?? [], refusal: chosen };
  const projectId = chosen;
  // Nobody learns the secret: the hash alone leads to the key.
  const { hash: newHash } = createKeySecret();
  const made = { userId: user.id, projectId, name: user.email ?? user.name, hash: newHash, prefix: 'sign-on' };
  const waits = (await needsApproval(tx, projectId)) && !(await mayMakeAny(tx, access, projectId));
  const state = waits ? { isActive: false, requestedAtMs: nowMs } : {};
  const { id, hash, isNew: isNewKey } = await putSignOnKey(tx, { ...made, ...state });
  if (isNew || isNewKey || raised?.length) {
    const after = { user_id: user.id, identity_provider: provider.name, is_new: isNew, project_id: projectId, roles };
    const actor = user.email ?? user.name;
    await addAuditEntry(tx, { actor, action: 'sign_in', resource: 'key', resourceId: id, after });
  }
  return { hash, raised: raised ?? [] };
}

function asRefusal(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause;
  throw cause;
}

/** The one that is named, else the user's default, else the only one there is. */
async function chooseProject(
  tx: Db,
  { defaultProjectId }: StoredUser,
  { access, named }: { readonly access: Access; readonly named: string | null },
): Promise<string> {
  const places = access.mayEverywhere('change_own_keys') ? undefined : access.placesOf('change_own_keys');
  const project = named ?? defaultProjectId ?? undefined;
  const found = await findProjectsAt(tx, { places, project }, 2);
  const [only, other] = found;
  if (only !== undefined && other === undefined) return only.id;
  if (only !== undefined) {
    const why =
      named === null
        ? `You may use several projects. Name one in ${HEADER}, by its name or id.`
        : `Several projects have this name. Name one in ${HEADER} by its id.`;
    throw new GatewayError('invalid_request', why, { param: HEADER });
  }
  if (named !== null)
    throw refused(`You may use no project "${named.slice(0, 100)}". Check ${HEADER}, or ask an admin.`);
  throw refused('No team gives you a project in which you may use keys. Ask an admin for the role "member" in one.');
}

/** Keys of admins never wait. */
async function mayMakeAny(tx: Db, access: Access, project: string): Promise<boolean> {
  if (access.mayEverywhere('change_keys')) return true;
  return (await findProjectsAt(tx, { places: access.placesOf('change_keys'), project }, 1)).length > 0;
}

const refused = (message: string) => new GatewayError('permission_denied', message, { param: HEADER });
