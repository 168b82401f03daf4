import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { callAdmin } from '../stores/start-gateway';
import { ask, logRow, postChat, type Reconciliation, settledLedger } from './environment';
import { FailingStores, PATIENT, SETUP_MS, TEST_MS, watch } from './failing-stores.fixture';

/** Time to be admitted in, on a busy machine; the stream goes on for longer. */
const LEFT_OF_MONTH_MS = 3_000;

describe('stores fail under load', () => {
  let stores: FailingStores;
  beforeAll(async () => {
    stores = await FailingStores.start(PATIENT);
  }, SETUP_MS);
  afterAll(() => stores.world.close(), SETUP_MS);
  beforeEach(() => stores.beginLoad(), SETUP_MS);
  afterEach(() => stores.stopLoad(), SETUP_MS);

  test(
    'FLUSHALL under load: 503 until rebuilt, then counters as before, and no row is missing',
    async () => {
      for (let flush = 0; flush < 3; flush++) {
        await stores.world.redis?.flush();
        const seen = await watch(stores.gateway, stores.keys.free.apiKey, 1_500);
        const codes = seen.filter(({ status }) => status !== 200).map(({ code }) => code);
        expect(codes.filter((code) => code !== 'store_unavailable')).toEqual([]);
      }
      const told = await callAdmin<{ data: readonly { outcome: string; message: string }[] }>(
        stores.gateway,
        '/system-logs?event_type=hot_store_lost',
      );
      expect(told.data.length).toBeGreaterThan(0);
      expect(told.data[0]).toMatchObject({ outcome: 'error', message: expect.stringContaining('lost its data') });
      await stores.expectEven();
      const before = await settledLedger(stores.gateway);
      await stores.world.redis?.flush();
      await Bun.sleep(1_500);
      await stores.isDeciding();
      const after = await callAdmin<Reconciliation>(stores.gateway, '/reconcile');
      expect(before.projects.some(({ counter_usd }) => counter_usd > 0)).toBe(true);
      expect(after.projects).toEqual(before.projects);
    },
    TEST_MS,
  );

  test(
    "month's end during a stream: booked in the month of its admission",
    async () => {
      await stores.stopLoad();
      stores.world.calendar.leapToMonthEnd(LEFT_OF_MONTH_MS);
      const month = new Date(stores.world.calendar.nowMs()).toISOString().slice(0, 7);
      await Bun.sleep(200);
      const usage = { prompt: 1000, completion: 500 };
      const body = ask('across the turn', { stream: true, x_fake: { usage, chunks: 10, gapMs: 400 } });
      const answer = await postChat(stores.gateway, stores.keys.free.apiKey, body);
      expect(await answer.text()).toContain('data: [DONE]');
      expect(new Date(stores.world.calendar.nowMs()).toISOString().slice(0, 7)).not.toBe(month);
      const row = await logRow(stores.gateway, answer.headers.get('x-request-id') ?? '');
      // gpt-4o-mini: $0.15 in, $0.60 out a million.
      expect(row.cost_usd).toBe(0.00045);
      const ledger = await settledLedger(stores.gateway);
      const books = ledger.projects.filter(({ project_id }) => project_id === stores.keys.free.projectId);
      const own = books.find((one) => (one as { month?: string }).month === month);
      expect(own).toMatchObject({ diff_usd: 0 });
      expect(own?.counter_usd).toBeGreaterThanOrEqual(0.00045);
      expect(books.filter((one) => (one as { month?: string }).month !== month && one.counter_usd > 0)).toEqual([]);
    },
    TEST_MS,
  );
});
