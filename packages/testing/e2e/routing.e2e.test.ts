import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import postgres from 'postgres';
import type { FakeBehaviour } from '../fake-upstream/behaviour';
import { startFakeUpstream } from '../fake-upstream/start-fake-upstream';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { ask, logRow, postChat, settledLedger, shareEnvironment } from './environment';

const SETUP_MS = 60_000;
const HAIKU = 'claude-haiku-4-5-20251001';
const LOCAL = 'qwen2.5:14b';
const DOWN: FakeBehaviour = { status: 529 };

/** A gateway with three vendors, all of them played by one fake, and a local server played by another. */
async function startWorld(env: Record<string, string> = {}) {
  const local = startFakeUpstream({ models: [LOCAL, 'llama3:8b'] });
  try {
    const locals = { OLLAMA_BASE_URL: local.baseUrl, OLLAMA_MODEL_BALANCED: LOCAL };
    const world = await shareEnvironment({ kind: 'real', env: { ...locals, ...env } });
    const close = async () => {
      await world.close();
      await local.stop();
    };
    return { world, local, close };
  } catch (error) {
    await local.stop();
    throw error;
  }
}
type World = Awaited<ReturnType<typeof startWorld>>;

const modelOf = (request: { path: string; body: JsonObject }) =>
  /models\/([^:]+):/.exec(request.path)?.[1] ?? String(request.body.model);

