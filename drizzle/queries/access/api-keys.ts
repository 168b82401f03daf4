import type { ApiKey } from '@llm0/core/keys/api-key';
import { and, eq, ilike, inArray, isNull, or, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { apiKeys } from '../../schema/api-keys';
import { containsPattern } from '../contains-pattern';
import { afterCursor, newestFirst, type Page, type PageRequest, toPage } from '../page';

/** A key with its shown prefix and its dates (epoch milliseconds); the hash stays in the database. */
export interface StoredApiKey extends ApiKey {
  readonly prefix: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** What an operator sets. Omitted or null limit = none. Money in nano-USD. */
export type ApiKeySettings = Partial<Omit<ApiKey, 'id' | 'projectId' | 'name' | 'version'>>;

/** `hash`: lower-case hex SHA-256 of the secret. */
export interface KeySecretParts {
  readonly hash: string;
  readonly prefix: string;
}

/** Where a key is looked for: only within its project. */
export interface KeyPath {
  readonly projectId: string;
  readonly keyId: string;
}

type Row = typeof apiKeys.$inferSelect;

/** `api_keys` columns as the core type. */
export function toApiKey(row: Row): StoredApiKey {
  const { keyHash: _hash, keyPrefix, expiresAt, createdAt, updatedAt, deletedAt: _, ...key } = row;
  return {
    ...key,
    prefix: keyPrefix,
    expiresAtMs: expiresAt?.getTime() ?? null,
    createdAtMs: createdAt.getTime(),
    updatedAtMs: updatedAt.getTime(),
  };
}

export async function createApiKey(
  db: Db,
  input: ApiKeySettings & KeySecretParts & { readonly projectId: string; readonly name: string },
): Promise<StoredApiKey> {
  const { hash, prefix, projectId, name, ...settings } = input;
  const [row] = await db
    .insert(apiKeys)
    .values({ ...toColumns(settings), projectId, name, keyHash: hash, keyPrefix: prefix })
    .returning();
  if (row === undefined) throw new Error('insert into api_keys returned no row');
  return toApiKey(row);
}

export interface KeyPageRequest extends PageRequest {
  /** Part of the name or of the shown prefix, whatever the case. */
  readonly q?: string;
}

/** Newest first, revoked ones included, deleted ones not. */
export async function listApiKeys(db: Db, projectId: string, page: KeyPageRequest): Promise<Page<StoredApiKey>> {
  const part = page.q === undefined ? undefined : containsPattern(page.q);
  const rows = await db
    .select()
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.projectId, projectId),
        isNull(apiKeys.deletedAt),
        part === undefined ? undefined : or(ilike(apiKeys.name, part), ilike(apiKeys.keyPrefix, part)),
        afterCursor(page, apiKeys.createdAt, apiKeys.id),
      ),
    )
    .orderBy(...newestFirst(apiKeys.createdAt, apiKeys.id))
    .limit(page.limit + 1);
  return toPage(rows.map(toApiKey), page.limit);
}

/** Of these ids, those there are, deleted ones too: their rows stay. */
export async function listKeyNames(
  db: Db,
  ids: readonly string[],
): Promise<readonly { readonly id: string; readonly projectId: string; readonly name: string }[]> {
  if (ids.length === 0) return [];
  return db
    .select({ id: apiKeys.id, projectId: apiKeys.projectId, name: apiKeys.name })
    .from(apiKeys)
    .where(inArray(apiKeys.id, [...ids]));
}

export async function getApiKey(db: Db, path: KeyPath): Promise<StoredApiKey | null> {
  const [row] = await db.select().from(apiKeys).where(at(path));
  return row === undefined ? null : toApiKey(row);
}

/** Changes what is given and raises `version`; null when there is no such key. */
export async function updateApiKey(
  db: Db,
  path: KeyPath,
  changes: ApiKeySettings & { readonly name?: string },
): Promise<StoredApiKey | null> {
  if (Object.values(changes).every((value) => value === undefined)) return getApiKey(db, path);
  return change(db, path, toColumns(changes));
}

/** Gives the key a new secret, keeps everything else; the old secret is refused from now on. */
export async function rotateApiKey(db: Db, path: KeyPath, secret: KeySecretParts): Promise<StoredApiKey | null> {
  return change(db, path, { keyHash: secret.hash, keyPrefix: secret.prefix });
}

/** Refuses the key from now on; it stays in lists. */
export async function revokeApiKey(db: Db, path: KeyPath): Promise<StoredApiKey | null> {
  return change(db, path, { isActive: false });
}

/** Refuses the key and hides it; its log rows stay. Returns it with its new `version` for the hot store. */
export async function deleteApiKey(db: Db, path: KeyPath): Promise<StoredApiKey | null> {
  return change(db, path, { isActive: false, deletedAt: sql`now()` });
}

type Changes = Parameters<ReturnType<Db['update']>['set']>[0];

async function change(db: Db, path: KeyPath, changes: Changes): Promise<StoredApiKey | null> {
  const [row] = await db.update(apiKeys).set(changes).where(at(path)).returning();
  return row === undefined ? null : toApiKey(row);
}

function toColumns(settings: ApiKeySettings & { readonly name?: string }) {
  const { expiresAtMs, ...columns } = settings;
  if (expiresAtMs === undefined) return columns;
  return { ...columns, expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs) };
}

const at = (path: KeyPath) =>
  and(eq(apiKeys.id, path.keyId), eq(apiKeys.projectId, path.projectId), isNull(apiKeys.deletedAt));
