// Postgres refuses or is not there: the command ends with one line that names the setting, and exit code 1.
import { resolve } from 'node:path';
import { openDatabase } from '@llm0/drizzle/open-database';
import type { StoreConfig } from '../config/config';
import { explainPostgres, withOwnSchema } from '../services/check-stores';

/**
 * Brings the schema up to date and ends, so that a rollout can stop before any gateway of the new version starts. Resolves
 * to the migrations that were missing, by name; any number of processes may do it at once.
 */
export async function migrateStores(
  config: StoreConfig,
  onWarning: (message: string) => void,
): Promise<readonly string[]> {
  const { databaseUrl, dataDir } = await withOwnSchema(config, onWarning);
  const applied: string[] = [];
  const onApplied = (name: string) => applied.push(name);
  const opening = openDatabase({ databaseUrl, dataDir: resolve(dataDir), onWarning, onApplied });
  const database = await opening.catch((error: unknown) => {
    throw explainPostgres(databaseUrl, error);
  });
  await database.close();
  return applied;
}
