import type { SealedSecret } from '@llm0/core/keys/secret-vault';
import { asc, eq, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { providers } from '../../schema/routing';

/** A provider that an operator added or set up at run time. */
export interface StoredProvider {
  readonly id: string;
  readonly name: string;
  /** Whose API it speaks. */
  readonly kind: string;
  /** null = the vendor's own. */
  readonly baseUrl: string | null;
  readonly options: Readonly<Record<string, string>>;
  /** JSON of all headers, sealed. */
  readonly headers: SealedSecret | null;
  readonly headerNames: readonly string[];
  /** Names of its models; empty = those it lists by itself. */
  readonly models: readonly string[];
  readonly isActive: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export type ProviderSettings = Pick<
  StoredProvider,
  'baseUrl' | 'options' | 'headers' | 'headerNames' | 'models' | 'isActive'
>;

type Row = typeof providers.$inferSelect;

function toStored(row: Row): StoredProvider {
  const { encryptedHeaders, encryptionKeyId, createdAt, updatedAt, ...rest } = row;
  const headers =
    encryptedHeaders === null || encryptionKeyId === null ? null : { keyId: encryptionKeyId, bytes: encryptedHeaders };
  return { ...rest, headers, createdAtMs: createdAt.getTime(), updatedAtMs: updatedAt.getTime() };
}

function toColumns({ headers, ...rest }: Partial<ProviderSettings>) {
  if (headers === undefined) return rest;
  return { ...rest, encryptedHeaders: headers?.bytes ?? null, encryptionKeyId: headers?.keyId ?? null };
}

/** All of them, by name. */
export async function listProviders(db: Db): Promise<readonly StoredProvider[]> {
  return (await db.select().from(providers).orderBy(asc(providers.name))).map(toStored);
}

export async function getProvider(db: Db, name: string): Promise<StoredProvider | null> {
  const [row] = await db.select().from(providers).where(eq(providers.name, name));
  return row === undefined ? null : toStored(row);
}

/** null when there is one of that name already. */
export async function createProvider(
  db: Db,
  settings: Pick<StoredProvider, 'id' | 'name' | 'kind'> & Partial<ProviderSettings>,
): Promise<StoredProvider | null> {
  const { id, name, kind, ...rest } = settings;
  const [row] = await db
    .insert(providers)
    .values({ id, name, kind, ...toColumns(rest) })
    .onConflictDoNothing()
    .returning();
  return row === undefined ? null : toStored(row);
}

/** Changes what is given; null when there is none. */
export async function updateProvider(
  db: Db,
  name: string,
  settings: Partial<ProviderSettings>,
): Promise<StoredProvider | null> {
  const [row] = await db
    .update(providers)
    .set({ ...toColumns(settings), updatedAt: sql`now()` })
    .where(eq(providers.name, name))
    .returning();
  return row === undefined ? null : toStored(row);
}

export async function deleteProvider(db: Db, name: string): Promise<boolean> {
  const rows = await db.delete(providers).where(eq(providers.name, name)).returning({ id: providers.id });
  return rows.length > 0;
}
