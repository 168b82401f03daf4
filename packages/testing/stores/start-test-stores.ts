import { join } from 'node:path';
import { CannotStartError, removeFolder, type TestServer, temporaryFolder } from './server-process';
import { startPostgres } from './start-postgres';
import { startRedis } from './start-redis';

/** What tests may need to have running; `template` is a data folder of a gateway that was never started. */
export type Store = 'redis' | 'postgres' | 'template';
export const ALL_STORES: readonly Store[] = ['redis', 'postgres', 'template'];

export interface TestStores {
  /**
   * For a process, as far as they were asked for: `TEST_REDIS_URL`, `TEST_EMBEDDED_TEMPLATE` and, where a Postgres could
   * be had, `TEST_DATABASE_URL` with `TEST_DATABASE_TEMPLATE`, a database there to copy.
   */
  readonly env: Readonly<Record<string, string>>;
}

export interface StartedStores {
  /** One for each process. */
  readonly stores: readonly TestStores[];
  /** Why there is no real Postgres; null when there is one, or none was asked for. */
  readonly missing: string | null;
  stop(): Promise<void>;
}

/**
 * The stores named by TEST_REDIS_URL and TEST_DATABASE_URL where given, else servers of one's own: a Redis for each
 * process, one Postgres for all, in which every suite has a database of its own.
 */
export async function startTestStores(needed: Iterable<Store> = ALL_STORES, processes = 1): Promise<StartedStores> {
  const needs = new Set(needed);
  const stops: Stop[] = [];
  // A database is dropped before its server ends.
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  const started = await Promise.allSettled([
    needs.has('template') ? makeTemplate(stops) : {},
    needs.has('postgres') ? startDatabaseServer(stops) : {},
    ...Array.from({ length: processes }, () => (needs.has('redis') ? startRedisOfOne(stops) : {})),
  ]);
  const failures = started.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  const missing = started[1]?.status === 'rejected' ? started[1].reason : null;
  // Tests can do without a real Postgres, not with a broken one.
  const failure = failures.find((one) => one !== missing || !(one instanceof CannotStartError));
  if (failure !== undefined) {
    await stop();
    throw failure;
  }
  const [template = {}, postgres = {}, ...redis] = started.map((one) => (one.status === 'fulfilled' ? one.value : {}));
  const stores = redis.map((own) => ({ env: { ...template, ...postgres, ...own } }));
  return { stores, missing: missing === null ? null : missing.message, stop };
}

type Stop = () => Promise<void>;
type Entries = Readonly<Record<string, string>>;

async function keep(stops: Stop[], starting: Promise<TestServer>): Promise<string> {
  const server = await starting;
  stops.push(() => server.stop());
  return server.url;
}

async function startRedisOfOne(stops: Stop[]): Promise<Entries> {
  return { TEST_REDIS_URL: process.env.TEST_REDIS_URL || (await keep(stops, startRedis())) };
}

/** All migrations take a real Postgres a second, a copy of what they made a tenth. */
async function startDatabaseServer(stops: Stop[]): Promise<Entries> {
  const url = process.env.TEST_DATABASE_URL || (await keep(stops, startPostgres()));
  const { createDatabase } = await import('./create-database');
  const database = await createDatabase(url);
  stops.push(() => database.drop());
  await migrate(database.url);
  return { TEST_DATABASE_URL: url, TEST_DATABASE_TEMPLATE: new URL(database.url).pathname.slice(1) };
}

const MAKE_TEMPLATE = join(import.meta.dir, 'make-template.ts');

/** The very first start of the embedded Postgres takes longer than most tests: it is made once and copied. */
async function makeTemplate(stops: Stop[]): Promise<Entries> {
  const folder = temporaryFolder('template');
  stops.push(async () => removeFolder(folder));
  await migrate(folder);
  return { TEST_EMBEDDED_TEMPLATE: folder };
}

async function migrate(where: string): Promise<void> {
  const child = Bun.spawn([process.execPath, MAKE_TEMPLATE, where], { stdio: ['ignore', 'inherit', 'inherit'] });
  if ((await child.exited) !== 0) throw new Error(`the schema could not be made in ${where}`);
}
