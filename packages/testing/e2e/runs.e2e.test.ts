import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hostGateway } from '../stores/host-gateway';
import { callAdmin, createTestKey, type GatewayProcess } from '../stores/start-gateway';
import {
  allLogs,
  ask,
  postChat,
  STORE_KINDS,
  settledLedger,
  shareEnvironment,
  type TestEnvironment,
  waitUntil,
} from './environment';

const SETUP_MS = 60_000;
const TEST_MS = 120_000;
const EACH_USD = 0.0001;
/** $1 a million in and out: it holds 200,000 nano-USD and costs half of it. */
const CALL = { model: 'race-model', max_tokens: 192, x_fake: { usage: { prompt: 8, completion: 92 } } };

interface Run {
  readonly id: string;
  readonly state: string;
  readonly budget_usd: number;
  readonly spent_usd: number;
  readonly requests: number;
  readonly ended_at: string | null;
  readonly items: readonly { type: string; name: string; cost_usd: number; error_code: string | null }[];
}

describe.each(STORE_KINDS)("budgets of agents' runs on %s stores", (kind) => {
  let world: TestEnvironment;
  const gateways: GatewayProcess[] = [];
  beforeAll(async () => {
    world = await shareEnvironment({ kind, allVendors: false });
    gateways.push(world.gateway);
    if (kind === 'real') gateways.push(await hostGateway({ env: world.env }));
    await callAdmin(world.gateway, '/models?provider=openai&model=race-model', {
      method: 'PUT',
      body: { input_usd_per_million: 1, output_usd_per_million: 1 },
    });
  }, SETUP_MS);
  afterAll(async () => {
    for (const extra of gateways.slice(1)) await extra.kill();
    await world.close();
  }, SETUP_MS);

  let turn = 0;
  const send = async (apiKey: string, run: string, more: { budget?: string; body?: object } = {}) => {
    const headers = {
      'x-llm0-run-id': run,
      ...(more.budget === undefined ? {} : { 'x-llm0-run-budget-usd': more.budget }),
    };
    turn += 1;
    const gateway = gateways[turn % gateways.length] ?? world.gateway;
    const response = await postChat(gateway, apiKey, ask('twelve bytes', { ...CALL, ...more.body }), { headers });
    const { error } = (await response.json()) as { error?: { code: string; spent_usd?: number; budget_usd?: number } };
    return { status: response.status, error };
  };
  const makeKey = (key: object = {}) =>
    createTestKey(world.gateway, { project: { cache_enabled: false }, key: { ...key } });
  const show = (run: string) => callAdmin<Run>(world.gateway, `/runs/${run}`);
  const change = (run: string, how: 'raise' | 'stop', body: object = {}) =>
    callAdmin<Run>(world.gateway, `/runs/${run}/${how}`, { body });

  test(
    '500 sub-agents on a budget for 100 calls: exactly 100, then it pauses, is raised, and is stopped',
    async () => {
      const { apiKey, projectId } = await makeKey();
      const run = crypto.randomUUID();
      const budget = String(100 * EACH_USD);
      const answers = await Promise.all(Array.from({ length: 500 }, () => send(apiKey, run, { budget })));
      const refused = answers.filter(({ status }) => status !== 200);
      expect([answers.length - refused.length, refused.length]).toEqual([100, 400]);
      expect(new Set(refused.map(({ status, error }) => `${status} ${error?.code} ${error?.budget_usd}`))).toEqual(
        new Set(['402 run_budget_exceeded 0.01']),
      );
      const ledger = await settledLedger(world.gateway);
      expect(ledger.projects.find((one) => one.project_id === projectId)).toMatchObject({
        counter_usd: 0.01,
        diff_usd: 0,
      });
      expect(await show(run)).toMatchObject({ state: 'paused', budget_usd: 0.01, spent_usd: 0.01, requests: 500 });

      await change(run, 'raise', { budget_usd: 102 * EACH_USD });
      expect((await show(run)).state).toBe('running');
      const more = await Promise.all(Array.from({ length: 4 }, () => send(apiKey, run, { budget: '9' })));
      expect(more.map(({ status }) => status).sort()).toEqual([200, 200, 402, 402]);

      await change(run, 'stop');
      await waitUntil(() => gateways.every((one) => one.isRunning()));
      for (const _ of gateways)
        expect(await send(apiKey, run)).toMatchObject({ status: 402, error: { code: 'run_stopped' } });
      await settledLedger(world.gateway);
      const ended = await show(run);
      expect(ended).toMatchObject({
        state: 'stopped',
        ended_at: expect.any(String),
        last_active_at: expect.any(String),
      });
      const listed = async (state: string) =>
        (await callAdmin<{ data: Run[] }>(world.gateway, `/runs?state=${state}&limit=1000`)).data.map(({ id }) => id);
      expect([await listed('stopped'), await listed('running')]).toEqual([
        expect.arrayContaining([run]),
        expect.not.arrayContaining([run]),
      ]);
      expect(ended.items.filter(({ cost_usd: cost }) => cost > 0)).toHaveLength(102);
      await expect(change(run, 'raise', { budget_usd: 1 })).rejects.toThrow('409');
    },
    TEST_MS,
  );

  test(
    'a stop cancels calls under way within a second, in every process, and books what they said',
    async () => {
      const { apiKey } = await makeKey({ default_run_budget_usd: 1 });
      const run = crypto.randomUUID();
      const before = world.upstream.control.counters.cancelled;
      const body = ask('count', { ...CALL, stream: true, x_fake: { chunks: 300, gapMs: 50 } });
      const headers = { 'x-llm0-run-id': run };
      // Headers leave with the first output.
      const streams = await Promise.all(gateways.map(({ url }) => postChat({ url }, apiKey, body, { headers })));
      const stoppedMs = performance.now();
      await change(run, 'stop');
      const texts = await Promise.all(streams.map((stream) => stream.text()));
      expect(performance.now() - stoppedMs).toBeLessThan(1500);
      for (const text of texts) expect(text).toContain('run_stopped');
      await waitUntil(() => world.upstream.control.counters.cancelled === before + gateways.length, 1000);
      await settledLedger(world.gateway);
      const { items } = await show(run);
      expect(items.map(({ error_code: code, cost_usd: cost }) => [code, cost > 0])).toEqual(
        gateways.map(() => ['run_stopped', true]),
      );
    },
    TEST_MS,
  );

  test('a stop cuts a native stream within a second, and books it', async () => {
    const { apiKey } = await makeKey({ default_run_budget_usd: 1, passthrough: ['openai'] });
    const run = crypto.randomUUID();
    const native = await fetch(`${world.gateway.url}/passthrough/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'x-llm0-run-id': run },
      body: JSON.stringify(ask('count', { ...CALL, stream: true, x_fake: { chunks: 300, gapMs: 50 } })),
    });
    const reading = native.text().catch(() => 'cut');
    const stoppedMs = performance.now();
    await change(run, 'stop');
    await reading;
    expect(performance.now() - stoppedMs).toBeLessThan(1500);
    await settledLedger(world.gateway);
    expect((await show(run)).items.map(({ error_code: code }) => code)).toEqual(['run_stopped']);
  });

  test('a call that fails, and one whose caller leaves, are booked as without a run', async () => {
    const { apiKey, projectId } = await makeKey({ default_run_budget_usd: 1 });
    const run = crypto.randomUUID();
    const failed = await send(apiKey, run, { body: { x_fake: { status: 500 } } });
    expect(failed).toMatchObject({ status: 502, error: { code: 'upstream_error' } });
    const leave = new AbortController();
    const body = ask('count', { ...CALL, stream: true, x_fake: { chunks: 300, gapMs: 50 } });
    await postChat(world.gateway, apiKey, body, { headers: { 'x-llm0-run-id': run }, signal: leave.signal });
    leave.abort();
    await settledLedger(world.gateway);
    const rows = await allLogs(world.gateway, `project_id=${projectId}`);
    expect(rows.map(({ error_code: code, cost_usd: cost }) => [code, cost > 0])).toEqual([
      ['client_closed', true],
      ['upstream_error', false],
    ]);
  });

  test(
    'near its end the output shrinks to what is left',
    async () => {
      const { apiKey } = await makeKey({ default_run_budget_usd: 0.00005 });
      const run = crypto.randomUUID();
      const body = { max_tokens: 92, x_fake: { usage: { prompt: 8, completion: 42 } } };
      expect((await send(apiKey, run, { body })).status).toBe(200);
      const sent = world.upstream.requests.at(-1)?.body as { max_tokens?: number };
      expect(sent.max_tokens).toBe(42);
      expect((await send(apiKey, run, { body })).error).toMatchObject({
        code: 'run_budget_exceeded',
        spent_usd: 0.00005,
      });
    },
    TEST_MS,
  );

  test("the key bounds what a run may ask for, and runs don't meet", async () => {
    const { apiKey } = await makeKey({ max_run_budget_usd: 0.0002, default_run_budget_usd: 0.0001 });
    const [greedy, modest] = [crypto.randomUUID(), crypto.randomUUID()];
    expect((await send(apiKey, greedy, { budget: '5' })).status).toBe(200);
    expect((await send(apiKey, modest)).status).toBe(200);
    expect([(await show(greedy)).budget_usd, (await show(modest)).budget_usd]).toEqual([0.0002, 0.0001]);
    expect((await send(apiKey, modest)).status).toBe(402);
    expect((await send(apiKey, greedy)).status).toBe(200);
    expect((await send(apiKey, greedy, { budget: 'much' })).error).toMatchObject({ code: 'invalid_request' });
  });
});
