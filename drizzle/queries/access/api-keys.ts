import type { ApiKey } from '@llm0/core/keys/api-key';
import { and, eq, ilike, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { apiKeys } from '../../schema/api-keys';
import { projects } from '../../schema/projects';
import { teams } from '../../schema/teams';
import { containsPattern } from '../contains-pattern';
import { ofProjects, type ProjectScope } from '../of-projects';
import type { Page, PageRequest } from '../page';
import { ofLiveProject, Rows, type Stored } from '../rows';

/** Keys that are not deleted, with their shown prefix and dates; hashes stay in the database. */
export const keyRows = new Rows(apiKeys, {
  hidden: ['hash', 'previousHash', 'deletedAtMs'],
  live: isNull(apiKeys.deletedAtMs),
});
export type StoredApiKey = Stored<typeof keyRows>;

/** Operator's settings. Omitted or null limit = none. Money in nano-USD. */
export type ApiKeySettings = Partial<Omit<ApiKey, 'id' | 'projectId' | 'name' | 'version'>>;

/** Key within its project. */
export interface KeyPath {
  readonly projectId: string;
  readonly id: string;
}

export interface KeyPageRequest extends PageRequest {
  /** Part of the name, shown prefix or a label; ignores case. */
  readonly q?: string;
  /** Only keys that wait for approval. */
  readonly isRequested?: boolean;
}

/** Hash of a key; null if missing or deleted. */
export async function findKeyHash(db: Db, { projectId, id }: KeyPath): Promise<string | null> {
  const [row] = await db
    .select({ hash: apiKeys.hash })
    .from(apiKeys)
    .where(and(eq(apiKeys.id, id), eq(apiKeys.projectId, projectId), isNull(apiKeys.deletedAtMs)));
  return row?.hash ?? null;
}

/** Hash of a key, deleted ones included, for what it has spent; null if there never was one. */
export async function findAnyKeyHash(db: Db, { projectId, id }: KeyPath): Promise<string | null> {
  const named = and(eq(apiKeys.id, id), eq(apiKeys.projectId, projectId));
  const [row] = await db.select({ hash: apiKeys.hash }).from(apiKeys).where(named);
  return row?.hash ?? null;
}

/** Newest first, revoked ones included, deleted ones not; of one project, or of all there are. */
export async function listApiKeys(db: Db, projectId: ProjectScope, page: KeyPageRequest): Promise<Page<StoredApiKey>> {
  const part = page.q === undefined ? undefined : containsPattern(page.q);
  const inLabels = sql`exists (select 1 from jsonb_each_text(${apiKeys.labels}) as l where l.key || '=' || l.value ilike ${part ?? ''})`;
  const matches = part === undefined ? undefined : or(ilike(apiKeys.name, part), ilike(apiKeys.prefix, part), inLabels);
  const isLive = typeof projectId !== 'string' ? ofLiveProject(apiKeys.projectId) : undefined;
  const isRequested = page.isRequested === true ? isNotNull(apiKeys.requestedAtMs) : undefined;
  return keyRows.list(db, page, { projectId }, and(matches, isLive, isRequested));
}

/** Existing ones of these ids, deleted ones included: their rows stay. */
export async function listKeyNames(
  db: Db,
  ids: readonly string[],
  scope?: ProjectScope,
): Promise<readonly { readonly id: string; readonly projectId: string; readonly name: string }[]> {
  if (ids.length === 0) return [];
  return db
    .select({ id: apiKeys.id, projectId: apiKeys.projectId, name: apiKeys.name })
    .from(apiKeys)
    .where(and(inArray(apiKeys.id, [...ids]), ofProjects(scope, sql`${apiKeys.projectId}`)));
}

/**
 * Refuses the key and hides it; its log rows stay. One of tokens isn't hidden: the next token would make another. Returns
 * it with its new `version` for the hot store. An admin's deletion frees the user's next keys of what admins set.
 */
export function deleteApiKey(
  db: Db,
  path: KeyPath,
  { keepsBounds = false }: { readonly keepsBounds?: boolean } = {},
): Promise<StoredApiKey | null> {
  return keyRows.update(db, path, {
    ...(!keepsBounds && { bounds: null }),
    isActive: false,
    requestedAtMs: null,
    deletedAtMs: sql`case when not ${apiKeys.isSignOn} then now() end`,
  });
}

/** New secret of a key. The one before works until `graceEndMs`; null = it ends at once. The one before that ends now. */
export function rotateApiKey(
  db: Db,
  path: KeyPath,
  { hash, prefix, graceEndMs }: { readonly hash: string; readonly prefix: string; readonly graceEndMs: number | null },
): Promise<StoredApiKey | null> {
  const previousHash = graceEndMs === null ? null : sql`${apiKeys.hash}`;
  return keyRows.update(db, path, { hash, prefix, previousHash, previousSecretExpiresAtMs: graceEndMs });
}

/** True if new keys of members wait for an admin of the project's team. */
export async function needsApproval(db: Db, projectId: string): Promise<boolean> {
  const found = await db
    .select({ isNeeded: teams.keyApproval })
    .from(projects)
    .innerJoin(teams, eq(teams.id, projects.teamId))
    .where(eq(projects.id, projectId));
  return found[0]?.isNeeded === true;
}

/** Until the transaction ends, others wait to change the key. */
export async function lockApiKey(tx: Db, { id }: KeyPath): Promise<void> {
  await tx.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.id, id)).for('no key update');
}

/** Keys of a user in a project for which admins set something; deleted ones too. */
export async function listBoundKeys(
  db: Db,
  { projectId, userId }: { readonly projectId: string; readonly userId: string },
): Promise<readonly Pick<StoredApiKey, 'name' | 'bounds'>[]> {
  return db
    .select({ name: apiKeys.name, bounds: apiKeys.bounds })
    .from(apiKeys)
    .where(and(eq(apiKeys.projectId, projectId), eq(apiKeys.userId, userId), isNotNull(apiKeys.bounds)));
}

/** True if a key has had this secret until its last rotation. */
export async function isPreviousSecret(db: Db, hash: string): Promise<boolean> {
  const found = await db.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.previousHash, hash));
  return found.length > 0;
}
