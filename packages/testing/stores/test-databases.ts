import { rmSync } from 'node:fs';
import type { Database } from '@llm0/drizzle/client';
import { type LookUpPool, openLookUpPool, sharedLookUps } from '@llm0/drizzle/look-up-pool';
import { openDatabase } from '@llm0/drizzle/open-database';
import { isAll } from '../lane';
import { copyTemplate } from './copy-template';
import { createMigratedDatabase } from './create-database';
import { hostDatabase } from './host-database';
import { temporaryFolder } from './server-process';

export interface TestDatabase extends Database {
  /** What a gateway's requests look things up by on this kind. */
  openLookUps(): LookUpPool;
  /** For further connections; the embedded one has no other. */
  readonly url?: string;
}

/** A kind of Postgres that a suite runs on. */
export interface TestDatabaseKind {
  readonly name: string;
  /** Migrated. The embedded one is shared by all suites of a run: use ids and days of your own. */
  open(): Promise<TestDatabase>;
  /** Migrated and empty: for suites that look at all rows there are. */
  openOwn(): Promise<TestDatabase>;
}

let embedded: Promise<Database> | undefined;

async function startEmbedded(): Promise<Database> {
  const dataDir = temporaryFolder('embedded');
  process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  await copyTemplate(dataDir);
  const { address: socketPath, stop } = await hostDatabase(dataDir);
  const database = await openDatabase({ socketPath, dataDir, onWarning: console.warn });
  return { ...database, close: () => database.close().finally(stop) };
}

async function openOwnEmbedded(): Promise<TestDatabase> {
  const database = await startEmbedded();
  return { ...database, openLookUps: () => ({ ...sharedLookUps(database.db), close: async () => {} }) };
}

function openEmbedded(): Promise<TestDatabase> {
  embedded ??= startEmbedded();
  // The process ends it: its child goes with it.
  return embedded.then((database) => ({
    ...database,
    openLookUps: () => ({ ...sharedLookUps(database.db), close: async () => {} }),
    close: async () => {},
  }));
}

async function openReal(serverUrl: string): Promise<TestDatabase> {
  const own = await createMigratedDatabase(serverUrl);
  const database = await openDatabase({ databaseUrl: own.url, dataDir: '/nonexistent', onWarning: console.warn });
  return {
    ...database,
    url: own.url,
    openLookUps: () => openLookUpPool(own.url),
    close: async () => {
      await database.close();
      await own.drop();
    },
  };
}

const serverUrl = process.env.TEST_DATABASE_URL;

/** Embedded always; a real server where TEST_DATABASE_URL names one (the test command sees to that). */
export const TEST_DATABASES: readonly TestDatabaseKind[] = [
  { name: 'embedded', open: openEmbedded, openOwn: openOwnEmbedded },
  ...(serverUrl === undefined || serverUrl === ''
    ? []
    : [{ name: 'postgres', open: () => openReal(serverUrl), openOwn: () => openReal(serverUrl) }]),
];

/**
 * For suites in which the database decides nothing, such as forms and rights of the admin API. They may look at all rows.
 * `--all` takes the kind that the daily lane leaves out.
 */
export const ON_ONE_DATABASE: readonly TestDatabaseKind[] = (
  isAll ? TEST_DATABASES.slice(0, 1) : TEST_DATABASES.slice(-1)
).map((kind) => ({ ...kind, open: kind.openOwn }));
