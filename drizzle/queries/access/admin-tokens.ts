import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { adminTokens } from '../../schema/operations';
import { afterCursor, newestFirst, type Page, type PageRequest, toPage } from '../page';

export type AdminRole = 'admin' | 'viewer';

/** A named token of the admin API; the secret itself is nowhere. Dates in epoch milliseconds. */
export interface AdminToken {
  readonly id: string;
  readonly name: string;
  readonly role: AdminRole;
  readonly prefix: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
}

type Row = typeof adminTokens.$inferSelect;

function toToken(row: Row): AdminToken {
  return {
    id: row.id,
    name: row.name,
    role: row.role === 'viewer' ? 'viewer' : 'admin',
    prefix: row.tokenPrefix,
    createdAtMs: row.createdAt.getTime(),
    expiresAtMs: row.expiresAt?.getTime() ?? null,
  };
}

/** `hash`: lower-case hex SHA-256 of the secret. */
export async function createAdminToken(
  db: Db,
  input: { name: string; role: AdminRole; hash: string; prefix: string; expiresAtMs?: number | null },
): Promise<AdminToken> {
  const { name, role, hash, prefix, expiresAtMs } = input;
  const expiresAt = expiresAtMs == null ? null : new Date(expiresAtMs);
  const values = { name, role, tokenHash: hash, tokenPrefix: prefix, expiresAt };
  const [row] = await db.insert(adminTokens).values(values).returning();
  if (row === undefined) throw new Error('insert into admin_tokens returned no row');
  return toToken(row);
}

/** The live token with this hash; null when unknown, revoked or expired. */
export async function findAdminToken(db: Db, hash: string): Promise<AdminToken | null> {
  const inForce = sql`(${adminTokens.expiresAt} is null or ${adminTokens.expiresAt} > now())`;
  const [row] = await db
    .select()
    .from(adminTokens)
    .where(and(eq(adminTokens.tokenHash, hash), isNull(adminTokens.revokedAt), inForce));
  return row === undefined ? null : toToken(row);
}

/** Newest first, without revoked ones. */
export async function listAdminTokens(db: Db, page: PageRequest): Promise<Page<AdminToken>> {
  const rows = await db
    .select()
    .from(adminTokens)
    .where(and(isNull(adminTokens.revokedAt), afterCursor(page, adminTokens.createdAt, adminTokens.id)))
    .orderBy(...newestFirst(adminTokens.createdAt, adminTokens.id))
    .limit(page.limit + 1);
  return toPage(rows.map(toToken), page.limit);
}

/** False when there is no such token. */
export async function revokeAdminToken(db: Db, id: string): Promise<boolean> {
  const rows = await db
    .update(adminTokens)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(adminTokens.id, id), isNull(adminTokens.revokedAt)))
    .returning({ id: adminTokens.id });
  return rows.length > 0;
}

/** Live tokens of any role. */
export async function countAdminTokens(db: Db): Promise<number> {
  return db.$count(adminTokens, isNull(adminTokens.revokedAt));
}
