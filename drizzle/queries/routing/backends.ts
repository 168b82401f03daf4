import { asc } from 'drizzle-orm';
import type { Db } from '../../client';
import { backends } from '../../schema/backends';
import { Rows, type Stored } from '../rows';

/** HTTP backends that an operator added. Their headers are sealed, bound to the ids. */
export const backendRows = new Rows(backends);
export type StoredBackend = Stored<typeof backendRows>;

/** All of them, by name. */
export function listBackends(db: Db): Promise<readonly StoredBackend[]> {
  return backendRows.find(db, undefined, asc(backends.name));
}
