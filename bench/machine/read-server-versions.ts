import { openRedis } from '@llm0/core/limits/redis/connection';
import { withSql } from '../generate/open-sql';
import type { BenchStores } from '../start-bench';

/** Versions of the stores of this run, by name; none with embedded ones. */
export async function readServerVersions(stores: BenchStores | undefined): Promise<Readonly<Record<string, string>>> {
  if (stores === undefined) return {};
  const redis = openRedis(stores.redisUrl);
  try {
    const version = /^redis_version:(\S+)/m.exec(await redis.info('server'))?.[1] ?? 'unknown';
    const [row] = await withSql(stores.databaseUrl, (sql) => sql<{ server_version: string }[]>`show server_version`);
    return { Redis: version, Postgres: row?.server_version ?? 'unknown' };
  } finally {
    redis.disconnect();
  }
}
