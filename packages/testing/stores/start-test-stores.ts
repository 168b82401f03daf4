import { join } from 'node:path';
import { CannotStartError, removeFolder, type TestServer, temporaryFolder } from './server-process';
import { startPostgres } from './start-postgres';
import { startRedis } from './start-redis';

/** What tests may need to have running; `template` is a data folder of a gateway that was never started. */
export type Store = 'redis' | 'postgres' | 'template';
export const ALL_STORES: readonly Store[] = ['redis', 'postgres', 'template'];

export interface TestStores {
  /**
   * For a process: `TEST_REDIS_URL`, `TEST_EMBEDDED_TEMPLATE` and, where a Postgres could be had, `TEST_DATABASE_URL`,
   * as far as they were asked for.
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
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    await Promise.all(stops.splice(0).map((end) => end()));
  };
  const needs = new Set(needed);
  const keep = async (starting: Promise<TestServer>) => {
    const server = await starting;
    stops.push(() => server.stop());
    return server.url;
  };
  const given = { redis: process.env.TEST_REDIS_URL, postgres: process.env.TEST_DATABASE_URL };
  const startRedisOfOne = async () => given.redis || (await keep(startRedis()));
  const [template, postgres, ...redis] = await Promise.allSettled([
    needs.has('template') ? makeTemplate(stops) : undefined,
    needs.has('postgres') ? given.postgres || keep(startPostgres()) : undefined,
    ...Array.from({ length: processes }, () => (needs.has('redis') ? startRedisOfOne() : undefined)),
  ]);
  const failed = [template, ...redis].find((one) => one.status === 'rejected') ?? unexpected(postgres);
  if (failed !== undefined) {
    await stop();
    throw failed.reason;
  }
  const shared = { ...entry('TEST_EMBEDDED_TEMPLATE', template), ...entry('TEST_DATABASE_URL', postgres) };
  const stores = redis.map((one) => ({ env: { ...shared, ...entry('TEST_REDIS_URL', one) } }));
  return { stores, missing: postgres.status === 'rejected' ? postgres.reason.message : null, stop };
}

type Outcome = PromiseSettledResult<string | undefined>;

/** Tests can do without a real Postgres, not with a broken one. */
function unexpected(outcome: Outcome): PromiseRejectedResult | undefined {
  return outcome.status === 'rejected' && !(outcome.reason instanceof CannotStartError) ? outcome : undefined;
}

function entry(name: string, outcome: Outcome): Record<string, string> {
  return outcome.status === 'fulfilled' && outcome.value !== undefined ? { [name]: outcome.value } : {};
}

const MAKE_TEMPLATE = join(import.meta.dir, 'make-template.ts');

/** The very first start of the embedded Postgres takes longer than most tests: it is made once and copied. */
async function makeTemplate(stops: (() => Promise<void>)[]): Promise<string> {
  const folder = temporaryFolder('template');
  stops.push(async () => removeFolder(folder));
  const child = Bun.spawn([process.execPath, MAKE_TEMPLATE, folder], { stdio: ['ignore', 'inherit', 'inherit'] });
  if ((await child.exited) !== 0) throw new Error('the embedded Postgres could not be made ready');
  return folder;
}
