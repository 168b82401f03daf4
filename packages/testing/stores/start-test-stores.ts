import { existsSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';
import { CannotStartError, removeFolder, type TestServer } from './server-process';
import { cacheFolder, startPostgres } from './start-postgres';
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
    // One that cannot be stopped leaves no other behind.
    const ended = [];
    for (const end of stops.splice(0).reverse()) ended.push(...(await Promise.allSettled([end()])));
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
  };
  const started = await Promise.allSettled([
    needs.has('template') ? makeTemplate() : {},
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

/**
 * The very first start of the embedded Postgres takes longer than most tests: it is made once a day and kept, for tests to
 * copy. Moved into place as a whole, so that half a one is never taken for it.
 */
async function makeTemplate(): Promise<Entries> {
  const folder = join(cacheFolder(), `${TEMPLATE_PREFIX}${hashSchema()}`);
  if (!existsSync(folder)) {
    const half = `${folder}.${process.pid}`;
    await migrate(half);
    for (const old of readdirSync(cacheFolder()).filter((name) => name.startsWith(TEMPLATE_PREFIX)))
      if (isOutdated(join(cacheFolder(), old))) removeFolder(join(cacheFolder(), old));
    try {
      renameSync(half, folder);
    } catch (error) {
      // Another run was sooner.
      removeFolder(half);
      if (!existsSync(folder)) throw error;
    }
  }
  return { TEST_EMBEDDED_TEMPLATE: folder };
}

const TEMPLATE_PREFIX = 'embedded-template-';
const DAY_MS = 86_400_000;

/** Two days old: no run can be using it. */
const isOutdated = (folder: string) => Date.now() - statSync(folder).mtimeMs > 2 * DAY_MS;

/** Whatever the database is made of. Its partitions begin with the month of its making, so the day is a part of it. */
function hashSchema(): string {
  const root = join(import.meta.dir, '../../..');
  const hasher = new Bun.CryptoHasher('sha256').update(new Date().toISOString().slice(0, 10));
  const sources = new Glob('drizzle/{migrations/**/*,embedded/*.ts,*.ts}').scanSync({ cwd: root });
  for (const path of [...sources, 'bun.lock'].sort()) hasher.update(path).update(readFileSync(join(root, path)));
  return hasher.digest('hex').slice(0, 16);
}

async function migrate(where: string): Promise<void> {
  const child = Bun.spawn([process.execPath, '--no-env-file', MAKE_TEMPLATE, where], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if ((await child.exited) !== 0) throw new Error(`the schema could not be made in ${where}`);
}
