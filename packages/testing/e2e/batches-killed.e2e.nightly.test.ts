import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { allLogs, STORE_KINDS, settledLedger, startEnvironment, type TestEnvironment } from './environment';
import { batchClient, idsIn, makeBatch, readUntil } from './run-batch';

const SETUP_MS = 60_000;
const TEST_MS = 120_000;
const LINES = 300;

describe.each(STORE_KINDS)('a batch on %s stores whose gateway is killed', (kind) => {
  let world: TestEnvironment;
  beforeAll(async () => {
    world = await startEnvironment({
      kind,
      allVendors: false,
      env: { LLM0_TEST_LEASE_MS: '3000' },
    });
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);

  test(
    'goes on by itself: each line has one answer, and the ledger is even',
    async () => {
      const { apiKey, projectId } = await createTestKey(world.gateway, {
        ...{ project: { cache_enabled: false, monthly_cap_usd: 5 }, key: { rate_limit_per_minute: null } },
      });
      const client = () => batchClient(world.gateway, apiKey);
      const { id } = await makeBatch(client(), LINES, { max_tokens: 20, x_fake: { firstDelayMs: 20 } });
      await readUntil(client, id, ({ request_counts: counts }) => (counts?.completed ?? 0) > LINES / 4);
      const before = world.upstream.control.counters.received;
      expect(before).toBeLessThan(LINES);
      await world.restart('kill');
      const batch = await readUntil(client, id);
      expect(batch).toMatchObject({ status: 'completed', request_counts: { total: LINES, completed: LINES } });
      const ids = await idsIn(client(), batch.output_file_id);
      expect(ids).toEqual(Array.from({ length: LINES }, (_, index) => `line-${index}`));
      // Only those that were under way were asked twice.
      expect(world.upstream.control.counters.received).toBeLessThan(LINES + 50);
      const ledger = await settledLedger(world.gateway, TEST_MS / 2);
      expect(ledger.open_holds).toBe(0);
      expect(ledger.projects.find((one) => one.project_id === projectId)?.diff_usd).toBe(0);
      // Lost first attempts have rows of their own, and are the batch's costs.
      const rows = await allLogs(world.gateway, `project_id=${projectId}&modality=batch`);
      expect(rows.length).toBeGreaterThanOrEqual(LINES);
      const spent = rows.reduce((sum, row) => sum + Math.round(row.cost_usd * 1e9), 0);
      const { cost_usd: cost } = await callAdmin<{ cost_usd: number }>(world.gateway, `/batches/${id}`);
      expect(Math.round(cost * 1e9)).toBe(spent);
      const tokens = rows.reduce((sum, row) => sum + row.tokens_in + row.tokens_out, 0);
      expect((await client().batches.retrieve(id)).usage?.total_tokens).toBe(tokens);
    },
    TEST_MS,
  );
});
