import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import postgres from 'postgres';
import { isAll } from '../lane';
import {
  CAPPED_KEY,
  digestLlm0,
  fillLlm0Database,
  GUESSED_KEY,
  LEGACY_KEY,
  ODD_KEY,
  PROJECT,
} from '../llm0/fill-database';
import { createDatabase, type TestDatabase } from '../stores/create-database';
import { runCommand, type TestServer, temporaryFolder } from '../stores/server-process';
import { callAdmin, type GatewayProcess, startGateway } from '../stores/start-gateway';
import { startRedis } from '../stores/start-redis';
import { settledLedger } from './environment';
import { testApart } from './test-apart';

/** As its .env.example and README have them, all of them. */
const GO_ENV = {
  ENVIRONMENT: 'local',
  FAILOVER_MODE: 'cloud_first',
  CACHE_TTL_SECONDS: '3600',
  HOT_KEY_CACHE_TTL: '86400',
  REDIS_PASSWORD: '',
  REDIS_DB: '0',
  REDIS_POOL_SIZE: '200',
  REDIS_MIN_IDLE_CONNS: '50',
  REDIS_MAX_RETRIES: '1',
  REDIS_MIN_RETRY_BACKOFF: '1ms',
  REDIS_READ_TIMEOUT: '100ms',
  REQUEST_TIMEOUT: '1m30s',
  MAX_CONCURRENT_REQUESTS: '10000',
  TLS_ENABLED: 'false',
  TLS_SESSION_CACHE_SIZE: '1000',
  CUSTOMER_LIMIT_CACHE_TTL_SECONDS: '60',
  OLLAMA_BASE_URL: '',
  OLLAMA_MODEL_FLAGSHIP: 'llama3.3:70b',
  EMBEDDING_SERVICE_URL: '',
};

/** Each takes a quarter of a second of CPU. */
const GUESSES = 5;
const SERVER = process.env.TEST_DATABASE_URL ?? '';

async function complete(gateway: GatewayProcess, key: string, customer?: string) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(customer === undefined ? {} : { 'x-customer-id': customer }),
    },
    body: JSON.stringify({
      model: 'demo-chat',
      max_tokens: 100,
      messages: [{ role: 'user', content: `Hello ${crypto.randomUUID()}` }],
    }),
  });
  await response.text();
  return { status: response.status, headers: response.headers };
}

function runImport(env: Record<string, string>, ...args: readonly string[]) {
  const command = [process.execPath, '--no-env-file', 'apps/gateway/bin/llm0.ts', 'import', 'llm0', ...args];
  return runCommand(command, { DATABASE_URL: '', REDIS_URL: '', ...env });
}

