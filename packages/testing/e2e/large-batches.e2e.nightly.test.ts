import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createTestKey } from '../stores/start-gateway';
import { STORE_KINDS, settledLedger, startEnvironment, type TestEnvironment } from './environment';
import { batchClient, idsIn, makeBatch, readUntil } from './run-batch';

const SETUP_MS = 60_000;
const TEST_MS = 300_000;
/** The embedded Postgres takes four times as long for a line, and has the same code and laws. */
const KINDS = STORE_KINDS.map((kind) => ({ kind, lines: kind === 'real' ? 50_000 : 5_000 }));
const CANCELLED_LINES = 5_000;
const KILLS = 5;
/** Lines that may be under way, in all chunks at once, when a gateway is killed. */
const UNDER_WAY = 100;

describe.each(KINDS)('batches of $lines lines on $kind stores', ({ kind, lines }) => {
  let world: TestEnvironment;
  beforeAll(async () => {
    world = await startEnvironment({
      kind,
      allVendors: false,
      env: { LLM0_TEST_LEASE_MS: '3000' },
    });
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);

  const open = async () => {
    const { apiKey, projectId } = await createTestKey(world.gateway, {
      ...{ project: { cache_enabled: false, monthly_cap_usd: 100 }, key: { rate_limit_per_minute: null } },
    });
    return { client: () => batchClient(world.gateway, apiKey), projectId };
  };
  const checkLedger = async (projectId: string) => {
    const ledger = await settledLedger(world.gateway, 120_000);
    expect(ledger.open_holds).toBe(0);
    expect(ledger.projects.find((one) => one.project_id === projectId)?.diff_usd).toBe(0);
  };

  test(
    `${KILLS} kills lose no line and answer none twice`,
    async () => {
      world.upstream.control.reset();
      const { client, projectId } = await open();
      const { id } = await makeBatch(client(), lines, { max_tokens: 20 });
      for (let kill = 1; kill <= KILLS; kill++) {
        const share = (lines * kill) / (KILLS + 1);
        await readUntil(client, id, ({ request_counts: counts }) => (counts?.completed ?? 0) >= share);
        await world.restart('kill');
      }
      const batch = await readUntil(client, id);
      expect(batch).toMatchObject({ status: 'completed', request_counts: { total: lines, completed: lines } });
      const ids = await idsIn(client(), batch.output_file_id);
      expect(ids).toEqual(Array.from({ length: lines }, (_, index) => `line-${index}`));
      expect(world.upstream.control.counters.received).toBeLessThanOrEqual(lines + KILLS * UNDER_WAY);
      await checkLedger(projectId);
    },
    TEST_MS,
  );

  test(
    'cancelled halfway, the rest is not asked',
    async () => {
      world.upstream.control.reset();
      const { client, projectId } = await open();
      const { id } = await makeBatch(client(), CANCELLED_LINES, { max_tokens: 20 });
      await readUntil(client, id, ({ request_counts: counts }) => (counts?.completed ?? 0) >= CANCELLED_LINES / 2);
      await client().batches.cancel(id);
      const batch = await readUntil(client, id);
      expect(batch.status).toBe('cancelled');
      const { completed = 0 } = batch.request_counts ?? {};
      expect(completed).toBe(world.upstream.control.counters.received);
      expect(completed).toBeLessThan(CANCELLED_LINES);
      const ids = await idsIn(client(), batch.output_file_id);
      expect([ids.length, new Set(ids).size]).toEqual([completed, completed]);
      await checkLedger(projectId);
    },
    TEST_MS,
  );
});
