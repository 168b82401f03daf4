import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type ChaosKeys, createChaosKeys } from '../chaos/chaos-keys';
import { ChaosLoad } from '../chaos/chaos-load';
import { type ChaosWorld, startWorld } from '../chaos/chaos-world';
import { readChaosLedger } from '../chaos/ledger';
import { callAdmin, createTestKey, type GatewayProcess } from '../stores/start-gateway';
import { askAtOnce } from './ask-at-once';
import { allLogs, ask, logRow, postChat, type Reconciliation, settledLedger, waitUntil } from './environment';

const SETUP_MS = 60_000;
const TEST_MS = 180_000;
const LEASE_MS = 4_000;
const LANES = 8;
const REDIS_GONE_MS = 10_000;
const POSTGRES_GONE_MS = 30_000;
const SETTLE_MS = 60_000;

/** What a caller sees of one request. */
interface Seen {
  readonly status: number;
  readonly code: string | undefined;
  readonly retryAfter: string | null;
  readonly tookMs: number;
}

/** Asks again and again for a while. */
async function watch(gateway: GatewayProcess, apiKey: string, forMs: number): Promise<Seen[]> {
  const seen: Seen[] = [];
  const endMs = performance.now() + forMs;
  while (performance.now() < endMs) {
    const startMs = performance.now();
    const answer = await postChat(gateway, apiKey, ask(`watching ${seen.length} ${crypto.randomUUID()}`));
    const body = (await answer.json()) as { error?: { code: string } };
    const tookMs = performance.now() - startMs;
    seen.push({ status: answer.status, code: body.error?.code, retryAfter: answer.headers.get('retry-after'), tookMs });
    await Bun.sleep(100);
  }
  return seen;
}

const slowestButTenth = (seen: readonly Seen[]) =>
  seen.map(({ tookMs }) => tookMs).sort((a, b) => a - b)[Math.floor(seen.length * 0.9)] ?? 0;

