import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { adminTokens } from '../../schema/operations';
import { Rows, type Stored } from '../rows';

/** Named tokens of the admin API that are not revoked. */
export const tokenRows = new Rows(adminTokens, {
  hidden: ['hash', 'revokedAtMs'],
  live: isNull(adminTokens.revokedAtMs),
});
export type AdminToken = Stored<typeof tokenRows>;
export type AdminRole = AdminToken['role'];

/** Admins may read stored prompts and answers, viewers not, unless their token overrides it. */
export const mayReadBodies = ({ role, canReadBodies }: Pick<AdminToken, 'role' | 'canReadBodies'>): boolean =>
  canReadBodies ?? role === 'admin';

export const isInForce = sql`(${adminTokens.revokedAtMs} is null
  and (${adminTokens.expiresAtMs} is null or ${adminTokens.expiresAtMs} > now()))`;

/** The live token with this lower-case hex SHA-256; null when unknown, revoked or expired. */
export async function findAdminToken(db: Db, hash: string): Promise<AdminToken | null> {
  const [token] = await tokenRows.find(db, and(eq(adminTokens.hash, hash), isInForce));
  if (token !== undefined) await noteTokenUse(db, token.id);
  return token ?? null;
}

/** Once a minute. A database that takes no changes keeps nobody out. */
async function noteTokenUse(db: Db, id: string): Promise<void> {
  const isOld = sql`coalesce(${adminTokens.lastUsedAtMs} < now() - interval '1 minute', true)`;
  const note = db
    .update(adminTokens)
    .set({ lastUsedAtMs: sql`now()` })
    .where(and(eq(adminTokens.id, id), isOld));
  await note.catch(() => undefined);
}

/** False when there is no such token. */
export async function revokeAdminToken(db: Db, id: string): Promise<boolean> {
  return (await tokenRows.update(db, { id }, { revokedAtMs: sql`now()` })) !== null;
}

/** All with one of these names. */
export async function revokeAdminTokens(db: Db, names: readonly string[]): Promise<void> {
  const isMeant = and(inArray(adminTokens.name, [...names]), isNull(adminTokens.revokedAtMs));
  await db.update(adminTokens).set({ revokedAtMs: sql`now()` }).where(isMeant);
}

/** Live tokens of any role. */
export async function countAdminTokens(db: Db): Promise<number> {
  return db.$count(adminTokens, isNull(adminTokens.revokedAtMs));
}
