import { and, desc, eq, gt, lt, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { mcpConsents, mcpGrants, mcpOauthClients } from '../../schema/mcp';
import { Rows, type Stored } from '../rows';

/** Identity towards a server: a key and its customer (`''` = none). */
export interface GrantOwner {
  readonly apiKeyId: string;
  readonly customerId: string;
}

export const grantRows = new Rows(mcpGrants);
export type StoredGrant = Stored<typeof grantRows>;
export const consentRows = new Rows(mcpConsents);
export type StoredConsent = Stored<typeof consentRows>;
export const oauthClientRows = new Rows(mcpOauthClients);
export type StoredOauthClient = Stored<typeof oauthClientRows>;

/** The newest grant of an owner; null without one. */
export async function findGrant(db: Db, serverId: string, owner: GrantOwner): Promise<StoredGrant | null> {
  const mine = and(
    eq(mcpGrants.serverId, serverId),
    eq(mcpGrants.apiKeyId, owner.apiKeyId),
    eq(mcpGrants.customerId, owner.customerId),
  );
  const [found] = await grantRows.first(db, 1, mine, desc(mcpGrants.updatedAtMs));
  return found ?? null;
}

/** Stores new tokens unless newer ones exist since `before`; null in that case or for a deleted grant. */
export async function replaceTokens(
  db: Db,
  before: StoredGrant,
  sealed: Pick<StoredGrant, 'encryptedTokens' | 'encryptionKeyId' | 'scope'>,
): Promise<StoredGrant | null> {
  const isSame = and(eq(mcpGrants.id, before.id), eq(mcpGrants.encryptedTokens, before.encryptedTokens));
  const [row] = await db
    .update(mcpGrants)
    .set({ ...sealed, updatedAtMs: sql`now()` })
    .where(isSame)
    .returning();
  return row ?? null;
}

/** A ticket that still counts. */
export async function findTicket(db: Db, ticketHash: string): Promise<StoredConsent | null> {
  const live = and(eq(mcpConsents.ticketHash, ticketHash), gt(mcpConsents.expiresAtMs, sql`now()`));
  const [row] = await db.select().from(mcpConsents).where(live);
  return row ?? null;
}

/** Takes the flow that a state belongs to: once. */
export async function takeFlow(db: Db, stateHash: string): Promise<StoredConsent | null> {
  const live = and(eq(mcpConsents.stateHash, stateHash), gt(mcpConsents.expiresAtMs, sql`now()`));
  const [row] = await db.delete(mcpConsents).where(live).returning();
  return row ?? null;
}

export async function forgetOldConsents(db: Db): Promise<void> {
  await db.delete(mcpConsents).where(lt(mcpConsents.expiresAtMs, sql`now()`));
}
