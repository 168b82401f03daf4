import { asc } from 'drizzle-orm';
import type { Db } from '../../client';
import { providers } from '../../schema/routing';
import { Rows, type Stored } from '../rows';

/** Providers that an operator added or set up at run time, by `name`. */
export const providerRows = new Rows(providers);
export type StoredProvider = Stored<typeof providerRows>;
export type ProviderSettings = Pick<
  StoredProvider,
  | 'baseUrl'
  | 'options'
  | 'encryptedHeaders'
  | 'encryptionKeyId'
  | 'headerNames'
  | 'models'
  | 'passthroughPaths'
  | 'requestTimeoutMs'
  | 'answerTimeoutMs'
  | 'drain'
  | 'maxConcurrency'
  | 'healthCheckIntervalMs'
  | 'isActive'
>;

/** All of them, by name. */
export function listProviders(db: Db): Promise<readonly StoredProvider[]> {
  return providerRows.find(db, undefined, asc(providers.name));
}
