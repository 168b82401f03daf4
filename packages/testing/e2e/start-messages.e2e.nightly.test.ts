import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openRedis } from '@llm0/core/limits/redis/connection';
import { freePort, type TestServer } from '../stores/server-process';
import { startGateway } from '../stores/start-gateway';
import { startRedis } from '../stores/start-redis';

let locked: TestServer;
let evicting: TestServer;
let closedPort: number;
beforeAll(async () => {
  locked = await startRedis();
  const client = openRedis(locked.url);
  await client.config('SET', 'requirepass', 'right-password');
  client.disconnect();
  evicting = await startRedis({ args: ['--maxmemory-policy', 'allkeys-lru'] });
  closedPort = await freePort();
}, 60_000);
afterAll(() => Promise.all([locked.stop(), evicting.stop()]));

/** All that a start that fails has printed. */
async function failedStart(env: Record<string, string>): Promise<string> {
  const gateway = await startGateway({ env }).catch((error: Error) => error);
  if (gateway instanceof Error) return gateway.message;
  await gateway.stop();
  throw new Error('it started');
}

describe('a start that cannot be', () => {
  const postgres = process.env.TEST_DATABASE_URL ?? '';
  const cases: readonly (readonly [string, () => Record<string, string>, string])[] = [
    [
      'a wrong password in REDIS_URL',
      () => ({ REDIS_URL: locked.url.replace('//', '//:wrong-one@') }),
      'REDIS_URL=redis://***@127.0.0.1',
    ],
    [
      'a wrong REDIS_PASSWORD',
      () => ({ REDIS_URL: locked.url, REDIS_PASSWORD: 'wrong-one' }),
      'REDIS_PASSWORD=***: this Redis refuses',
    ],
    ['no password for a Redis that wants one', () => ({ REDIS_URL: locked.url }), 'this Redis needs a password'],
    ['a database that Redis has not', () => ({ REDIS_URL: evicting.url, REDIS_DB: '999' }), 'REDIS_DB=999: '],
    [
      'no Redis',
      () => ({ REDIS_URL: `redis://127.0.0.1:${closedPort}` }),
      'REDIS_URL=redis://127.0.0.1:PORT: Redis cannot be reached there',
    ],
    [
      'no Postgres',
      () => ({ DATABASE_URL: `postgres://me:secret-one@127.0.0.1:${closedPort}/x` }),
      'DATABASE_URL=postgres://***@127.0.0.1:PORT/x: Postgres cannot be reached there',
    ],
    [
      'a database that is not there',
      () => ({ DATABASE_URL: withDatabase(postgres, 'no_such_database') }),
      'this Postgres has no such database',
    ],
    [
      'an address of another machine',
      () => ({ HOST: '192.0.2.1' }),
      'HOST=192.0.2.1: this machine has no such address',
    ],
    ['a host that is none', () => ({ HOST: '300.1.1.1' }), 'HOST=300.1.1.1: an address of this machine'],
    ['an unknown environment', () => ({ ENVIRONMENT: 'prodd' }), 'ENVIRONMENT=prodd: one of local, development'],
    [
      'a certificate that is not there',
      () => ({ TLS_ENABLED: 'true', TLS_CERT_FILE: '/no/cert.pem', TLS_KEY_FILE: '/no/key.pem' }),
      'TLS_CERT_FILE=/no/cert.pem: a file',
    ],
  ];

  test.each(cases)(
    '%s: one line that names the setting',
    async (_name, env, line) => {
      const output = await failedStart(env());
      const last = output.trim().split('\n').at(-1) ?? '';
      expect(last).toContain(line.replace('PORT', String(closedPort)));
      expect(output).not.toMatch(/wrong-one|secret-one|\n {4}at /);
    },
    60_000,
  );
});

describe('a start that may not be meant so', () => {
  test.each([
    ['OPENAI_APIKEY', 'OPENAI_API_KEY'],
    ['ANTROPIC_API_KEY', 'ANTHROPIC_API_KEY'],
    ['MISTRAL_KEY', 'MISTRAL_API_KEY'],
  ])(
    '%s: one line asks for %s',
    async (name, meant) => {
      const gateway = await startGateway({ env: { [name]: 'sk-secret-one' } });
      expect(gateway.output().match(new RegExp(`${name} is not known: is ${meant} meant`, 'g'))).toHaveLength(1);
      expect(gateway.output()).not.toContain('sk-secret-one');
      await gateway.stop();
    },
    60_000,
  );

  test('a Redis that throws data away is warned of, one that does not is not', async () => {
    const gateway = await startGateway({ env: { REDIS_URL: evicting.url } });
    expect(gateway.output().match(/REDIS_URL: .*maxmemory-policy allkeys-lru.*noeviction/g)).toHaveLength(1);
    await gateway.stop();
    const right = { REDIS_URL: locked.url, REDIS_PASSWORD: 'right-password' };
    const calm = await startGateway({ env: right });
    expect(calm.output()).not.toContain('maxmemory-policy');
    await calm.stop();
  }, 60_000);
});

function withDatabase(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}
