import { asc } from 'drizzle-orm';
import type { Db } from '../../client';
import { providerKeys } from '../../schema/routing';
import { ofLiveProject, Rows, type Stored } from '../rows';

/** Keys for providers' APIs. The secrets are sealed, bound to the ids. */
export const providerKeyRows = new Rows(providerKeys);
export type StoredProviderKey = Stored<typeof providerKeyRows>;

/** All of them, oldest first, but those of deleted projects: what connections are built from. */
export function listAllProviderKeys(db: Db): Promise<readonly StoredProviderKey[]> {
  return providerKeyRows.find(
    db,
    ofLiveProject(providerKeys.projectId),
    asc(providerKeys.createdAtMs),
    asc(providerKeys.id),
  );
}
