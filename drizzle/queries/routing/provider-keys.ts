import type { SealedSecret } from '@llm0/core/keys/secret-vault';
import { and, asc, eq, isNull, or, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { projects } from '../../schema/projects';
import { providerKeys } from '../../schema/routing';
import { afterCursor, newestFirst, type Page, type PageRequest, toPage } from '../page';

/** A key for a provider's API. The secret is sealed, bound to the id. */
export interface StoredProviderKey {
  readonly id: string;
  readonly provider: string;
  /** null = for every project. */
  readonly projectId: string | null;
  readonly name: string;
  /** The last characters of the secret, for recognising it. */
  readonly lastCharacters: string;
  readonly secret: SealedSecret;
  readonly isActive: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface ProviderKeyPath {
  readonly provider: string;
  readonly keyId: string;
}

type Row = typeof providerKeys.$inferSelect;

function toStored(row: Row): StoredProviderKey {
  const { encryptedKey, encryptionKeyId, createdAt, updatedAt, ...rest } = row;
  const secret = { keyId: encryptionKeyId, bytes: encryptedKey };
  return { ...rest, secret, createdAtMs: createdAt.getTime(), updatedAtMs: updatedAt.getTime() };
}

/** All of them, oldest first, but those of deleted projects: what connections are built from. */
export async function listAllProviderKeys(db: Db): Promise<readonly StoredProviderKey[]> {
  const rows = await db
    .select({ key: providerKeys })
    .from(providerKeys)
    .leftJoin(projects, eq(projects.id, providerKeys.projectId))
    .where(or(isNull(providerKeys.projectId), isNull(projects.deletedAt)))
    .orderBy(asc(providerKeys.createdAt), asc(providerKeys.id));
  return rows.map((row) => toStored(row.key));
}

/** Newest first. */
export async function listProviderKeys(
  db: Db,
  provider: string,
  page: PageRequest & { readonly projectId?: string },
): Promise<Page<StoredProviderKey>> {
  const rows = await db
    .select()
    .from(providerKeys)
    .where(
      and(
        eq(providerKeys.provider, provider),
        page.projectId === undefined ? undefined : eq(providerKeys.projectId, page.projectId),
        afterCursor(page, providerKeys.createdAt, providerKeys.id),
      ),
    )
    .orderBy(...newestFirst(providerKeys.createdAt, providerKeys.id))
    .limit(page.limit + 1);
  return toPage(rows.map(toStored), page.limit);
}

export async function getProviderKey(db: Db, path: ProviderKeyPath): Promise<StoredProviderKey | null> {
  const [row] = await db.select().from(providerKeys).where(at(path));
  return row === undefined ? null : toStored(row);
}

export async function createProviderKey(
  db: Db,
  key: Pick<StoredProviderKey, 'id' | 'provider' | 'projectId' | 'name' | 'lastCharacters' | 'secret'>,
): Promise<StoredProviderKey> {
  const { secret, ...rest } = key;
  const [row] = await db
    .insert(providerKeys)
    .values({ ...rest, encryptedKey: secret.bytes, encryptionKeyId: secret.keyId })
    .returning();
  if (row === undefined) throw new Error('insert into provider_keys returned no row');
  return toStored(row);
}

/** Changes what is given; null when there is no such key. */
export async function updateProviderKey(
  db: Db,
  path: ProviderKeyPath,
  changes: Partial<Pick<StoredProviderKey, 'name' | 'isActive' | 'lastCharacters' | 'secret'>>,
): Promise<StoredProviderKey | null> {
  const { secret, ...rest } = changes;
  const sealed = secret === undefined ? {} : { encryptedKey: secret.bytes, encryptionKeyId: secret.keyId };
  const [row] = await db
    .update(providerKeys)
    .set({ ...rest, ...sealed, updatedAt: sql`now()` })
    .where(at(path))
    .returning();
  return row === undefined ? null : toStored(row);
}

export async function deleteProviderKey(db: Db, path: ProviderKeyPath): Promise<boolean> {
  const rows = await db.delete(providerKeys).where(at(path)).returning({ id: providerKeys.id });
  return rows.length > 0;
}

/** All keys of a provider that goes. */
export async function deleteProviderKeys(db: Db, provider: string): Promise<void> {
  await db.delete(providerKeys).where(eq(providerKeys.provider, provider));
}

const at = ({ provider, keyId }: ProviderKeyPath) =>
  and(eq(providerKeys.provider, provider), eq(providerKeys.id, keyId));