describe('stores fail under load', () => {
  let world: ChaosWorld;
  let keys: ChaosKeys;
  let load: ChaosLoad;
  let startedAtMs = 0;

  const gateway = () => {
    const up = world.replicas[0]?.process;
    if (up === undefined) throw new Error('the gateway is not up');
    return up;
  };
  /** Nothing missing, nothing doubled, counters as the rows, no hold left. */
  const expectEven = async () => {
    await load.stop();
    const ledger = await readChaosLedger({
      gateway: gateway(),
      keys,
      answers: load.answers,
      nowMs: world.calendar.nowMs(),
      startedAtMs,
      timeoutMs: SETTLE_MS,
    });
    const { missing, doubled, differenceNanoUsd, rollupDifferenceNanoUsd, holds, queued, costsChanged } = ledger;
    expect({ missing, doubled, differenceNanoUsd, rollupDifferenceNanoUsd, holds, queued, costsChanged }).toEqual({
      missing: [],
      doubled: [],
      differenceNanoUsd: 0,
      rollupDifferenceNanoUsd: 0,
      holds: 0,
      queued: 0,
      costsChanged: [],
    });
    expect(ledger.answered).toBeGreaterThan(100);
  };
  const isDeciding = async () => {
    const endMs = performance.now() + 10_000;
    while (!(await world.replicas[0]?.isDeciding())) {
      if (performance.now() > endMs) throw new Error('it did not recover by itself');
      await Bun.sleep(50);
    }
  };

  beforeAll(async () => {
    world = await startWorld({ stores: 'real', replicas: 1, leaseMs: LEASE_MS });
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);
  beforeEach(async () => {
    startedAtMs = world.calendar.nowMs();
    keys = await createChaosKeys(gateway());
    load = new ChaosLoad({ keys, replicas: world.replicas, seed: 1, lanes: LANES });
    await Bun.sleep(2_000);
  });
  afterEach(() => load.stop(), SETUP_MS);

  test(
    'Redis gone for 10 s: 503 store_unavailable within 100 ms, recovery by itself, every row there',
    async () => {
      await world.redis?.stop();
      const seen = await watch(gateway(), keys.free.apiKey, REDIS_GONE_MS);
      await world.redis?.start();
      expect(seen.length).toBeGreaterThan(20);
      expect(seen.filter(({ code }) => code !== 'store_unavailable')).toEqual([]);
      expect(seen.filter(({ retryAfter }) => !(Number(retryAfter) >= 1))).toEqual([]);
      expect(slowestButTenth(seen)).toBeLessThan(100);
      await isDeciding();
      const after = await watch(gateway(), keys.free.apiKey, 1_000);
      expect(after.filter(({ status }) => status !== 200)).toEqual([]);
      await expectEven();
    },
    TEST_MS,
  );

  test(
    'Postgres gone for 30 s: known keys are served, rows follow when it is back',
    async () => {
      const known = keys.free.apiKey;
      await watch(gateway(), known, 300);
      await world.postgres?.stop();
      const seen = await watch(gateway(), known, POSTGRES_GONE_MS);
      await world.postgres?.start();
      expect(seen.filter(({ status }) => status !== 200)).toEqual([]);
      expect(seen.length).toBeGreaterThan(100);
      await expectEven();
    },
    TEST_MS,
  );

  test(
    'FLUSHALL under load: 503 until rebuilt, then counters as before, and no row is missing',
    async () => {
      for (let flush = 0; flush < 3; flush++) {
        await world.redis?.flush();
        const seen = await watch(gateway(), keys.free.apiKey, 1_500);
        const codes = seen.filter(({ status }) => status !== 200).map(({ code }) => code);
        expect(codes.filter((code) => code !== 'store_unavailable')).toEqual([]);
      }
      await expectEven();
      const before = await settledLedger(gateway());
      await world.redis?.flush();
      await Bun.sleep(1_500);
      await isDeciding();
      const after = await callAdmin<Reconciliation>(gateway(), '/reconcile');
      expect(before.projects.some(({ counter_usd }) => counter_usd > 0)).toBe(true);
      expect(after.projects).toEqual(before.projects);
    },
    TEST_MS,
  );

  test(
    "month's end during a stream: booked in the month of its admission",
    async () => {
      await load.stop();
      world.calendar.leapToMonthEnd();
      const month = new Date(world.calendar.nowMs()).toISOString().slice(0, 7);
      await Bun.sleep(200);
      const usage = { prompt: 1000, completion: 500 };
      const body = ask('across the turn', { stream: true, x_fake: { usage, chunks: 10, gapMs: 400 } });
      const answer = await postChat(gateway(), keys.free.apiKey, body);
      expect(await answer.text()).toContain('data: [DONE]');
      expect(new Date(world.calendar.nowMs()).toISOString().slice(0, 7)).not.toBe(month);
      const row = await logRow(gateway(), answer.headers.get('x-request-id') ?? '');
      // gpt-4o-mini: $0.15 in, $0.60 out a million.
      expect(row.cost_usd).toBe(0.00045);
      const ledger = await settledLedger(gateway());
      const books = ledger.projects.filter(({ project_id }) => project_id === keys.free.projectId);
      const own = books.find((one) => (one as { month?: string }).month === month);
      expect(own).toMatchObject({ diff_usd: 0 });
      expect(own?.counter_usd).toBeGreaterThanOrEqual(0.00045);
      expect(books.filter((one) => (one as { month?: string }).month !== month && one.counter_usd > 0)).toEqual([]);
    },
    TEST_MS,
  );
});

describe('two replicas, 1,000 requests of one customer at once, a daily limit for 50', () => {
  const REQUESTS = 1000;
  const FITS = 50;
  /** $1 a million in and out, 8 + 92 tokens held and billed: 100,000 nano-USD each. */
  const EACH_USD = 0.0001;
  let world: ChaosWorld;
  beforeAll(async () => {
    world = await startWorld({
      stores: 'real',
      replicas: 2,
      leaseMs: 60_000,
      env: { LLM0_TEST_ADMIT_DEADLINE_MS: '10000', REQUEST_TIMEOUT: '60s' },
    });
    for (const [model, price] of [
      ['race-model', 1],
      ['cheap-model', 0.1],
    ] as const) {
      await callAdmin(replica(0), `/models?provider=openai&model=${model}`, {
        method: 'PUT',
        body: { input_usd_per_million: price, output_usd_per_million: price },
      });
    }
    // The other replica learns prices by itself, within a moment.
    await Bun.sleep(500);
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);

  const replica = (index: number) => {
    const up = world.replicas[index % world.replicas.length]?.process;
    if (up === undefined) throw new Error('a replica is not up');
    return up;
  };
  const askAll = async (behaviour: 'block' | 'downgrade') => {
    const { control } = world.upstream;
    const { apiKey, projectId } = await createTestKey(replica(0), { project: { cache_enabled: false } });
    await callAdmin(replica(0), `/projects/${projectId}/customers/ann/limits`, {
      method: 'PUT',
      body: {
        daily_spend_limit_usd: FITS * EACH_USD,
        on_limit_behavior: behaviour,
        ...(behaviour === 'downgrade' ? { downgrade_model: 'cheap-model' } : {}),
      },
    });
    const body = ask('twelve bytes', {
      model: 'race-model',
      max_tokens: 92,
      x_fake: { usage: { prompt: 8, completion: 92 } },
    });
    control.hold();
    const { answers, done } = askAtOnce({
      urls: [replica(0).url, replica(1).url],
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'x-customer-id': 'ann' },
      body,
      requests: REQUESTS,
    });
    // The upstream answers only after all were decided.
    await waitUntil(() => control.counters.waiting + answers.length === REQUESTS, 60_000);
    control.release();
    await done;
    const ledger = await settledLedger(replica(0));
    const rows = await allLogs(replica(0), `project_id=${projectId}`);
    return { answers, rows, own: ledger.projects.find(({ project_id }) => project_id === projectId) };
  };

  test(
    'block: 50 pass, and not a nano-dollar more is spent',
    async () => {
      const { answers, rows, own } = await askAll('block');
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(FITS);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(REQUESTS - FITS);
      expect(rows).toHaveLength(REQUESTS);
      expect(own).toMatchObject({ counter_usd: FITS * EACH_USD, diff_usd: 0 });
    },
    TEST_MS,
  );

  test(
    'downgrade: 50 on the asked model, the rest really from the cheaper one',
    async () => {
      const { answers, rows, own } = await askAll('downgrade');
      expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
      const asked = answers.filter(({ model }) => model === 'race-model');
      const cheaper = answers.filter(({ downgradedFrom }) => downgradedFrom === 'race-model');
      expect([asked.length, cheaper.length]).toEqual([FITS, REQUESTS - FITS]);
      expect(cheaper.filter(({ model }) => model !== 'cheap-model')).toEqual([]);
      expect(rows).toHaveLength(REQUESTS);
      const spent = FITS * EACH_USD + (REQUESTS - FITS) * (EACH_USD / 10);
      expect(own?.counter_usd).toBeCloseTo(spent, 12);
      expect(own?.diff_usd).toBe(0);
    },
    TEST_MS,
  );
});
