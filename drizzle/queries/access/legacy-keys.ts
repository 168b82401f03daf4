import { and, eq, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { apiKeys } from '../../schema/api-keys';
import { legacyKeys } from '../../schema/legacy-keys';

export interface LegacyKey {
  readonly apiKeyId: string;
  /** Prefix of the key. */
  readonly lookup: string;
  /** null = there is nothing to verify any more. */
  readonly bcryptHash: string | null;
}

/** All of them; keys that were deleted or got another secret since have nothing to verify. */
export async function listLegacyKeys(db: Db): Promise<readonly LegacyKey[]> {
  const isWaiting = sql`${apiKeys.deletedAtMs} is null and ${apiKeys.hash} = ${legacyKeys.standIn}`;
  return db
    .select({
      apiKeyId: legacyKeys.apiKeyId,
      lookup: legacyKeys.lookup,
      bcryptHash: sql<string | null>`case when ${isWaiting} then ${legacyKeys.bcryptHash} end`,
    })
    .from(legacyKeys)
    .innerJoin(apiKeys, eq(apiKeys.id, legacyKeys.apiKeyId));
}

/** Replaces a verified key's bcrypt hash with its SHA-256. */
export async function adoptLegacyKey(db: Db, apiKeyId: string, hash: string): Promise<void> {
  await db.transaction(async (tx) => {
    const [row] = await tx.select().from(legacyKeys).where(eq(legacyKeys.apiKeyId, apiKeyId)).for('update');
    if (row?.bcryptHash === null || row === undefined) return;
    await tx
      .update(apiKeys)
      .set({ hash })
      .where(and(eq(apiKeys.id, apiKeyId), eq(apiKeys.hash, row.standIn)));
    await tx.update(legacyKeys).set({ bcryptHash: null }).where(eq(legacyKeys.apiKeyId, apiKeyId));
  });
}
