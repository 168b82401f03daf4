import type { Grant } from '@llm0/core/access/access';
import { and, count, eq, gt, inArray, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { adminSessions } from '../../schema/admin-access';
import { adminTokens } from '../../schema/operations';
import { users } from '../../schema/teams';
import { type AdminRole, isInForce } from './admin-tokens';
import { GRANTS_OF_USER } from './users';

/** An active session. `token` and `user` null: created with ADMIN_TOKEN, whose SHA-256 was `tokenHash`. */
export interface AdminSession {
  readonly tokenHash: string;
  /** null for ADMIN_TOKEN and persons. */
  readonly tokenId: string | null;
  readonly expiresAtMs: number;
  readonly token: { readonly name: string; readonly role: AdminRole; readonly canReadBodies: boolean | null } | null;
  readonly user: SessionUser | null;
  /** Where the person signed in. */
  readonly identityProviderId: string | null;
  /** When the issuer authenticated the person; null = unknown. */
  readonly authenticatedAtMs: number | null;
}

export interface SessionUser {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly grants: readonly Grant[];
}

export interface NewAdminSession {
  /** Lower-case hex SHA-256 of the cookie. */
  readonly sessionHash: string;
  readonly tokenHash: string;
  /** null for ADMIN_TOKEN. */
  readonly tokenId: string | null;
  readonly expiresAtMs: number;
}

export interface NewUserSession extends Pick<NewAdminSession, 'sessionHash' | 'expiresAtMs'> {
  readonly userId: string;
  readonly identityProviderId: string;
  /** Lower-case hex SHA-256 of the state. */
  readonly signInHash: string;
  readonly authenticatedAtMs: number | null;
}

/** Stores a session and deletes expired ones. */
export async function createAdminSession(db: Db, session: NewAdminSession): Promise<void> {
  await deleteExpired(db);
  await db.insert(adminSessions).values(session);
}

/** False if the sign-in has had its session. */
export async function createUserSession(db: Db, session: NewUserSession): Promise<boolean> {
  await deleteExpired(db);
  // An older release compares the hash with that of ADMIN_TOKEN: it must be one, and none of a token.
  const row = { ...session, tokenId: null, tokenHash: session.sessionHash };
  const made = await db.insert(adminSessions).values(row).onConflictDoNothing().returning({ id: adminSessions.id });
  return made.length > 0;
}

const deleteExpired = (db: Db) => db.execute(sql`delete from admin_sessions where expires_at < now()`);

/** null when unknown or over, or when its token was revoked or expired, or its user deactivated. */
export async function findAdminSession(db: Db, sessionHash: string): Promise<AdminSession | null> {
  const { tokenHash, expiresAtMs, tokenId, userId, identityProviderId, authenticatedAtMs } = adminSessions;
  const { name, role, canReadBodies } = adminTokens;
  const [row] = await db
    .select({
      ...{ tokenHash, expiresAtMs, tokenId, userId, identityProviderId, authenticatedAtMs },
      token: { name, role, canReadBodies },
      user: { id: users.id, name: users.name, email: users.email, grants: GRANTS_OF_USER },
    })
    .from(adminSessions)
    .leftJoin(adminTokens, and(eq(adminTokens.id, tokenId), isInForce))
    .leftJoin(users, and(eq(users.id, userId), users.isActive))
    .where(and(eq(adminSessions.sessionHash, sessionHash), gt(expiresAtMs, sql`now()`)));
  if (row === undefined) return null;
  const { userId: ownerId, user, ...session } = row;
  if ((session.tokenId !== null && session.token === null) || (ownerId !== null && user?.id == null)) return null;
  return { ...session, user: ownerId === null ? null : (user as SessionUser) };
}

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

/** The provider where the session's person signed in; null without one. */
export async function deleteAdminSession(db: Db, sessionHash: string): Promise<string | null> {
  const { identityProviderId } = adminSessions;
  const [ended] = await db
    .delete(adminSessions)
    .where(eq(adminSessions.sessionHash, sessionHash))
    .returning({ identityProviderId });
  return ended?.identityProviderId ?? null;
}
