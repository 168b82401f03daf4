// A store that refuses us stops the start with one line that names the setting; one that is not there yet is waited for.

import { openRedis } from '@llm0/core/limits/redis/connection';
import { chooseSchema, OWN_SCHEMA } from '@llm0/drizzle/choose-schema';
import { errorCode, rootMessage } from '@llm0/drizzle/sql-state';
import type { Config, StoreConfig } from '../config/config';
import { ConfigError, redactUrl } from '../config/values';

const WAIT_MS = 10_000;
const AGAIN_MS = 250;

type RedisSettings = NonNullable<Config['redis']>;

/** Throws `ConfigError` where Redis cannot be used; warns of one that throws data away. */
export async function checkRedis(redis: RedisSettings, onWarning: (message: string) => void): Promise<void> {
  const deadlineMs = performance.now() + WAIT_MS;
  for (let attempt = 0; ; attempt++) {
    const found = await askRedis(redis);
    if ('policy' in found) {
      if (found.policy !== 'noeviction') onWarning(evictionWarning(found.policy));
      return;
    }
    const refusal = refusalOf(redis, found.failure);
    if (refusal !== undefined) throw refusal;
    const away = `Redis cannot be reached there (${found.failure})`;
    if (performance.now() > deadlineMs) throw new ConfigError('REDIS_URL', redactUrl(redis.url), away);
    if (attempt === 0) onWarning(`REDIS_URL=${redactUrl(redis.url)}: ${away}; trying again for ${WAIT_MS / 1000} s`);
    await Bun.sleep(AGAIN_MS);
  }
}

const evictionWarning = (policy: string): string =>
  `REDIS_URL: this Redis has maxmemory-policy ${policy} and may throw away limits and log rows; set it to noeviction`;

async function askRedis({ url, password, db }: RedisSettings): Promise<{ policy: string } | { failure: string }> {
  const client = openRedis(url.split(',')[0] ?? url, {
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: 2000,
    ...(password === undefined ? {} : { password }),
    ...(db === undefined ? {} : { db }),
  });
  let failure: string | undefined;
  // The first error is the cause; later ones only report the closed connection.
  client.on('error', (error: Error) => {
    failure ??= describe(error);
  });
  try {
    await client.connect();
    const policy = /^maxmemory_policy:(\S+)/m.exec(await client.info('memory'))?.[1];
    return failure === undefined ? { policy: policy ?? 'noeviction' } : { failure };
  } catch (error) {
    return { failure: failure ?? describe(error) };
  } finally {
    client.disconnect();
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ('code' in error ? String(error.code) : error.name);
}

/** Errors that waiting doesn't fix. */
function refusalOf({ url, password, db }: RedisSettings, failure: string): ConfigError | undefined {
  if (/^(?:WRONGPASS|NOAUTH|NOPERM)|AUTH|invalid password/i.test(failure)) {
    const said = /^NOAUTH/.test(failure) ? 'this Redis needs a password' : 'this Redis refuses the user or password';
    if (password !== undefined) return new ConfigError('REDIS_PASSWORD', '***', said);
    return new ConfigError('REDIS_URL', redactUrl(url), `${said}; give it there or in REDIS_PASSWORD`);
  }
  if (/DB index/i.test(failure))
    return new ConfigError('REDIS_DB', String(db ?? ''), 'this Redis has no such database');
  return undefined;
}

const POSTGRES_REFUSALS: Readonly<Record<string, string>> = {
  '28P01': 'Postgres refuses the user or password',
  '28000': 'Postgres refuses this user',
  '3D000': 'this Postgres has no such database; create it first',
  '42501': 'this user may not create what the gateway needs there',
};

/** The settings with the address at which our tables are; see `chooseSchema`. */
export async function withOwnSchema<C extends StoreConfig>(config: C, onInfo: (message: string) => void): Promise<C> {
  if (config.databaseUrl === undefined) return config;
  const { databaseUrl, isApart } = await chooseSchema(config.databaseUrl).catch((error: unknown) => {
    throw explainPostgres(config.databaseUrl, error);
  });
  if (!isApart) return config;
  onInfo(`DATABASE_URL holds tables of another llm0-gateway: ours are apart from them, in the schema ${OWN_SCHEMA}`);
  return { ...config, databaseUrl };
}

/** Turns a Postgres connection error into a line with the setting; returns other errors unchanged. */
export function explainPostgres(databaseUrl: string | undefined, error: unknown): unknown {
  if (databaseUrl === undefined) return error;
  const code = errorCode(error) ?? '';
  const refusal = POSTGRES_REFUSALS[code];
  const isAway = /^(?:E[A-Z]+|CONNECT.*|CONNECTION_.*|08...|57P0.|53300)$/.test(code);
  if (refusal === undefined && !isAway) return error;
  const said = refusal ?? `Postgres cannot be reached there (${rootMessage(error) || code})`;
  return new ConfigError('DATABASE_URL', redactUrl(databaseUrl), said);
}
