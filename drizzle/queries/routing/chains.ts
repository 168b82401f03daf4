import type { Chain } from '@llm0/core/routing/chain';
import { asc, eq, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { chains } from '../../schema/routing';

/** A chain an operator wrote. */
export interface StoredChain extends Chain {
  readonly updatedAtMs: number;
}

type Row = typeof chains.$inferSelect;

const toStored = (row: Row): StoredChain => ({
  name: row.name,
  localTier: row.localTier,
  steps: row.targets,
  hedgeAfterMs: row.options.hedge_after_ms,
  updatedAtMs: row.updatedAt.getTime(),
});

/** The edited chains, by name. */
export async function listChains(db: Db): Promise<readonly StoredChain[]> {
  return (await db.select().from(chains).orderBy(asc(chains.name))).map(toStored);
}

export async function putChain(db: Db, chain: Chain): Promise<StoredChain> {
  const options = { hedge_after_ms: chain.hedgeAfterMs };
  const columns = { targets: chain.steps, localTier: chain.localTier, options, edited: true };
  const [row] = await db
    .insert(chains)
    .values({ name: chain.name, ...columns })
    .onConflictDoUpdate({ target: chains.name, set: { ...columns, updatedAt: sql`now()` } })
    .returning();
  if (row === undefined) throw new Error('upsert into chains returned no row');
  return toStored(row);
}

/** False when there was none. */
export async function deleteChain(db: Db, name: string): Promise<boolean> {
  return (await db.delete(chains).where(eq(chains.name, name)).returning({ name: chains.name })).length > 0;
}
