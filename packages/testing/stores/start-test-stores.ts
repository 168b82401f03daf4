import { join } from 'node:path';
import { CannotStartError, removeFolder, temporaryFolder } from './server-process';
import { startPostgres } from './start-postgres';
import { startRedis } from './start-redis';

export interface TestStores {
  /**
   * `TEST_REDIS_URL`, `TEST_EMBEDDED_TEMPLATE` (a data folder of a gateway that was never started) and, where a Postgres
   * could be had, `TEST_DATABASE_URL`.
   */
  readonly env: Readonly<Record<string, string>>;
  /** Why there is no real Postgres; null when there is one. */
  readonly missing: string | null;
  stop(): Promise<void>;
}

/**
 * The stores named by TEST_REDIS_URL and TEST_DATABASE_URL where given, else servers of one's own. `template` is the one
 * that another call has made.
 */
export async function startTestStores(template?: string): Promise<TestStores> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    await Promise.all(stops.splice(0).map((end) => end()));
  };
  const env: Record<string, string> = {};
  let missing: string | null = null;
  try {
    env.TEST_EMBEDDED_TEMPLATE = template ?? (await makeTemplate(stops));
    const redis = process.env.TEST_REDIS_URL || (await keep(stops, startRedis()));
    env.TEST_REDIS_URL = redis;
    try {
      env.TEST_DATABASE_URL = process.env.TEST_DATABASE_URL || (await keep(stops, startPostgres()));
    } catch (error) {
      if (!(error instanceof CannotStartError)) throw error;
      missing = error.message;
    }
    return { env, missing, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function keep(stops: (() => Promise<void>)[], starting: ReturnType<typeof startRedis>): Promise<string> {
  const server = await starting;
  stops.push(() => server.stop());
  return server.url;
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
