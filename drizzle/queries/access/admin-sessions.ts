import { and, count, eq, gt, inArray, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { adminSessions } from '../../schema/admin-access';
import { adminTokens } from '../../schema/operations';
import { type AdminRole, isInForce, mayReadBodies } from './admin-tokens';

/** An active session. `owner` null: created with ADMIN_TOKEN, whose SHA-256 was `tokenHash`. */
export interface AdminSession {
  readonly tokenHash: string;
  /** null for ADMIN_TOKEN. */
  readonly tokenId: string | null;
  readonly expiresAtMs: number;
  readonly owner: { readonly name: string; readonly role: AdminRole; readonly canReadBodies: boolean } | null;
}

export interface NewAdminSession {
  /** Lower-case hex SHA-256 of the cookie. */
  readonly sessionHash: string;
  readonly tokenHash: string;
  /** null for ADMIN_TOKEN. */
  readonly tokenId: string | null;
  readonly expiresAtMs: number;
}

/** Stores a session and deletes expired ones. */
export async function createAdminSession(db: Db, session: NewAdminSession): Promise<void> {
  await db.execute(sql`delete from admin_sessions where expires_at < now()`);
  await db.insert(adminSessions).values(session);
}

/** null when unknown or over, or when its token was revoked or expired. */
export async function findAdminSession(db: Db, sessionHash: string): Promise<AdminSession | null> {
  const { tokenHash, expiresAtMs, tokenId } = adminSessions;
  const { name, role, canReadBodies } = adminTokens;
  const [row] = await db
    .select({ tokenHash, expiresAtMs, tokenId, owner: { name, role, canReadBodies } })
    .from(adminSessions)
    .leftJoin(adminTokens, and(eq(adminTokens.id, tokenId), isInForce))
    .where(and(eq(adminSessions.sessionHash, sessionHash), gt(expiresAtMs, sql`now()`)));
  if (row === undefined || (row.tokenId !== null && row.owner === null)) return null;
  return { ...row, owner: row.owner && withRights(row.owner) };
}

const withRights = <T extends Parameters<typeof mayReadBodies>[0]>(owner: T) => ({
  ...owner,
  canReadBodies: mayReadBodies(owner),
});

/** Active sessions of each token; tokens without one are missing. */
export async function countSessions(db: Db, tokenIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (tokenIds.length === 0) return new Map();
  const { tokenId, expiresAtMs } = adminSessions;
  const rows = await db
    .select({ tokenId, sessions: count() })
    .from(adminSessions)
    .where(and(inArray(tokenId, [...tokenIds]), gt(expiresAtMs, sql`now()`)))
    .groupBy(tokenId);
  return new Map(rows.map(({ tokenId: id, sessions }) => [id ?? '', sessions]));
}

export async function deleteAdminSession(db: Db, sessionHash: string): Promise<void> {
  await db.delete(adminSessions).where(eq(adminSessions.sessionHash, sessionHash));
}
