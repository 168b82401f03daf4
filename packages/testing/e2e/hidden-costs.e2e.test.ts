import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { allLogs, type LogRow, logRow, settledLedger, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
const messages = [{ role: 'user', content: 'Hi' }];
const cheap = { model: 'openrouter/cheap', messages, max_tokens: 20 };
const native = { ...cheap, model: 'cheap' };
const gemini = { contents: [{ parts: [{ text: 'Hi' }] }], generationConfig: { maxOutputTokens: 20 } };
const FLASH = '/passthrough/gemini/v1beta/models/gemini-2.5-flash:generateContent';

interface Row extends LogRow {
  readonly cost_detail: Record<string, number | string> | null;
}

describe('fields that change provider and cost', () => {
  let world: TestEnvironment;
  beforeAll(async () => {
    const env = (upstream: { baseUrl: string }) => ({
      OPENROUTER_API_KEY: 'sk-or-fake-upstream-key',
      OPENROUTER_BASE_URL: upstream.baseUrl,
    });
    world = await shareEnvironment({ kind: 'real', env });
    // $1 and $100 a million tokens.
    for (const [model, usd] of Object.entries({ cheap: 1, dear: 100 })) {
      const body = { input_usd_per_million: usd, output_usd_per_million: usd };
      await callAdmin(world.gateway, `/models?provider=openrouter&model=${model}`, { method: 'PUT', body });
    }
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);
  beforeEach(() => world.upstream.control.reset());

  const send = (path: string, apiKey: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${world.gateway.url}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  /** With the native APIs of all vendors here. */
  const newKey = (given: { project?: object; key?: object } = {}) =>
    createTestKey(world.gateway, {
      ...given,
      project: { ...given.project, passthrough: ['openrouter', 'gemini', 'openai'] },
    } as Parameters<typeof createTestKey>[1]);
  const refusal = async (response: Response) => {
    const { error } = (await response.json()) as { error: { code?: string; status?: string | number } };
    return [response.status, error.code];
  };
  const idOf = (response: Response) => response.headers.get('x-request-id') ?? '';
  /** All rows of the project, once the last answer has its own: a row takes a moment, and one wait is enough. */
  const rowsOf = async (projectId: string, last: Response) => {
    await logRow(world.gateway, idOf(last));
    const rows = (await allLogs(world.gateway, `project_id=${projectId}`)) as Row[];
    return new Map(rows.map((row) => [row.request_id, row]));
  };
  /** The same to this gateway's own endpoint and to the vendor's. */
  const ways = (more: Record<string, unknown>) =>
    [
      ['/v1/chat/completions', { ...cheap, ...more }],
      ['/passthrough/openrouter/v1/chat/completions', { ...native, ...more }],
    ] as const;

  test('a key with a list of models reaches no other one, whatever names it', async () => {
    const { apiKey } = await newKey({
      key: { allowed_models: ['openrouter/cheap', 'gemini-2.5-flash'] },
    });
    const others = [
      { models: ['cheap', 'dear'] },
      { fallbacks: [{ model: 'dear' }] },
      { plugins: [{ id: 'auto-router', allowed_models: ['dear'] }] },
      { tools: [{ type: 'image_generation', model: 'dear' }] },
      { route: 'fallback' },
      { preset: 'mine' },
    ];
    for (const more of others)
      for (const [path, body] of ways(more)) {
        expect([path, more, ...(await refusal(await send(path, apiKey, body)))]).toEqual([
          ...[path, more, 403, 'model_not_allowed'],
        ]);
      }
    for (const model of ['dear', 'cheap:free', 'Cheap', 'cheap.', 'cheap-2024-01-01', ' cheap', '']) {
      const answer = await send('/passthrough/openrouter/v1/chat/completions', apiKey, { ...native, model });
      expect([model, answer.status]).toEqual([model, 403]);
    }
    for (const path of [
      FLASH.replace('flash', 'pro'),
      FLASH.replace('gemini-2.5-flash', 'gemini-2.5-pro%20'),
      FLASH.replace('models/gemini-2.5-flash', 'models%2Fgemini-2.5-pro'),
      FLASH.replace('models/gemini-2.5-flash', 'tunedModels/mine'),
      FLASH.replace('gemini-2.5-flash', 'gemini-2.5-flash.'),
      FLASH.replace('generateContent', 'batchGenerateContent'),
    ]) {
      const answer = await send(path, apiKey, gemini);
      expect([path, [400, 403, 404].includes(answer.status)]).toEqual([path, true]);
    }
    expect((await send(FLASH, apiKey, { ...gemini, model: 'models/gemini-2.5-pro' })).status).toBe(403);
    expect(world.upstream.requests).toEqual([]);
    expect((await send(FLASH, apiKey, { ...gemini, model: 'models/gemini-2.5-flash' })).status).toBe(200);
    for (const [path, body] of ways({ models: ['cheap'] })) expect((await send(path, apiKey, body)).status).toBe(200);
    const headers = { 'x-model': 'dear', 'x-fallback-models': 'dear', 'x-amzn-bedrock-service-tier': 'priority' };
    await send('/passthrough/openrouter/v1/chat/completions', apiKey, native, headers);
    for (const name of Object.keys(headers)) expect(world.upstream.requests.at(-1)?.headers).not.toHaveProperty(name);
  });

  test('under a cap what cannot be told before is refused; without one it goes on, and the row is an estimate', async () => {
    const capped = await newKey({ project: { monthly_cap_usd: 1, cache_enabled: false } });
    const budget = await newKey({ key: { budget_usd: 1 } });
    const open = await newKey({ project: { cache_enabled: false } });
    let last = new Response();
    for (const more of [
      { route: 'fallback' },
      { provider: { order: ['x'] } },
      { plugins: [{ id: 'web' }] },
      { web_search_options: {} },
      { search_parameters: { mode: 'on' } },
      { service_tier: 'turbo' },
    ]) {
      for (const [path, body] of ways(more)) {
        for (const { apiKey } of [capped, budget]) {
          const answer = await send(path, apiKey, body);
          expect([path, more, ...(await refusal(answer))]).toEqual([path, more, 400, 'request_over_limit']);
        }
        const answer = await send(path, open.apiKey, body);
        expect([path, more, answer.status]).toEqual([path, more, 200]);
        await answer.text();
        expect(world.upstream.requests.at(-1)?.body).toMatchObject(more);
        last = answer;
      }
    }
    const rows = [...(await rowsOf(open.projectId, last)).values()];
    expect(rows.map((row) => [row.status, row.cost_estimated])).toEqual(Array(12).fill(['success', true]));
    for (const [path, body] of ways({ models: ['nobody-knows'] })) {
      const answer = await send(path, capped.apiKey, body);
      expect([path, ...(await refusal(answer))]).toEqual([path, 400, 'model_not_priced']);
    }
  });

  test('the price is that of the model that answered, and the hold that of the dearest', async () => {
    const { apiKey, projectId } = await newKey({
      project: { strict_caps: true, monthly_cap_usd: 1, cache_enabled: false },
    });
    const costs = new Map<string, number>();
    let last = new Response();
    const usage = { prompt: 10, completion: 5 };
    for (const [path, body] of ways({ models: ['dear'] })) {
      for (const [answeredBy, usd] of [
        ['cheap', 15e-6],
        ['dear', 1500e-6],
        ['who-knows', 1500e-6],
      ] as const) {
        world.upstream.control.setDefault({ answeredBy, usage });
        const answer = await send(path, apiKey, body);
        expect([path, answeredBy, answer.status]).toEqual([path, answeredBy, 200]);
        costs.set(idOf(answer), usd);
        last = answer;
      }
    }
    const booked = [...(await rowsOf(projectId, last))].map(([id, row]) => [id, row.cost_usd] as const);
    expect(new Map(booked)).toEqual(costs);
    // 24 tokens at least: $0.0000024 of the dear one's prices, but $0.000024 of the cheap one's.
    const small = await newKey({ project: { strict_caps: true, monthly_cap_usd: 0.0005 } });
    for (const [path, body] of ways({ models: ['dear'] })) {
      expect(await refusal(await send(path, small.apiKey, body))).toEqual([402, 'spend_cap_exceeded']);
    }
  });

  test('parameters that hide usage are dropped; a 2xx without usage books the hold', async () => {
    const { apiKey, projectId } = await newKey();
    const told: string[] = [];
    const atLeastUsd = new Map<string, number>();
    const query = 'fields=candidates&$fields=candidates&alt=proto&$alt=media&%24.xgafv=2&callback=f&prettyPrint=false';
    for (const path of [FLASH, FLASH.replace('/passthrough/gemini', '')]) {
      const answer = await send(`${path}?${query}`, apiKey, gemini, { 'X-Goog-FieldMask': 'candidates' });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-llm0-dropped')).toContain('$fields');
      const seen = world.upstream.requests.at(-1);
      expect(seen?.query).toEqual({ prettyPrint: 'false' });
      expect(seen?.headers).not.toHaveProperty('x-goog-fieldmask');
      told.push(idOf(answer));
    }
    world.upstream.control.setDefault({ usage: null, text: 'ok' });
    for (const [path, body, holdUsd] of [
      ['/passthrough/openrouter/v1/chat/completions', native, 20e-6],
      [FLASH, gemini, 20 * 2.5e-6],
      ['/passthrough/openai/v1/responses', { model: 'gpt-4o-mini', input: 'Hi', max_output_tokens: 20 }, 20 * 0.6e-6],
      ['/passthrough/openai/v1/chat/completions', { ...native, model: 'gpt-4o-mini', stream: true }, 20 * 0.6e-6],
    ] as const) {
      const answer = await send(path, apiKey, body);
      await answer.text();
      atLeastUsd.set(idOf(answer), holdUsd);
    }
    // Work that goes on elsewhere: nothing will ever tell what it cost.
    const background = { model: 'gpt-4o-mini', input: 'Hi', max_output_tokens: 20, background: true };
    const answer = await send('/passthrough/openai/v1/responses', apiKey, background);
    atLeastUsd.set(idOf(answer), 20 * 0.6e-6);
    const rows = await rowsOf(projectId, answer);
    for (const id of told) expect(rows.get(id)).toMatchObject({ cost_estimated: false, tokens_in: 10 });
    for (const [id, usd] of atLeastUsd) {
      expect(rows.get(id)).toMatchObject({ cost_estimated: true, cost_detail: { price_source: 'hold' } });
      expect(rows.get(id)?.cost_usd).toBeGreaterThan(usd);
    }
    expect((await settledLedger(world.gateway)).ok).toBe(true);
  });
});