describe('routing', () => {
  let here: World;
  let apiKey: string;
  let projectId: string;
  let sql: postgres.Sql;
  beforeAll(async () => {
    here = await startWorld();
    ({ apiKey, projectId } = await createTestKey(here.world.gateway));
    sql = postgres(here.world.env.DATABASE_URL ?? '', { max: 1 });
  }, SETUP_MS);
  afterAll(async () => {
    await sql.end();
    await here.close();
  }, SETUP_MS);
  afterEach(() => {
    here.world.upstream.control.reset();
    here.local.control.reset();
  });

  const chat = (body: JsonObject, key = apiKey, headers: Record<string, string> = {}) =>
    postChat(here.world.gateway, key, body, { headers });
  const asked = () => [...here.world.upstream.requests, ...here.local.requests].map(modelOf);
  const failing = (...models: string[]) => {
    for (const model of models) here.world.upstream.control.setModel(model, DOWN);
  };
  const heads = (answer: Response) =>
    ['x-provider', 'x-model', 'x-cache-hit', 'x-failover', 'x-original-provider'].map((name) =>
      answer.headers.get(name),
    );
  const admin = <T = JsonObject>(path: string, method?: string, body?: unknown) =>
    callAdmin<T>(here.world.gateway, path, { method, body });

  test.each([false, true])('cloud_first: all four steps are really tried (stream: %p)', async (stream) => {
    failing('gpt-4o-mini', HAIKU, 'gemini-2.5-flash');
    const body = ask(`all four ${stream}`, { stream });
    const first = await chat(body);
    const text = await first.text();
    expect(heads(first)).toEqual(['ollama', LOCAL, 'miss', 'true', 'openai']);
    expect([...new Set(asked())]).toEqual(['gpt-4o-mini', HAIKU, 'gemini-2.5-flash', LOCAL]);
    if (stream) expect(text.trimEnd()).toEndWith('[DONE]');
    const id = first.headers.get('x-request-id') ?? '';
    expect(await logRow(here.world.gateway, id)).toMatchObject({
      status: 'success',
      provider: 'openai',
      final_provider: 'ollama',
      model: LOCAL,
      requested_model: 'gpt-4o-mini',
      failover_count: 3,
      failover_occurred: true,
      cost_usd: 0,
    });
    const switches = await sql`select original_provider, original_model, fallback_provider, fallback_model,
      trigger_reason, trigger_status_code, fallback_succeeded from failover_logs where request_id = ${id}
      order by switch_index`;
    expect(switches.map((one) => [one.original_model, one.fallback_model, one.fallback_succeeded])).toEqual([
      ['gpt-4o-mini', HAIKU, false],
      [HAIKU, 'gemini-2.5-flash', false],
      ['gemini-2.5-flash', LOCAL, true],
    ]);
    expect(switches[0]).toMatchObject({ trigger_reason: 'server_error', trigger_status_code: 529 });

    const calls = asked().length;
    const again = await chat(body);
    await again.text();
    expect(heads(again).slice(0, 3)).toEqual(['ollama', LOCAL, 'exact']);
    expect(asked()).toHaveLength(calls);
    expect(await logRow(here.world.gateway, again.headers.get('x-request-id') ?? '')).toMatchObject({
      model: LOCAL,
      cache_hit: true,
      final_provider: 'ollama',
    });
  });

  test('a pinned version is asked by its own name; its fallback says so and is not kept', async () => {
    const pinned = 'gpt-4o-mini-2024-07-18';
    const body = ask('pinned', { model: pinned });
    expect(heads(await chat(body)).slice(0, 2)).toEqual(['openai', pinned]);
    failing(pinned);
    for (let i = 0; i < 2; i++) {
      const answer = await chat(ask('pinned and down', { model: pinned }));
      expect(heads(answer)).toEqual(['anthropic', HAIKU, 'miss', 'true', 'openai']);
    }
  });

  test('an explicit local model and one without a family are exchanged for nothing', async () => {
    here.local.control.setDefault(DOWN);
    failing('gpt-4');
    expect((await chat(ask('local', { model: 'ollama/llama3:8b' }))).status).toBe(502);
    expect((await chat(ask('lonely', { model: 'gpt-4' }))).status).toBe(502);
    expect([...new Set(asked())].sort()).toEqual(['gpt-4', 'llama3:8b']);
    const unknown = await chat(ask('x', { model: 'gtp-4o-minni' }));
    expect(unknown.status).toBe(404);
    expect(await unknown.text()).toContain('gpt-4o-mini');
  });

  test('an alias is live at once, belongs to its project, and its answers are cached until it changes', async () => {
    const targets = [{ provider: 'gemini', model: 'gemini-2.5-flash' }];
    const body = ask('by alias', { model: 'house' });
    expect((await chat(body)).status).toBe(404);
    const alias = await admin<{ id: string }>('/aliases', 'POST', { alias: 'house', project_id: projectId, targets });
    expect(heads(await chat(body)).slice(0, 3)).toEqual(['gemini', 'gemini-2.5-flash', 'miss']);
    expect(heads(await chat(ask('by alias', { model: 'gemini-2.5-flash' })))[2]).toBe('exact');
    const other = await createTestKey(here.world.gateway);
    expect((await chat(body, other.apiKey)).status).toBe(404);

    const pair = [
      { provider: 'openai', model: 'gpt-4o' },
      { provider: 'gemini', model: 'gemini-2.5-flash-lite' },
    ];
    await admin(`/aliases/${alias.id}`, 'PATCH', { targets: pair });
    expect(heads(await chat(body)).slice(0, 3)).toEqual(['openai', 'gpt-4o', 'miss']);
    await admin(`/aliases/${alias.id}`, 'PATCH', { strategy: 'cheapest' });
    expect(heads(await chat(body)).slice(0, 3)).toEqual(['gemini', 'gemini-2.5-flash-lite', 'miss']);
    expect(heads(await chat(body))[2]).toBe('exact');
    failing('gemini-2.5-flash-lite');
    expect(heads(await chat(ask('the dearer one', { model: 'house' })))).toEqual([
      ...['openai', 'gpt-4o', 'miss', 'true', 'gemini'],
    ]);
    await admin(`/aliases/${alias.id}`, 'DELETE');
    expect((await chat(body)).status).toBe(404);
  });

  test('weighted targets share the requests by their weights', async () => {
    const targets = [
      { provider: 'openai', model: 'gpt-4o', weight: 3 },
      { provider: 'openai', model: 'gpt-4.1', weight: 1 },
      { provider: 'openai', model: 'gpt-4', weight: 0 },
    ];
    await admin('/aliases', 'POST', { alias: 'spread', targets, strategy: 'weighted' });
    const counts: Record<string, number> = {};
    for (let i = 0; i < 80; i++) {
      const answer = await chat(ask(`spread ${i}`, { model: 'spread' }));
      const model = answer.headers.get('x-model') ?? (await answer.text());
      counts[model] = (counts[model] ?? 0) + 1;
    }
    expect(Object.keys(counts).sort()).toEqual(['gpt-4.1', 'gpt-4o']);
    expect(counts['gpt-4o']).toBeGreaterThan(40);
  });

  test('a key that may not use an alias by name gets the targets it may use', async () => {
    const targets = [
      { provider: 'openai', model: 'gpt-4o' },
      { provider: 'openai', model: 'gpt-4o-mini' },
    ];
    await admin('/aliases', 'POST', { alias: 'mixed', targets });
    const only = async (allowed_models: string[]) =>
      (await createTestKey(here.world.gateway, { key: { allowed_models } })).apiKey;
    const mini = await only(['gpt-4o-mini']);
    expect(heads(await chat(ask('allowed', { model: 'mixed' }), mini))[1]).toBe('gpt-4o-mini');
    expect((await chat(ask('allowed', { model: 'gpt-4o' }), mini)).status).toBe(403);
    expect((await chat(ask('allowed', { model: 'mixed' }), await only(['gpt-4']))).status).toBe(403);
    expect(heads(await chat(ask('allowed', { model: 'mixed' }), await only(['mixed'])))[1]).toBe('gpt-4o');
    failing('gpt-4o-mini');
    const body = ask('stand-ins need leave, too');
    expect((await chat(body, mini)).status).toBe(502);
    expect(heads(await chat(body, await only(['gpt-4o-mini', 'gemini-*'])))[0]).toBe('gemini');
    expect(heads(await chat(body, await only(['gpt-4o-mini', 'claude-*'])))[0]).toBe('anthropic');
  });

  test('only the named provider answers, also from caches and open calls', async () => {
    failing('gpt-4o-mini');
    const body = ask('named');
    const named = { ...body, model: 'openai/gpt-4o-mini' };
    expect(heads(await chat(body)).slice(0, 3)).toEqual(['anthropic', HAIKU, 'miss']);
    expect(heads(await chat(body)).slice(0, 3)).toEqual(['anthropic', HAIKU, 'exact']);
    const calls = asked().length;
    for (const answer of [
      await chat(named),
      await chat(body, undefined, { 'x-llm0-failover': 'off' }),
      ...(await Promise.all([chat(ask('at once')), chat({ ...ask('at once'), model: 'openai/gpt-4o-mini' })])).slice(1),
    ]) {
      const { error } = (await answer.json()) as { error: { attempts: { provider: string }[] } };
      expect([answer.status, ...new Set(error.attempts.map(({ provider }) => provider))]).toEqual([502, 'openai']);
    }
    expect(asked().slice(calls)).not.toContain('gemini-2.5-flash');
    expect((await chat(body, undefined, { 'x-llm0-failover': 'never' })).status).toBe(400);
  });

  test('targets too small for a request are skipped; when none is large enough, 400 says so', async () => {
    const text = 'word '.repeat(16_000);
    const answer = await chat(ask(text, { model: 'gpt-3.5-turbo' }));
    expect(heads(answer).slice(0, 2)).toEqual(['gemini', 'gemini-2.5-flash-lite']);
    expect(asked()).not.toContain('gpt-3.5-turbo');
    const tooLong = await chat(ask(text, { model: 'gpt-4' }));
    expect(tooLong.status).toBe(400);
    const { error } = (await tooLong.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe('context_length_exceeded');
    expect(error.message).toContain('8192');
  });

  test('the hold is safe for the dearest target; steps without a price are skipped under a cap', async () => {
    // 1,000 tokens of output: $0.0006 with the model asked for, $0.005 with its dearest stand-in.
    const body = ask('hold', { max_tokens: 1000 });
    const poor = await createTestKey(here.world.gateway, { project: { monthly_cap_usd: 0.004 } });
    expect((await chat(body, poor.apiKey)).status).toBe(402);
    // A dated snapshot takes the price of its model.
    for (const model of [HAIKU, 'claude-haiku-4-5']) await admin(`/models?provider=anthropic&model=${model}`, 'DELETE');
    expect(here.world.gateway.output()).toContain(`"target":"anthropic/${HAIKU}"`);
    failing('gpt-4o-mini');
    const answer = await chat(body, poor.apiKey);
    expect(heads(answer).slice(0, 2)).toEqual(['gemini', 'gemini-2.5-flash']);
    expect(asked()).not.toContain(HAIKU);
  });

  test('a stand-in that cannot honour a parameter is passed over; the model asked for refuses it itself', async () => {
    failing('gpt-5-nano');
    await admin('/chains/budget', 'PUT', {
      targets: [
        { provider: 'openai', model: 'gpt-5.4-nano', matches: ['gpt-5*-nano'] },
        { provider: 'anthropic', model: HAIKU },
        { provider: 'gemini', model: 'gemini-2.5-flash-lite' },
      ],
    });
    const answer = await chat(ask('with a seed', { model: 'gpt-5-nano', seed: 7 }));
    expect(heads(answer)).toEqual(['gemini', 'gemini-2.5-flash-lite', 'miss', 'true', 'openai']);
    const row = await logRow(here.world.gateway, answer.headers.get('x-request-id') ?? '');
    expect((row as unknown as { attempts: { outcome: string }[] }).attempts.map((one) => one.outcome)).toEqual(
      expect.arrayContaining(['server_error', 'unsupported_parameter', 'ok']),
    );
    await admin('/chains/budget', 'DELETE');
    const refused = await chat(ask('with a seed', { model: HAIKU, seed: 7 }));
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('unsupported_parameter')]);
  });

  test('an edited chain is in force from the next request, and reset as quickly', async () => {
    failing('gpt-5-mini');
    const targets = [
      { provider: 'openai', model: 'gpt-4o-mini', matches: ['gpt-5*-mini'] },
      { provider: 'gemini', model: 'gemini-2.5-pro' },
    ];
    await admin('/chains/balanced', 'PUT', { targets });
    expect(heads(await chat(ask('edited', { model: 'gpt-5-mini' })))[1]).toBe('gemini-2.5-pro');
    await admin('/chains/balanced', 'PUT', { targets: targets.slice(0, 1) });
    expect((await chat(ask('alone', { model: 'gpt-5-mini' }))).status).toBeGreaterThanOrEqual(500);
    await admin('/chains/balanced', 'DELETE');
    expect((await chat(ask('reset', { model: 'gpt-5-mini' }))).status).toBe(200);
  });

  test('a customer beyond its limit is served by an alias as downgrade model', async () => {
    await admin('/aliases', 'POST', { alias: 'thrifty', targets: [{ provider: 'ollama', model: 'llama3:8b' }] });
    await admin(`/projects/${projectId}/customers/c1/limits`, 'PUT', {
      daily_spend_limit_usd: 0,
      on_limit_behavior: 'downgrade',
      downgrade_model: 'thrifty',
    });
    const headers = { 'x-customer-id': 'c1' };
    const answer = await postChat(here.world.gateway, apiKey, ask('downgraded'), { headers });
    expect(heads(answer).slice(0, 2)).toEqual(['ollama', 'llama3:8b']);
    expect(answer.headers.get('x-downgraded-from')).toBe('gpt-4o-mini');
  });

  test('GET /v1/models shows what this key may call, aliases and local models among it', async () => {
    await admin('/aliases', 'POST', { alias: 'listed', targets: [{ provider: 'openai', model: 'gpt-4o' }] });
    await admin('/aliases', 'POST', { alias: 'unlisted', targets: [{ provider: 'groq', model: 'x' }] });
    const list = async (key: string) => {
      const answer = await fetch(`${here.world.gateway.url}/v1/models`, {
        headers: { authorization: `Bearer ${key}` },
      });
      return ((await answer.json()) as { data: { id: string; owned_by: string; [field: string]: unknown }[] }).data;
    };
    const all = await list(apiKey);
    const find = (id: string) => all.find((model) => model.id === id);
    expect(find('listed')).toMatchObject({
      owned_by: 'alias',
      targets: ['openai/gpt-4o'],
      context_window: 128_000,
      pricing: { input_usd_per_million: 2.5 },
    });
    expect(find('unlisted')).toBeUndefined();
    expect(find('gpt-4o')).toMatchObject({ owned_by: 'openai', capabilities: expect.any(Array) });
    expect(find(LOCAL)).toMatchObject({ owned_by: 'ollama', pricing: { input_usd_per_million: 0 } });
    const some = await createTestKey(here.world.gateway, { key: { allowed_models: ['gpt-4o'] } });
    expect((await list(some.apiKey)).map((model) => model.id).sort()).toEqual(['gpt-4o', 'listed', 'mixed', 'spread']);
  });

  test('a provider that one project has a key for is there for this project alone', async () => {
    const [own, other] = [await createTestKey(here.world.gateway), await createTestKey(here.world.gateway)];
    await admin('/providers/groq/keys', 'POST', { key: 'gsk-of-this-project', project_id: own.projectId });
    const owners = async (key: string) => {
      const answer = await fetch(`${here.world.gateway.url}/v1/models`, {
        headers: { authorization: `Bearer ${key}` },
      });
      return new Set(((await answer.json()) as { data: { owned_by: string }[] }).data.map((model) => model.owned_by));
    };
    expect((await owners(own.apiKey)).has('groq')).toBe(true);
    expect((await owners(other.apiKey)).has('groq')).toBe(false);
    const answer = await chat(ask('not mine', { model: 'groq/llama-3.1-8b-instant' }), other.apiKey);
    expect(answer.status).toBe(404);
    expect(heads(await chat(ask('still mine'), own.apiKey))[2]).toBe('miss');
  });

  test('when all is said the books are even and no hold is left', async () => {
    expect(await settledLedger(here.world.gateway)).toMatchObject({ ok: true, open_holds: 0, queue_depth: 0 });
  });
});

