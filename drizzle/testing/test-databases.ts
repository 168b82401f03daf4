import { rmSync } from 'node:fs';
import { createDatabase } from '../../apps/gateway/testing/create-database';
import { temporaryFolder } from '../../apps/gateway/testing/server-process';
import type { Database } from '../client';
import { openDatabase } from '../open-database';

/** A kind of Postgres that a suite runs on. */
export interface TestDatabaseKind {
  readonly name: string;
  /** Migrated. The embedded one is shared by all suites of a run: use ids and days of your own. */
  open(): Promise<Database>;
}

let embedded: Promise<Database> | undefined;

function openEmbedded(): Promise<Database> {
  embedded ??= (async () => {
    const dataDir = temporaryFolder('embedded');
    process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));
    return openDatabase({ dataDir, onWarning: console.warn });
  })();
  // The process ends it: its child goes with it.
  return embedded.then((database) => ({ ...database, close: async () => {} }));
}

async function openReal(serverUrl: string): Promise<Database> {
  const own = await createDatabase(serverUrl);
  const database = await openDatabase({ databaseUrl: own.url, dataDir: '/nonexistent', onWarning: console.warn });
  return {
    ...database,
    close: async () => {
      await database.close();
      await own.drop();
    },
  };
}

const serverUrl = process.env.TEST_DATABASE_URL;

/** Embedded always; a real server where TEST_DATABASE_URL names one (the test command sees to that). */
export const TEST_DATABASES: readonly TestDatabaseKind[] = [
  { name: 'embedded', open: openEmbedded },
  ...(serverUrl === undefined || serverUrl === '' ? [] : [{ name: 'postgres', open: () => openReal(serverUrl) }]),
];
