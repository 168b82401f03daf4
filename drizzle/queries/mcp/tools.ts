import type { JsonObject } from '@llm0/core/chat/json';
import { and, asc, eq, isNotNull, notInArray, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { mcpServers, mcpTools } from '../../schema/mcp';

export type StoredTool = Readonly<typeof mcpTools.$inferSelect>;

/** A tool as its server lists it now. */
export interface SeenTool {
  readonly name: string;
  readonly hash: string;
  readonly tool: JsonObject;
}

/** Approval of a tool. */
export interface ApprovedTool {
  readonly serverId: string;
  readonly name: string;
  readonly hash: string;
}

/** Approvals of all servers. */
export async function listApprovedTools(db: Db): Promise<readonly ApprovedTool[]> {
  const rows = await db
    .select({ serverId: mcpTools.serverId, name: mcpTools.name, hash: mcpTools.approvedHash })
    .from(mcpTools)
    .where(isNotNull(mcpTools.approvedHash));
  return rows.map((row) => ({ ...row, hash: row.hash ?? '' }));
}

/** Known tools of a server by name, removed ones included. */
export function listTools(db: Db, serverId: string): Promise<readonly StoredTool[]> {
  return db.select().from(mcpTools).where(eq(mcpTools.serverId, serverId)).orderBy(asc(mcpTools.name));
}

export async function getTool(db: Db, at: { serverId: string; name: string }): Promise<StoredTool | null> {
  const [row] = await db.select().from(mcpTools).where(toolAt(at));
  return row ?? null;
}

/** A row of many that one statement writes; a server's list has at most 2,000. */
const ROWS_AT_ONCE = 200;

/**
 * Stores a server's current list and returns its approvals. Approves the first list, and later ones if configured.
 * Empty for a deleted server.
 */
export function keepSeenTools(
  db: Db,
  serverId: string,
  seen: readonly SeenTool[],
): Promise<ReadonlyMap<string, string>> {
  return db.transaction(async (tx) => {
    const [server] = await tx
      .select({ pinnedAtMs: mcpServers.pinnedAtMs, approveChanges: mcpServers.approveChanges })
      .from(mcpServers)
      .where(eq(mcpServers.id, serverId))
      .for('update');
    if (server === undefined) return new Map();
    const names = seen.map(({ name }) => name);
    await tx
      .update(mcpTools)
      .set({ isGone: true })
      .where(and(eq(mcpTools.serverId, serverId), names.length === 0 ? undefined : notInArray(mcpTools.name, names)));
    for (let at = 0; at < seen.length; at += ROWS_AT_ONCE) {
      await putSeen(tx, serverId, seen.slice(at, at + ROWS_AT_ONCE));
    }
    if (server.pinnedAtMs === null || server.approveChanges === 'auto') {
      const isOther = sql`${mcpTools.approvedHash} is distinct from ${mcpTools.seenHash}`;
      await approveSeen(tx, and(eq(mcpTools.serverId, serverId), eq(mcpTools.isGone, false), isOther));
    }
    if (server.pinnedAtMs === null) {
      await tx.update(mcpServers).set({ pinnedAtMs: sql`now()` }).where(eq(mcpServers.id, serverId));
    }
    const rows = await tx
      .select({ name: mcpTools.name, hash: mcpTools.approvedHash })
      .from(mcpTools)
      .where(and(eq(mcpTools.serverId, serverId), isNotNull(mcpTools.approvedHash)));
    return new Map(rows.map(({ name, hash }) => [name, hash ?? '']));
  });
}

/** Approves a tool's last version. null without one, or if it no longer matches `hash`. */
export async function approveTool(
  db: Db,
  at: { readonly serverId: string; readonly name: string },
  hash: string | undefined,
): Promise<StoredTool | null> {
  const [row] = await approveSeen(db, and(toolAt(at), hash === undefined ? undefined : eq(mcpTools.seenHash, hash)));
  return row ?? null;
}

const toolAt = ({ serverId, name }: { readonly serverId: string; readonly name: string }) =>
  and(eq(mcpTools.serverId, serverId), eq(mcpTools.name, name));

const approveSeen = (db: Db, which: ReturnType<typeof and>) =>
  db
    .update(mcpTools)
    .set({
      approvedHash: sql`${mcpTools.seenHash}`,
      approved: sql`${mcpTools.seen}`,
      approvedAtMs: sql`now()`,
    })
    .where(which)
    .returning();

async function putSeen(db: Db, serverId: string, seen: readonly SeenTool[]): Promise<void> {
  const rows = seen.map(({ name, hash, tool }) => ({ serverId, name, seenHash: hash, seen: tool }));
  await db
    .insert(mcpTools)
    .values(rows)
    .onConflictDoUpdate({
      target: [mcpTools.serverId, mcpTools.name],
      set: {
        seenHash: sql`excluded.seen_hash`,
        seen: sql`excluded.seen`,
        seenAtMs: sql`case when ${mcpTools.seenHash} = excluded.seen_hash then ${mcpTools.seenAtMs} else now() end`,
        isGone: false,
      },
    });
}