describe.each(isAll ? [{ isOld: false }, { isOld: true }] : [{ isOld: false }])(
  'a database of llm0-gateway (its first version: %o)',
  ({ isOld }) => {
    let database: TestDatabase;
    let redis: TestServer;
    let dataDir: string;
    let env: Record<string, string>;
    let gateway: GatewayProcess;
    let before: string;

    beforeAll(async () => {
      database = await createDatabase(SERVER);
      redis = await startRedis();
      dataDir = temporaryFolder('llm0');
      await fillLlm0Database(database.url, { isOld });
      before = isOld ? '' : await digestLlm0(database.url);
      env = { ...GO_ENV, DATABASE_URL: `${database.url}?sslmode=disable`, REDIS_URL: redis.url, DEMO_PROVIDER: 'on' };
      // What is decided, not how soon: the machine may be busy.
      env.LLM0_TEST_ADMIT_DEADLINE_MS = '5000';
      // The import is run where the gateway runs.
      env.DATA_DIR = dataDir;
      gateway = await startGateway({ dataDir, env: { ...env, ADMIN_TOKEN: '' } });
      env.ADMIN_TOKEN = gateway.adminToken;
    }, 120_000);
    afterAll(async () => {
      await gateway.kill();
      await redis.stop();
      await database.drop();
      rmSync(dataDir, { recursive: true, force: true });
    });

    const ask = async <T extends Record<string, unknown>>(query: string): Promise<readonly T[]> => {
      const client = postgres(database.url, { max: 1 });
      try {
        return [...(await client.unsafe<T[]>(query))];
      } finally {
        await client.end();
      }
    };

    test('starts with the unchanged .env, and has tables of its own apart from them', async () => {
      expect((await complete(gateway, gateway.apiKey ?? '')).status).toBe(200);
      const tables = await ask<{ n: number }>(
        `select count(*)::int as n from pg_tables where schemaname = 'llm0_bun' and tablename in ('projects', 'gateway_logs', 'semantic_cache')`,
      );
      expect(tables).toEqual([{ n: 3 }]);
      const strays = await ask(
        `select tablename from pg_tables where schemaname = 'public' and tablename like 'rollup%'`,
      );
      expect(strays).toEqual([]);
      expect(gateway.output()).not.toContain('without it');
    });

    test('a dry run counts and writes nothing', async () => {
      const done = await runImport(env, '--dry-run');
      expect(done.stderr).toBe('');
      expect(done.stdout).toContain('projects: 2\nkeys (bcrypt until their first use): 4\n');
      expect(done.stdout).toContain('rows of the log: 108');
      expect(done.stdout).toContain('spent this month: Nearly spent $4.999000000');
      expect(done.stdout).toContain('nothing was written');
      expect(await ask('select name from llm0_bun.projects')).toEqual([{ name: 'default' }]);
      expect(await ask('select count(*)::int as n from llm0_bun.legacy_keys')).toEqual([{ n: 0 }]);
    });

    test('imports while the gateway runs, and counts from the next request', async () => {
      const done = await runImport(env);
      expect(done.stdout).toContain('rows of the log: 108, 108 new');
      expect(done.stdout).toContain('failovers: 1, 1 new');
      if (!isOld)
        expect(done.stdout).toMatch(
          /not the same: limits for all customers.*\n.*1 customer tiers.*\n.*limits by label of 1/,
        );
      expect(done.stdout).toMatch(
        /price of anthropic\/claude-opus-4-6: yours \(\$15 \/ \$75 per million\) in place of/,
      );
      expect(done.code).toBe(0);

      // Limits are counted anew meanwhile.
      while ((await complete(gateway, LEGACY_KEY)).status === 503) await Bun.sleep(50);
      const answers = await Promise.all([LEGACY_KEY, LEGACY_KEY, ODD_KEY].map((key) => complete(gateway, key)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(Number(answers[0]?.headers.get('x-spend-usd'))).toBeGreaterThanOrEqual(1.25);
      expect(answers[0]?.headers.get('x-spend-cap-usd')).toBe('50.000000000');
      expect((await complete(gateway, `${LEGACY_KEY.slice(0, -1)}0`)).status).toBe(401);
      expect((await complete(gateway, 'team-alpha-key-guessed')).status).toBe(401);
      // $4.999 of $5 are spent: there is room for a cheap request only.
      expect((await complete(gateway, CAPPED_KEY)).status).toBe(200);
    }, 60_000);

    test('the books are even, and statistics know the months before', async () => {
      const ledger = await settledLedger(gateway);
      expect(ledger.ok).toBe(true);
      const project = ledger.projects.find(({ project_id }) => project_id === PROJECT);
      expect(project?.diff_usd).toBe(0);
      expect(project?.logs_usd).toBeGreaterThanOrEqual(1.25);
      const [row] = await ask<Record<string, unknown>>(
        `select count(*)::int as n, sum(saved_usd)::float8 as saved, count(*) filter (where semantic_cache_hit)::int as semantic,
        count(*) filter (where provider = 'gemini' and labels ->> 'feature' = 'chat')::int as gemini
      from llm0_bun.gateway_logs where project_id = '${PROJECT}' and created_at < now() and dialect = 'openai-chat' and model <> 'demo-chat'`,
      );
      expect(row).toEqual({ n: 106, saved: 0.01, semantic: 1, gemini: 100 });
    }, 60_000);

    test('customers keep their limits and what they spent today', async () => {
      const limits = await callAdmin<Record<string, unknown>>(gateway, `/projects/${PROJECT}/customers/acme/limits`);
      expect(limits).toMatchObject({
        daily_spend_limit_usd: 0.7,
        requests_per_day: 1000,
        model_limits: { 'gpt-4o': { requests_per_day: 50 } },
        on_limit_behavior: 'downgrade',
        downgrade_model: 'gpt-4o-mini',
      });
      const { status, headers } = await complete(gateway, LEGACY_KEY, 'acme');
      expect(status).toBe(200);
      expect(headers.get('x-customer-limit-daily')).toBe('0.700000000');
      const [spent] = await ask<{ usd: number }>(
        `select coalesce(sum(cost_usd), 0)::float8 as usd from llm0_bun.gateway_logs
        where customer_id = 'acme' and created_at >= date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' and model <> 'demo-chat'`,
      );
      expect(Number(headers.get('x-customer-spend-today'))).toBeCloseTo(spent?.usd ?? -1, 3);
    });

    test('a second time changes nothing', async () => {
      const done = await runImport(env);
      const added = [...done.stdout.matchAll(/, (\d+) new$/gm)].map(([, n]) => n);
      expect(added).toEqual(['0', '0', '0', '0', '0', '0']);
      expect((await settledLedger(gateway)).ok).toBe(true);
      expect((await complete(gateway, LEGACY_KEY)).status).toBe(200);
    }, 60_000);

    test('guesses at an unused key delay no one and fail', async () => {
      let done = 0;
      const guesses = Array.from({ length: GUESSES }, async (_, n) => {
        const { status } = await complete(gateway, GUESSED_KEY.slice(0, -2) + String(n).padStart(2, '0'));
        done++;
        return status;
      });
      for (let n = 0; n < 10; n++) expect((await complete(gateway, LEGACY_KEY)).status).toBe(200);
      expect(done).toBeLessThan(GUESSES);
      expect(new Set(await Promise.all(guesses))).toEqual(new Set([401]));
      // The same guesses cost nothing any more.
      const startMs = performance.now();
      for (let n = 0; n < 20; n++)
        expect((await complete(gateway, `${GUESSED_KEY.slice(0, -2)}0${n % GUESSES}`)).status).toBe(401);
      expect(performance.now() - startMs).toBeLessThan(2_000);
    }, 60_000);

    test('keys are kept as SHA-256 after their first use, also across a restart', async () => {
      const waiting = await ask(
        `select count(*)::int as n, count(bcrypt_hash)::int as waiting from llm0_bun.legacy_keys`,
      );
      expect(waiting).toEqual([{ n: 4, waiting: 1 }]);
      await gateway.kill();
      gateway = await startGateway({ dataDir, env });
      for (const key of [LEGACY_KEY, ODD_KEY]) expect((await complete(gateway, key)).status).toBe(200);
      expect(gateway.output()).not.toMatch(/^admin token/m);
    }, 60_000);

    test('their tables are as they were', async () => {
      if (isOld) expect(await ask('select count(*)::int as n from public.gateway_logs')).toEqual([{ n: 109 }]);
      else expect(await digestLlm0(database.url)).toBe(before);
    });
  },
);

describe('embedded stores', () => {
  testApart(
    'take the data over from a database elsewhere, and leave that alone',
    async () => {
      const database = await createDatabase(SERVER);
      const dataDir = temporaryFolder('llm0');
      try {
        await fillLlm0Database(database.url);
        const before = await digestLlm0(database.url);
        const missing = await runImport({ DATA_DIR: dataDir });
        expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('--from') });
        const first = await startGateway({ dataDir });
        const busy = await runImport({ DATA_DIR: dataDir }, '--from', database.url);
        expect(busy).toMatchObject({ code: 1, stderr: expect.stringContaining('in use by another gateway') });
        await first.kill();
        for (const added of ['108', '0']) {
          const done = await runImport({ DATA_DIR: dataDir }, '--from', database.url);
          expect(done.stdout).toContain(`rows of the log: 108, ${added} new`);
        }
        const gateway = await startGateway({ dataDir, env: { DEMO_PROVIDER: 'on' } });
        const [used, odd] = [await complete(gateway, LEGACY_KEY), await complete(gateway, ODD_KEY)];
        expect([used.status, odd.status]).toEqual([200, 200]);
        expect(Number(used.headers.get('x-spend-usd'))).toBeGreaterThanOrEqual(1.25);
        expect((await settledLedger(gateway)).ok).toBe(true);
        await gateway.stop();
        expect(await digestLlm0(database.url)).toBe(before);
      } finally {
        rmSync(dataDir, { recursive: true, force: true });
        await database.drop();
      }
    },
    120_000,
  );

  test('a database without its tables is refused in one line', async () => {
    const database = await createDatabase(SERVER);
    const done = await runImport({ DATA_DIR: '/nonexistent' }, '--from', database.url, '--dry-run');
    expect(done).toMatchObject({ code: 1, stderr: expect.stringContaining('no tables of llm0-gateway') });
    await database.drop();
  });
});
