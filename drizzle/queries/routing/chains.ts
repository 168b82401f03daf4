import type { Chain } from '@llm0/core/routing/chain';
import { asc } from 'drizzle-orm';
import type { Db } from '../../client';
import { chains } from '../../schema/routing';
import { Rows, type Stored } from '../rows';

/** A chain an operator wrote. */
export interface StoredChain extends Chain {
  readonly updatedAtMs: number;
}

const chainRows = new Rows(chains);

const toStored = ({ name, localTier, targets, options, updatedAtMs }: Stored<typeof chainRows>): StoredChain => ({
  ...{ name, localTier, steps: targets, updatedAtMs },
  hedgeAfterMs: options.hedge_after_ms,
});

/** The edited chains, by name. */
export async function listChains(db: Db): Promise<readonly StoredChain[]> {
  return (await chainRows.find(db, undefined, asc(chains.name))).map(toStored);
}

export async function putChain(db: Db, { name, localTier, steps, hedgeAfterMs }: Chain): Promise<StoredChain> {
  const options = { hedge_after_ms: hedgeAfterMs };
  return toStored(await chainRows.put(db, ['name'], { name, localTier, targets: steps, options, edited: true }));
}

/** null when there was none. */
export async function deleteChain(db: Db, name: string): Promise<StoredChain | null> {
  const gone = await chainRows.delete(db, { name });
  return gone === null ? null : toStored(gone);
}
