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

/** All of them. A key that was deleted, or got another secret without a grace, has nothing to verify. */
export async function listLegacyKeys(db: Db): Promise<readonly LegacyKey[]> {
  const isPrevious = sql`${apiKeys.previousHash} = ${legacyKeys.standIn} and ${apiKeys.previousSecretExpiresAtMs} > now()`;
  const isWaiting = sql`${apiKeys.deletedAtMs} is null and (${apiKeys.hash} = ${legacyKeys.standIn} or (${isPrevious}))`;
  return db
    .select({
      apiKeyId: legacyKeys.apiKeyId,
      lookup: legacyKeys.lookup,
      bcryptHash: sql<string | null>`case when ${isWaiting} then ${legacyKeys.bcryptHash} end`,
    })
    .from(legacyKeys)
    .innerJoin(apiKeys, eq(apiKeys.id, legacyKeys.apiKeyId));
}

/** Replaces a verified key's bcrypt hash with its SHA-256, also of a secret that a rotation kept for a while. */
export async function adoptLegacyKey(db: Db, apiKeyId: string, hash: string): Promise<void> {
  await db.transaction(async (tx) => {
    const [row] = await tx.select().from(legacyKeys).where(eq(legacyKeys.apiKeyId, apiKeyId)).for('update');
    if (row?.bcryptHash === null || row === undefined) return;
    for (const [name, column] of [
      ['hash', apiKeys.hash],
      ['previousHash', apiKeys.previousHash],
    ] as const) {
      await tx
        .update(apiKeys)
        .set({ [name]: hash })
        .where(and(eq(apiKeys.id, apiKeyId), eq(column, row.standIn)));
    }
    await tx.update(legacyKeys).set({ bcryptHash: null }).where(eq(legacyKeys.apiKeyId, apiKeyId));
  });
}
