import { eq, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { adminSessions } from '../../schema/admin-access';
import type { AdminRole } from './admin-tokens';

/** A session in force. `owner` null: it was made with ADMIN_TOKEN, whose SHA-256 `tokenHash` was then. */
export interface AdminSession {
  readonly tokenHash: string;
  readonly expiresAtMs: number;
  readonly owner: { readonly name: string; readonly role: AdminRole } | null;
}

export interface NewAdminSession {
  /** Lower-case hex SHA-256 of the cookie. */
  readonly sessionHash: string;
  readonly tokenHash: string;
  /** null for ADMIN_TOKEN. */
  readonly tokenId: string | null;
  readonly expiresAtMs: number;
}

/** Keeps a sign-in, and forgets those that are over. */
export async function createAdminSession(db: Db, session: NewAdminSession): Promise<void> {
  await db.execute(sql`delete from admin_sessions where expires_at < now()`);
  await db.insert(adminSessions).values(session);
}

interface SessionRow extends Record<string, unknown> {
  token_hash: string;
  expires_ms: number;
  token_id: string | null;
  name: string | null;
  role: string | null;
}

/** null when unknown or over, or when its token was revoked or expired. */
export async function findAdminSession(db: Db, sessionHash: string): Promise<AdminSession | null> {
  const [row] = await db.execute<SessionRow>(sql`
    select s.token_hash, (extract(epoch from s.expires_at) * 1000)::float8 as expires_ms, s.token_id, t.name, t.role
    from admin_sessions s
    left join admin_tokens t on t.id = s.token_id and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
    where s.session_hash = ${sessionHash} and s.expires_at > now()`);
  if (row === undefined || (row.token_id !== null && row.name === null)) return null;
  const owner =
    row.name === null ? null : ({ name: row.name, role: row.role === 'viewer' ? 'viewer' : 'admin' } as const);
  return { tokenHash: row.token_hash, expiresAtMs: row.expires_ms, owner };
}

export async function deleteAdminSession(db: Db, sessionHash: string): Promise<void> {
  await db.delete(adminSessions).where(eq(adminSessions.sessionHash, sessionHash));
}
