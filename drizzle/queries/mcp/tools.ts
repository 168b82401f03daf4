import type { JsonObject } from '@llm0/core/chat/json';
import { and, asc, eq, isNotNull, notInArray, or, type SQL, sql } from 'drizzle-orm';
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
 * Stores a server's current list and returns its approvals. Approves of the first list what `approve` says, and what
 * changes or appears later if configured.
 * Empty for a deleted server.
 */
export function keepSeenTools(
  db: Db,
  serverId: string,
  seen: readonly SeenTool[],
): Promise<ReadonlyMap<string, string>> {
  return db.transaction(async (tx) => {
    const [server] = await tx
      .select({
        ...{ pinnedAtMs: mcpServers.pinnedAtMs, approveChanges: mcpServers.approveChanges },
        approve: mcpServers.approve,
      })
      .from(mcpServers)
      .where(eq(mcpServers.id, serverId))
      .for('update');
    if (server === undefined) return new Map();
    const before = await tx.select({ name: mcpTools.name }).from(mcpTools).where(eq(mcpTools.serverId, serverId));
    const known = before.map(({ name }) => name);
    const names = seen.map(({ name }) => name);
    await tx
      .update(mcpTools)
      .set({ isGone: true })
      .where(and(eq(mcpTools.serverId, serverId), names.length === 0 ? undefined : notInArray(mcpTools.name, names)));
    for (let at = 0; at < seen.length; at += ROWS_AT_ONCE) {
      await putSeen(tx, serverId, seen.slice(at, at + ROWS_AT_ONCE));
    }
    const which = server.pinnedAtMs === null ? FIRST[server.approve] : LATER[server.approveChanges];
    if (which !== undefined) {
      const isOther = sql`${mcpTools.approvedHash} is distinct from ${mcpTools.seenHash}`;
      const isSeen = and(eq(mcpTools.serverId, serverId), eq(mcpTools.isGone, false), isOther);
      await approveSeen(tx, and(isSeen, which(known)));
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

type Which = ((known: readonly string[]) => SQL | undefined) | undefined;

const isReadOnly = sql`${mcpTools.seen}->'annotations'->>'readOnlyHint' = 'true'`;
const FIRST: Readonly<Record<'all' | 'read_only' | 'none', Which>> = {
  all: () => undefined,
  read_only: () => isReadOnly,
  none: undefined,
};
/** A tool that waits goes on waiting, whatever it changes. */
const LATER: Readonly<Record<'manual' | 'auto', Which>> = {
  manual: undefined,
  auto: (known) =>
    known.length === 0 ? undefined : or(isNotNull(mcpTools.approvedHash), notInArray(mcpTools.name, [...known])),
};

/** Approves a tool's last version. null without one, or if it no longer matches `hash`. */
export async function approveTool(
  db: Db,
  at: { readonly serverId: string; readonly name: string },
  hash: string | undefined,
): Promise<StoredTool | null> {
  const [row] = await approveSeen(db, and(toolAt(at), hash === undefined ? undefined : eq(mcpTools.seenHash, hash)));
  return row ?? null;
}

/** Leaves a tool's last version out. null without one, or if it no longer matches `hash`. */
export async function declineTool(
  db: Db,
  at: { readonly serverId: string; readonly name: string },
  hash: string | undefined,
): Promise<StoredTool | null> {
  const [row] = await db
    .update(mcpTools)
    .set({ declinedHash: sql`${mcpTools.seenHash}`, approvedHash: null, approved: null, approvedAtMs: null })
    .where(and(toolAt(at), hash === undefined ? undefined : eq(mcpTools.seenHash, hash)))
    .returning();
  return row ?? null;
}

/** Names of declined tools by server. */
export async function listDeclinedTools(db: Db): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const rows = await db
    .select({ serverId: mcpTools.serverId, name: mcpTools.name })
    .from(mcpTools)
    .where(eq(mcpTools.declinedHash, mcpTools.seenHash));
  const byServer = Map.groupBy(rows, ({ serverId }) => serverId);
  return new Map([...byServer].map(([id, own]) => [id, new Set(own.map(({ name }) => name))]));
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
      declinedHash: null,
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
