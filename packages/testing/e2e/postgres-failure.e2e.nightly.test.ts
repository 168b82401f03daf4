import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import postgresClient from 'postgres';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream';
import { hostGateway } from '../stores/host-gateway';
import { isRoot, NOBODY, removeFolder, type TestServer, temporaryFolder } from '../stores/server-process';
import { callAdmin, createTestKey, type GatewayProcess } from '../stores/start-gateway';
import { startPostgres } from '../stores/start-postgres';
import { startRedis } from '../stores/start-redis';
import { undisturbedMs } from '../thread-time';
import { allLogs, ask, postChat, settledLedger } from './environment';
import { PATIENT } from './failing-stores.fixture';

const SETUP_MS = 60_000;
const LONG = 'x'.repeat(3000);

/** As a primary that became a standby: it answers, and takes no changes. */
async function whileReadOnly(url: string, work: () => Promise<void>): Promise<void> {
  const sql = postgresClient(url, { max: 1 });
  const set = async (value: 'on' | 'off') => {
    await sql.unsafe(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
    await sql`SELECT pg_reload_conf()`;
    const isSet = async () =>
      (await sql`SHOW default_transaction_read_only`)[0]?.default_transaction_read_only === value;
    while (!(await isSet())) await Bun.sleep(20);
  };
  try {
    await set('on');
    await work();
    await set('off');
  } finally {
    await sql.end();
  }
}

describe('Postgres goes away and comes back', () => {
  const folder = temporaryFolder('postgres-data', isRoot ? NOBODY : undefined);
  let postgres: TestServer;
  let redis: TestServer;
  let upstream: FakeUpstream;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    postgres = await startPostgres({ dataDir: folder });
    redis = await startRedis();
    upstream = startFakeUpstream();
    gateway = await hostGateway({
      env: {
        OPENAI_API_KEY: 'sk-fake-upstream-key',
        OPENAI_BASE_URL: upstream.baseUrl,
        REDIS_URL: redis.url,
        DATABASE_URL: postgres.url,
        LOG_BODIES: 'true',
        CACHE_MAX_BYTES: '10000',
        ...PATIENT,
      },
    });
  }, SETUP_MS);
  afterAll(async () => {
    await gateway.stop();
    await upstream.stop();
    await redis.stop();
    await postgres.stop();
    removeFolder(folder);
  }, SETUP_MS);

  test(
    'known keys are served, unknown ones and Idempotency-Keys are not, and every row arrives in the end',
    async () => {
      const { apiKey, projectId } = await createTestKey(gateway);
      const long = (text: string) => ask(text, { x_fake: { text: `${LONG}${text}` } });
      for (let i = 0; i < 6; i++) await (await postChat(gateway, apiKey, long(`long ${i}`))).text();
      await settledLedger(gateway);
      await whileReadOnly(postgres.url, async () => {
        // Each connection of the gateway takes the setting on its own.
        for (let refusals = 0; refusals < 5; ) {
          const tried = callAdmin(gateway, '/projects', { body: { name: 'a probe' } });
          refusals = await tried.then(
            () => 0,
            () => refusals + 1,
          );
        }
        const refused = callAdmin(gateway, '/projects', { body: { name: 'not now' } });
        await expect(refused).rejects.toThrow(/503 .*"store_unavailable"/);
        expect((await postChat(gateway, apiKey, ask('while it is read-only'))).status).toBe(200);
        const page = await fetch(`${gateway.url}/healthz`);
        expect([page.status, await page.json()]).toMatchObject([
          503,
          { backends: { postgres: { ok: false } }, log_queue: { entries: expect.any(Number) } },
        ]);
      });
      await settledLedger(gateway);
      const { port } = postgres;
      await postgres.stop();
      expect((await fetch(`${gateway.url}/healthz`)).status).toBe(503);
      const ready = await fetch(`${gateway.url}/readyz`);
      expect([ready.status, await ready.json()]).toMatchObject([200, { ok: true, away: ['postgres'] }]);

      const keyed = await postChat(gateway, apiKey, ask('once'), { headers: { 'Idempotency-Key': 'k' } });
      expect(keyed.status).toBe(503);
      expect(keyed.headers.get('retry-after')).toBe('1');
      const { error } = (await keyed.json()) as { error: { code: string; message: string } };
      expect(error.code).toBe('store_unavailable');
      expect(error.message).toContain('might run twice');
      const unknown = await postChat(gateway, `llm0_live_${'0'.repeat(64)}`, ask('who'));
      expect(unknown.status).toBe(503);
      for (let i = 0; i < 10; i++) {
        const startMs = undisturbedMs(gateway.pid);
        const answer = await postChat(gateway, apiKey, ask(`while it is away ${i}`));
        expect([answer.status, (await answer.text()) === '']).toEqual([200, false]);
        expect(undisturbedMs(gateway.pid) - startMs).toBeLessThan(500);
      }
      // Left the hot tier long ago; without the warm one it is a miss.
      const gone = await postChat(gateway, apiKey, long('long 0'));
      expect([gone.status, gone.headers.get('x-cache-hit')]).toEqual([200, 'miss']);
      await gone.text();

      postgres = await startPostgres({ port, dataDir: folder });
      const endMs = performance.now() + 20_000;
      while ((await fetch(`${gateway.url}/healthz`)).status !== 200 && performance.now() < endMs) await Bun.sleep(50);
      const again = await postChat(gateway, apiKey, ask('once'), { headers: { 'Idempotency-Key': 'k' } });
      expect([again.status, again.headers.get('x-idempotent-replay')]).toEqual([200, null]);
      await again.text();
      const ledger = await settledLedger(gateway);
      expect(ledger).toMatchObject({ open_holds: 0, queue_depth: 0 });
      expect(ledger.projects.filter((project) => project.diff_usd !== 0)).toEqual([]);
      const rows = await allLogs(gateway, `project_id=${projectId}`);
      expect(rows.map((row) => row.status).filter((status) => status === 'success')).toHaveLength(19);
      expect(rows.map((row) => row.error_code).filter((code) => code === 'store_unavailable')).toHaveLength(1);
    },
    2 * SETUP_MS,
  );
});
