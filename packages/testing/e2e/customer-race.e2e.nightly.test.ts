import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type ChaosWorld, startWorld } from '../chaos/chaos-world';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { askAtOnce } from './ask-at-once';
import { allLogs, ask, settledLedger, waitUntil } from './environment';

const SETUP_MS = 60_000;
const TEST_MS = 180_000;

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
      env: { LLM0_TEST_ADMIT_DEADLINE_MS: '10000', REQUEST_TIMEOUT: '60s', ANSWER_TIMEOUT: '60s' },
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
