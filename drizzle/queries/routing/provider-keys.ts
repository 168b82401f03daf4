import { asc } from 'drizzle-orm';
import type { Db } from '../../client';
import { providerKeys } from '../../schema/routing';
import { ofLiveProject, Rows, type Stored } from '../rows';

/** Keys for providers' APIs. The secrets are sealed, bound to the ids. */
export const providerKeyRows = new Rows(providerKeys);
export type StoredProviderKey = Stored<typeof providerKeyRows>;

/** Order of use: by position, then oldest first. Ids rise within a millisecond. */
const ORDER = [asc(providerKeys.position), asc(providerKeys.createdAtMs), asc(providerKeys.id)] as const;

/** All of them in the order of use, but those of deleted projects. */
export function listAllProviderKeys(db: Db): Promise<readonly StoredProviderKey[]> {
  return providerKeyRows.find(db, ofLiveProject(providerKeys.projectId), ...ORDER);
}

/**
 * Keys to build connections from. Includes deleted projects' keys, switched off, so that nobody else takes over their
 * servers.
 */
export async function listKeysToConnect(db: Db): Promise<readonly StoredProviderKey[]> {
  const [all, live] = await Promise.all([providerKeyRows.find(db, undefined, ...ORDER), listAllProviderKeys(db)]);
  const ids = new Set(live.map(({ id }) => id));
  return all.map((key) => (ids.has(key.id) ? key : { ...key, isActive: false }));
}
