import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { isAll } from '../lane';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import {
  allLogs,
  ask,
  logRow,
  postChat,
  STORE_KINDS,
  settledLedger,
  shareEnvironment,
  type TestEnvironment,
  waitUntil,
} from './environment';

const SETUP_MS = 60_000;

/** $1 a million in and out: its hold is 4 + 4 + 92 tokens, so 100,000 nano-USD, and that is what it costs. */
const RACE = { model: 'race-model', max_tokens: 92, x_fake: { usage: { prompt: 8, completion: 92 } } };
const priceRace = (gateway: TestEnvironment['gateway']) =>
  callAdmin(gateway, '/models?provider=openai&model=race-model', {
    method: 'PUT',
    body: { input_usd_per_million: 1, output_usd_per_million: 1 },
  });

for (const kind of isAll ? ([...STORE_KINDS, 'cluster'] as const) : STORE_KINDS) {
  describe(`money on ${kind} stores`, () => {
    let world: TestEnvironment;
    beforeAll(async () => {
      world = await shareEnvironment({ kind, allVendors: false });
    }, SETUP_MS);
    afterAll(() => world.close(), SETUP_MS);
    afterEach(() => world.upstream.control.release());

    test(
      '500 concurrent requests against a cap for 100: exactly 100 pass, the ledger is even',
      async () => {
        const { gateway, upstream } = world;
        await priceRace(gateway);
        const { apiKey, projectId } = await createTestKey(gateway, {
          project: { monthly_cap_usd: 0.01, cache_enabled: false },
        });
        upstream.control.hold();
        const asked = Array.from({ length: 500 }, () => postChat(gateway, apiKey, ask('twelve bytes', RACE)));
        const denied = await firstAnswers(asked, 400);
        expect(denied.filter((status) => status !== 402)).toEqual([]);
        await waitUntil(() => upstream.control.counters.waiting >= 100);
        await Bun.sleep(200);
        expect(upstream.control.counters.waiting).toBe(100);
        upstream.control.release();
        const statuses = (await Promise.all(asked)).map((answer) => answer.status);
        expect(statuses.filter((status) => status === 200)).toHaveLength(100);
        expect(statuses.filter((status) => status === 402)).toHaveLength(400);
        const ledger = await settledLedger(gateway);
        const own = ledger.projects.find((project) => project.project_id === projectId);
        expect(own).toMatchObject({ counter_usd: 0.01, logs_usd: 0.01, diff_usd: 0 });
        const rows = await allLogs(gateway, `project_id=${projectId}`);
        expect(rows).toHaveLength(500);
        expect(rows.filter((row) => row.status === 'cap_exceeded')).toHaveLength(400);
        expect(rows.reduce((sum, row) => sum + Math.round(row.cost_usd * 1e9), 0)).toBe(10_000_000);
      },
      SETUP_MS,
    );

    test(
      'a month of a label and a week of its project at their edge, 250 at once each: none overspends, none is refused early',
      async () => {
        const { gateway } = world;
        await priceRace(gateway);
        const { apiKey, projectId } = await createTestKey(gateway, {
          project: { weekly_budget_usd: 0.01, cache_enabled: false },
          key: { daily_budget_usd: 0.02 },
        });
        const budget = { project_id: projectId, label: 'feature', value: 'search', monthly_usd: 0.004 };
        await callAdmin(gateway, '/label-budgets', { body: budget });
        const wave = async (headers: Record<string, string>) => {
          const post = () => postChat(gateway, apiKey, ask('twelve bytes', RACE), { headers });
          const answers = await Promise.all(Array.from({ length: 250 }, post));
          const bodies = await Promise.all(answers.map((answer) => answer.json() as Promise<{ error?: object }>));
          return bodies.flatMap(({ error }) => (error === undefined ? [] : [error]));
        };
        const labelled = await wave({ 'X-LLM0-Feature': 'search' });
        expect(labelled).toHaveLength(210);
        expect(labelled[209]).toMatchObject({ code: 'label_budget_exceeded', budget_usd: 0.004 });
        const others = await wave({ 'X-LLM0-Feature': 'chat' });
        expect(others).toHaveLength(190);
        expect(others[189]).toMatchObject({ code: 'spend_cap_exceeded', budget_usd: 0.01 });
        await settledLedger(gateway);
        const [last] = await wave({ 'X-LLM0-Feature': 'search' });
        expect(last).toMatchObject({ code: 'spend_cap_exceeded', spent_usd: 0.01, budget_usd: 0.01 });
        type Budgets = { data: { scope: string; period: string; used_usd: number; limit_usd: number }[] };
        const { data } = await callAdmin<Budgets>(gateway, `/budgets?project_id=${projectId}`);
        const used = data.map((one) => `${one.scope} ${one.period} ${one.used_usd} of ${one.limit_usd}`);
        expect(used.sort()).toEqual([
          'key day 0.01 of 0.02',
          'label month 0.004 of 0.004',
          'project week 0.01 of 0.01',
        ]);
      },
      SETUP_MS,
    );

    test('spend of the day counts from before the budget was set', async () => {
      const { gateway } = world;
      await priceRace(gateway);
      const { apiKey, projectId, keyId } = await createTestKey(gateway, { project: { cache_enabled: false } });
      const post = () => postChat(gateway, apiKey, ask('twelve bytes', RACE), { headers: { 'X-LLM0-Team': 'x' } });
      for (let i = 0; i < 3; i++) expect((await post()).status).toBe(200);
      const key = { method: 'PATCH', body: { daily_budget_usd: 0.0004 } } as const;
      await callAdmin(gateway, `/projects/${projectId}/keys/${keyId}`, key);
      const label = { project_id: projectId, label: 'team', value: 'x', weekly_usd: 0.0005 };
      await callAdmin(gateway, '/label-budgets', { body: label });
      expect((await post()).status).toBe(200);
      expect(await (await post()).json()).toMatchObject({
        error: { code: 'key_budget_exceeded', spent_usd: 0.0004, budget_usd: 0.0004 },
      });
      await callAdmin(gateway, `/projects/${projectId}/keys/${keyId}`, { ...key, body: { daily_budget_usd: null } });
      expect((await post()).status).toBe(200);
      expect(await (await post()).json()).toMatchObject({
        error: { code: 'label_budget_exceeded', spent_usd: 0.0005, budget_usd: 0.0005 },
      });
    });

    test("headers, body, row and counter equal the provider's bill", async () => {
      const { gateway } = world;
      const { apiKey, projectId } = await createTestKey(gateway);
      const usage = { prompt: 1000, completion: 333, cached: 400 };
      const answer = await postChat(gateway, apiKey, ask('exact money', { x_fake: { usage } }));
      const body = (await answer.json()) as { cost_usd: number };
      // gpt-4o-mini: $0.15 in, $0.075 cached, $0.60 out a million.
      const nano = 600 * 150 + 400 * 75 + 333 * 600;
      expect(answer.headers.get('x-cost-usd')).toBe((nano / 1e9).toFixed(9));
      expect(body.cost_usd).toBe(nano / 1e9);
      const row = await logRow(gateway, answer.headers.get('x-request-id') ?? '');
      expect(row).toMatchObject({ cost_usd: nano / 1e9, tokens_in: 1000, tokens_out: 333, status: 'success' });
      const ledger = await settledLedger(gateway);
      expect(ledger.projects.find((one) => one.project_id === projectId)?.counter_usd).toBe(nano / 1e9);
    });

    test('a failed request costs nothing and gives its hold back', async () => {
      const { gateway } = world;
      const { apiKey, projectId } = await createTestKey(gateway, {
        project: { monthly_cap_usd: 0.01, failover: 'off' },
      });
      const failing = await postChat(gateway, apiKey, ask('fails', { max_tokens: 10_000, x_fake: { status: 500 } }));
      expect(failing.status).toBe(502);
      const next = await postChat(gateway, apiKey, ask('works', { max_tokens: 10_000 }));
      expect(next.status).toBe(200);
      const ledger = await settledLedger(gateway);
      expect(ledger.open_holds).toBe(0);
      const rows = await allLogs(gateway, `project_id=${projectId}`);
      expect(rows.map((row) => [row.status, row.cost_usd > 0])).toEqual([
        ['success', true],
        ['error', false],
      ]);
    });

    test('a hit is free, says so, and counts what it saved', async () => {
      const { gateway, upstream } = world;
      const { apiKey } = await createTestKey(gateway);
      const first = await postChat(gateway, apiKey, ask('cache me'));
      const before = upstream.control.counters.received;
      const second = await postChat(gateway, apiKey, ask('cache me'));
      expect([first.headers.get('x-cache-hit'), second.headers.get('x-cache-hit')]).toEqual(['miss', 'exact']);
      expect(second.headers.get('x-cost-usd')).toBe('0.000000000');
      expect(upstream.control.counters.received).toBe(before);
      const row = await logRow(gateway, second.headers.get('x-request-id') ?? '');
      expect(row).toMatchObject({ cache_hit: true, cost_usd: 0, upstream_ms: null });
      expect(row.saved_usd).toBe(Number(first.headers.get('x-cost-usd')));
      const streamed = await postChat(gateway, apiKey, ask('cache me', { stream: true }));
      const text = await streamed.text();
      expect(streamed.headers.get('x-cache-hit')).toBe('exact');
      expect(text).toContain('"cache":"exact"');
      expect(text.trimEnd()).toEndWith('data: [DONE]');
      const off = await postChat(gateway, apiKey, ask('cache me'), { headers: { 'X-LLM0-Cache': 'off' } });
      expect(off.headers.get('x-cache-hit')).toBe('miss');
    });

    test('identical questions at once reach the upstream once, and one of them pays', async () => {
      const { gateway, upstream } = world;
      const { apiKey, projectId } = await createTestKey(gateway);
      upstream.control.hold();
      const before = upstream.control.counters.received;
      const asked = Array.from({ length: 20 }, () => postChat(gateway, apiKey, ask('single flight')));
      await Bun.sleep(500);
      upstream.control.release();
      const answers = await Promise.all(asked);
      expect(upstream.control.counters.received - before).toBe(1);
      expect(answers.filter((answer) => answer.headers.get('x-cost-usd') !== '0.000000000')).toHaveLength(1);
      await settledLedger(gateway);
      const rows = await allLogs(gateway, `project_id=${projectId}`);
      expect(rows.filter((row) => row.cost_usd > 0)).toHaveLength(1);
      expect(rows.filter((row) => row.cache_hit)).toHaveLength(19);
    });

    test('a revoked key and a lowered cap hold from the very next request', async () => {
      const { gateway } = world;
      const { apiKey, projectId, keyId } = await createTestKey(gateway);
      expect((await postChat(gateway, apiKey, ask('before'))).status).toBe(200);
      await callAdmin(gateway, `/projects/${projectId}`, { method: 'PATCH', body: { monthly_cap_usd: 0.000001 } });
      expect((await postChat(gateway, apiKey, ask('after the cap'))).status).toBe(402);
      await callAdmin(gateway, `/projects/${projectId}/keys/${keyId}`, { method: 'DELETE' });
      const refused = await postChat(gateway, apiKey, ask('after revoking'));
      expect(refused.status).toBe(401);
      expect(await refused.json()).toMatchObject({ error: { code: 'invalid_api_key' } });
    });
  });
}

/** Statuses of the first `count` answers to arrive. */
async function firstAnswers(asked: readonly Promise<Response>[], count: number): Promise<number[]> {
  const statuses: number[] = [];
  const enough = Promise.withResolvers<void>();
  for (const one of asked) {
    void one.then((answer) => {
      statuses.push(answer.status);
      if (statuses.length === count) enough.resolve();
    });
  }
  await enough.promise;
  return statuses.slice(0, count);
}