describe('the other failover modes', () => {
  const mini =
    (world: World, text: string, model = 'gpt-4o-mini') =>
    async (apiKey: string) => {
      const answer = await postChat(world.world.gateway, apiKey, ask(text, { model }));
      return [answer.status, answer.headers.get('x-model'), answer.headers.get('x-failover')];
    };

  test.concurrent(
    'local_first asks the substitute first, but a pinned version for itself',
    async () => {
      const here = await startWorld({ FAILOVER_MODE: 'local_first' });
      try {
        const { apiKey } = await createTestKey(here.world.gateway);
        expect(await mini(here, 'a')(apiKey)).toEqual([200, LOCAL, null]);
        const pinned = 'gpt-4o-mini-2024-07-18';
        expect(await mini(here, 'b', pinned)(apiKey)).toEqual([200, pinned, null]);
        here.local.control.setDefault(DOWN);
        expect(await mini(here, 'c')(apiKey)).toEqual([200, 'gpt-4o-mini', 'true']);
      } finally {
        await here.close();
      }
    },
    SETUP_MS,
  );

  test.concurrent(
    'local_only never calls a cloud',
    async () => {
      const here = await startWorld({ FAILOVER_MODE: 'local_only' });
      try {
        const { apiKey } = await createTestKey(here.world.gateway);
        expect(await mini(here, 'a')(apiKey)).toEqual([200, LOCAL, null]);
        for (const model of ['gpt-4o-mini-2024-07-18', 'gpt-4o', 'gpt-4', 'openai/gpt-4o']) {
          expect([model, ...(await mini(here, 'b', model)(apiKey))]).toEqual([model, 404, null, null]);
        }
        here.local.control.setDefault(DOWN);
        expect((await mini(here, 'c')(apiKey))[0]).toBe(502);
        expect(here.world.upstream.requests).toEqual([]);
        const answer = await fetch(`${here.world.gateway.url}/v1/models`, {
          headers: { authorization: `Bearer ${apiKey}` },
        });
        const ids = ((await answer.json()) as { data: { id: string }[] }).data.map((model) => model.id);
        expect(ids).toContain('gpt-4o-mini');
        expect(ids).not.toContain('gpt-4o');
      } finally {
        await here.close();
      }
    },
    SETUP_MS,
  );

  test.concurrent(
    'cloud_only never calls the local server',
    async () => {
      const here = await startWorld({ FAILOVER_MODE: 'cloud_only' });
      try {
        const { apiKey } = await createTestKey(here.world.gateway);
        here.world.upstream.control.setDefault(DOWN);
        expect((await mini(here, 'a')(apiKey))[0]).toBe(502);
        expect((await mini(here, 'b', LOCAL)(apiKey))[0]).toBe(404);
        expect(here.local.requests).toEqual([]);
      } finally {
        await here.close();
      }
    },
    SETUP_MS,
  );
});
