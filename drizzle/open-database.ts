import { connectDatabase, type Database } from './client';
import { startEmbeddedPostgres } from './embedded/start-embedded-postgres';
import { migrateDatabase } from './migrate';

export interface OpenDatabaseOptions {
  /** Absent = embedded in `dataDir`. */
  readonly databaseUrl?: string;
  /** Of an embedded one that somebody else has started. */
  readonly socketPath?: string;
  readonly dataDir: string;
  readonly maxConnections?: number;
  readonly onWarning: (message: string) => void;
  /** Called for each missing migration. */
  readonly onApplied?: (migration: string) => void;
}

/** Connects to the real or embedded Postgres and migrates it; `close` stops what it started. */
export async function openDatabase(options: OpenDatabaseOptions): Promise<Database> {
  const { databaseUrl, socketPath, dataDir, maxConnections, onWarning } = options;
  if (databaseUrl !== undefined) {
    const database = connectDatabase({ url: databaseUrl }, { maxConnections });
    return migrateOrClose(database, options, () => database.close());
  }
  if (socketPath !== undefined) {
    const database = connectDatabase({ socketPath });
    return migrateOrClose(database, options, () => database.close());
  }
  const embedded = await startEmbeddedPostgres({ dataDir, onWarning });
  const database = connectDatabase({ socketPath: embedded.socketPath });
  return migrateOrClose(database, options, async () => {
    await database.close();
    await embedded.stop();
  });
}

async function migrateOrClose(
  database: Database,
  { onWarning, onApplied }: OpenDatabaseOptions,
  close: () => Promise<void>,
): Promise<Database> {
  try {
    const applied = await migrateDatabase(database.client, { onWarning });
    for (const migration of applied) onApplied?.(migration);
  } catch (error) {
    await close();
    throw error;
  }
  return { ...database, close };
}
