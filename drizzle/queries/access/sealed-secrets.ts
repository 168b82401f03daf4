import { and, asc, eq, getTableColumns, gt, isNotNull, ne } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Db } from '../../client';
import { backends } from '../../schema/backends';
import { mcpConsents, mcpGrants, mcpOauthClients, mcpServers } from '../../schema/mcp';
import { providerKeys, providers } from '../../schema/routing';
import { identityProviders } from '../../schema/teams';

/** Every table with secrets, and the column that has them. Each secret is bound to the id of its row. */
const SEALED: readonly (readonly [table: PgTable, column: string])[] = [
  [providerKeys, 'encryptedKey'],
  [providers, 'encryptedHeaders'],
  [backends, 'encryptedHeaders'],
  [mcpServers, 'encryptedSecrets'],
  [mcpGrants, 'encryptedTokens'],
  [mcpOauthClients, 'encryptedClient'],
  [mcpConsents, 'encryptedFlow'],
  [identityProviders, 'encryptedSecret'],
];

/** Position in all secrets: a table's number, and the id of its last row. */
export interface SealedCursor {
  readonly table: number;
  readonly afterId?: string | undefined;
}

export interface SealedRow {
  readonly table: number;
  readonly id: string;
  readonly keyId: string;
  readonly bytes: Uint8Array;
}

function columnsOf(at: number) {
  const [table, name] = SEALED[at] as (typeof SEALED)[number];
  const columns = getTableColumns(table) as Record<'id' | 'encryptionKeyId', PgColumn> & Record<string, PgColumn>;
  return { table, name, id: columns.id, keyId: columns.encryptionKeyId, sealed: columns[name] as PgColumn };
}

/** Secrets behind the cursor that other keys sealed. `next`: null at the end. */
export async function findSealedByOthers(
  db: Db,
  ownKeyId: string,
  { table: at, afterId }: SealedCursor,
  limit: number,
): Promise<{ readonly rows: readonly SealedRow[]; readonly next: SealedCursor | null }> {
  if (at >= SEALED.length) return { rows: [], next: null };
  const { table, id, keyId, sealed } = columnsOf(at);
  const behind = afterId === undefined ? undefined : gt(id, afterId);
  const found = await db
    .select({ id, keyId, bytes: sealed })
    .from(table)
    .where(and(isNotNull(sealed), ne(keyId, ownKeyId), behind))
    .orderBy(asc(id))
    .limit(limit);
  const rows = found.map((row) => ({ ...row, table: at }) as SealedRow);
  const last = rows.length < limit ? undefined : rows.at(-1);
  return { rows, next: last === undefined ? { table: at + 1 } : { table: at, afterId: last.id } };
}

/** Replaces the secret of a row; false if it has changed meanwhile. */
export async function replaceSealed(
  db: Db,
  { table: at, id: rowId, bytes }: SealedRow,
  fresh: Pick<SealedRow, 'bytes' | 'keyId'>,
): Promise<boolean> {
  const { table, name, id, sealed } = columnsOf(at);
  const changed = await db
    .update(table)
    .set({ [name]: fresh.bytes, encryptionKeyId: fresh.keyId })
    .where(and(eq(id, rowId), eq(sealed, bytes)))
    .returning({ id });
  return changed.length > 0;
}
