import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { ask, logRow, ON_ONE_KIND, postChat, shareEnvironment, type TestEnvironment, waitUntil } from './environment';

const SETUP_MS = 60_000;
/** About 200,000 tokens: more than gpt-4o-mini takes, less than Gemini does. */
const LONG = 'word '.repeat(150_000);

describe.each(ON_ONE_KIND)('no target is passed over silently, on %s stores', (kind) => {
  let world: TestEnvironment;
  let apiKey: string;
  beforeAll(async () => {
    world = await shareEnvironment({ kind });
    ({ apiKey } = await createTestKey(world.gateway));
  }, SETUP_MS);
  afterAll(() => world?.close(), SETUP_MS);
  beforeEach(() => world.upstream.control.reset());

  const send = (body: unknown, headers: Record<string, string> = {}) =>
    postChat(world.gateway, apiKey, body, { headers });
  const errorOf = async (response: Response) => {
    const { error } = (await response.json()) as { error: { code: string; message: string; param: string } };
    return { status: response.status, ...error };
  };

  test.each([false, true])(
    'a prompt too long for the model goes to a larger one, and says so (stream %p)',
    async (stream) => {
      const response = await send(ask(`${LONG}${stream}`, { stream }));
      await response.text();
      expect([
        response.status,
        response.headers.get('x-failover'),
        response.headers.get('x-original-provider'),
      ]).toEqual([200, 'true', 'openai']);
      expect(response.headers.get('x-provider')).not.toBe('openai');
      const row = (await logRow(world.gateway, response.headers.get('x-request-id') ?? '')) as unknown as {
        provider: string;
        final_provider: string;
        failover_count: number;
        failover_occurred: boolean;
        attempts: { provider: string; model: string; outcome: string }[];
        routing: { provider: string; model: string; reason: string }[];
      };
      expect(row).toMatchObject({ provider: 'openai', failover_occurred: true });
      expect(row.final_provider).toBe(response.headers.get('x-provider') ?? '');
      expect(row.failover_count).toBeGreaterThan(0);
      expect(row.attempts[0]).toMatchObject({ provider: 'openai', model: 'gpt-4o-mini', outcome: 'context_window' });
      expect(row.attempts.at(-1)).toMatchObject({ outcome: 'ok' });
      const route = response.headers.get('x-llm0-route') ?? '';
      expect(route).toStartWith('openai/gpt-4o-mini=context_window; ');
      expect(route).toContain(`${row.final_provider}/${response.headers.get('x-model')}=priority`);
      expect(row.routing.map(({ provider, model, reason }) => `${provider}/${model}=${reason}`).join('; ')).toBe(route);
    },
  );

  test("a provider that the project doesn't allow is skipped, and the answer and its row say so", async () => {
    const { apiKey: own } = await createTestKey(world.gateway, { project: { allowed_providers: ['anthropic'] } });
    const response = await postChat(world.gateway, own, ask('not openai', { model: 'gpt-4o' }));
    expect([response.status, response.headers.get('x-provider')]).toEqual([200, 'anthropic']);
    const route = response.headers.get('x-llm0-route') ?? '';
    expect(route).toStartWith('openai/gpt-4o=provider_not_allowed; anthropic/');
    const { attempts } = (await logRow(world.gateway, response.headers.get('x-request-id') ?? '')) as unknown as {
      attempts: { provider: string; outcome: string }[];
    };
    expect(attempts.map(({ provider, outcome }) => `${provider} ${outcome}`)).toEqual([
      ...['openai provider_not_allowed', 'anthropic ok'],
    ]);
    const refused = await errorOf(await postChat(world.gateway, own, ask('x', { model: 'openai/gpt-4o' })));
    expect(refused).toMatchObject({ status: 403, code: 'model_not_allowed' });
    expect(refused.message).toContain('"allowed_providers" of its project');
    for (const [path, body] of [
      ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'x' }],
      ['/v1/rerank', { model: 'local/all-MiniLM-L6-v2', query: 'x', documents: ['y'] }],
      ['/v1/images/generations', { model: 'gpt-image-1', prompt: 'x' }],
      ['/v1/realtime/client_secrets', { session: { type: 'realtime', model: 'gpt-realtime' } }],
    ] as const) {
      const answer = await fetch(`${world.gateway.url}${path}`, {
        ...{ method: 'POST', body: JSON.stringify(body) },
        headers: { authorization: `Bearer ${own}`, 'content-type': 'application/json' },
      });
      expect([path, answer.status, (await errorOf(answer)).code]).toEqual([path, 403, 'model_not_allowed']);
    }
  });

  test('an image goes to no model without vision', async () => {
    const url = 'data:image/png;base64,iVBORw0KGgo=';
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url } },
    ];
    const prices = { input_usd_per_million: 1, output_usd_per_million: 1 };
    const models = { blind: ['function_calling'], seeing: ['vision'] };
    for (const [name, capabilities] of Object.entries(models)) {
      const body = { ...prices, capabilities };
      await callAdmin(world.gateway, `/models?provider=openai&model=${name}`, { method: 'PUT', body });
    }
    const targets = Object.keys(models).map((model) => ({ provider: 'openai', model }));
    await callAdmin(world.gateway, '/aliases', { method: 'POST', body: { alias: 'looks', targets } });
    const sendImage = (model: string) => send({ model, messages: [{ role: 'user', content }] });
    const response = await sendImage('looks');
    expect([response.status, response.headers.get('x-model')]).toEqual([200, 'seeing']);
    expect(response.headers.get('x-llm0-route')).toBe('openai/blind=no_vision; openai/seeing=priority');
    world.upstream.control.reset();
    const refused = await errorOf(await sendImage('openai/blind'));
    expect(refused).toMatchObject({ status: 400, code: 'invalid_request', param: 'messages' });
    expect(refused.message).toContain('takes none');
    expect(world.upstream.control.counters.received).toBe(0);
    // A request with one target, and without anything skipped, explains nothing.
    expect((await send(ask('hi', { model: 'openai/gpt-4o' }))).headers.has('x-llm0-route')).toBe(false);
  });

  test('a limit beyond what the model writes is refused with its own figure', async () => {
    for (const param of ['max_tokens', 'max_completion_tokens']) {
      const error = await errorOf(await send(ask('x', { model: 'gpt-4o', [param]: 999_999 })));
      expect(error).toMatchObject({ status: 400, code: 'invalid_request', param });
      expect(error.message).toContain('"gpt-4o" writes at most 16384 tokens');
    }
    const response = await fetch(`${world.gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o', input: 'x', max_output_tokens: 999_999 }),
    });
    expect(await errorOf(response)).toMatchObject({ status: 400, param: 'max_output_tokens' });
    expect(world.upstream.control.counters.received).toBe(0);
  });

  test('a format that demands a limit has it brought down to the model’s own', async () => {
    const response = await fetch(`${world.gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o', max_tokens: 999_999, messages: [{ role: 'user', content: 'x' }] }),
    });
    expect([response.status, response.headers.get('x-provider'), response.headers.get('x-failover')]).toEqual([
      200,
      'openai',
      null,
    ]);
    expect(world.upstream.requests.at(-1)?.body).toMatchObject({ model: 'gpt-4o', max_completion_tokens: 16_384 });
  });

  test('a pinned version is never replaced: the error has its own window', async () => {
    const error = await errorOf(await send(ask(LONG, { model: 'gpt-4o-mini-2024-07-18' })));
    expect(error).toMatchObject({ status: 400, param: 'messages' });
    expect(error.message).toContain('a context window of 128000 tokens');
  });

  test('targets without a price are skipped under a cap, and named', async () => {
    const capped = await createTestKey(world.gateway, { project: { monthly_cap_usd: 10 } });
    const targets = [
      { provider: 'openai', model: 'nobody-knows-its-price' },
      { provider: 'anthropic', model: 'claude-haiku-4-5' },
    ];
    await callAdmin(world.gateway, '/aliases', { body: { alias: 'two', project_id: capped.projectId, targets } });
    const response = await postChat(world.gateway, capped.apiKey, ask('x', { model: 'two' }));
    expect([response.status, response.headers.get('x-failover'), response.headers.get('x-original-provider')]).toEqual([
      200,
      'true',
      'openai',
    ]);
    const row = await logRow(world.gateway, response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ attempts: [{ outcome: 'unpriced' }, { outcome: 'ok' }] });
  });

  test('a drained provider finishes its requests, takes no new ones, and every answer says so', async () => {
    const model = { model: 'house-model', input_usd_per_million: 1, output_usd_per_million: 1 };
    const server = { name: 'house', base_url: world.upstream.baseUrl, key: 'sk-house', models: [model] };
    await callAdmin(world.gateway, '/providers', { body: server });
    const own = await createTestKey(world.gateway, { project: { cache_enabled: false, passthrough: ['house'] } });
    const targets = [
      { provider: 'house', model: 'house-model' },
      { provider: 'openai', model: 'gpt-4o-mini' },
    ];
    await callAdmin(world.gateway, '/aliases', { body: { alias: 'ours', project_id: own.projectId, targets } });
    const post = (name: string, more = {}) => postChat(world.gateway, own.apiKey, ask('x', { model: name, ...more }));
    const drain = (isOn: boolean) =>
      callAdmin(world.gateway, '/providers/house', { method: 'PATCH', body: { drain: isOn } });
    world.upstream.control.hold();
    const running = post('ours', { stream: true });
    await waitUntil(() => world.upstream.control.counters.waiting === 1);
    await drain(true);
    world.upstream.control.release();
    const finished = await running;
    expect([finished.status, finished.headers.get('x-provider')]).toEqual([200, 'house']);
    expect(await finished.text()).toEndWith('data: [DONE]\n\n');

    const moved = await post('ours');
    const shown = ['x-provider', 'x-failover', 'x-original-provider'].map((name) => moved.headers.get(name));
    expect([moved.status, ...shown]).toEqual([200, 'openai', 'true', 'house']);
    const outcomes = [{ provider: 'house', outcome: 'drained' }, { outcome: 'ok' }];
    const row = await logRow(world.gateway, moved.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ failover_count: 1, attempts: outcomes });

    const native = fetch(`${world.gateway.url}/passthrough/house/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${own.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask('x', { model: 'house-model' })),
    });
    for (const refused of [await post('house/house-model'), await native]) {
      const body = (await refused.json()) as { error: { message: string; attempts: object[] } };
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
      expect(body.error.message).toContain('The operator drained the provider "house"');
      expect(body.error.attempts).toMatchObject([{ provider: 'house', failure: 'drained' }]);
      const left = await logRow(world.gateway, refused.headers.get('x-request-id') ?? '');
      expect(left).toMatchObject({ error_code: 'upstream_unavailable', attempts: [{ outcome: 'drained' }] });
    }
    const pages = ['/healthz', '/metrics'].map((path) => fetch(world.gateway.url + path).then((page) => page.text()));
    const [health, metrics] = await Promise.all(pages);
    expect(health).toContain('"drained":["house"]');
    expect(metrics).toContain('llm0_provider_drained{provider="house"} 1');

    await drain(false);
    expect((await post('ours')).headers.get('x-provider')).toBe('house');
    await callAdmin(world.gateway, '/providers/house', { method: 'DELETE' });
  });

  test(
    'a provider whose health check fails comes last, until a check goes well',
    async () => {
      let isWell = false;
      const server = Bun.serve({
        ...{ port: 0, hostname: '127.0.0.1' },
        fetch: (request) => {
          const { pathname } = new URL(request.url);
          if (pathname.endsWith('/models'))
            return isWell ? Response.json({ data: [] }) : new Response('', { status: 503 });
          return fetch(world.upstream.url + pathname, { method: 'POST', headers: request.headers, body: request.body });
        },
      });
      try {
        const models = [{ model: 'ward', input_usd_per_million: 1, output_usd_per_million: 1 }];
        const body = { name: 'ward', base_url: `http://127.0.0.1:${server.port}/v1`, key: 'sk-ward', models };
        await callAdmin(world.gateway, '/providers', { body: { ...body, health_check_interval_ms: 1000 } });
        const own = await createTestKey(world.gateway, { project: { cache_enabled: false } });
        const targets = [
          { provider: 'ward', model: 'ward' },
          { provider: 'openai', model: 'gpt-4o-mini' },
        ];
        await callAdmin(world.gateway, '/aliases', { body: { alias: 'sick', project_id: own.projectId, targets } });
        const answerFrom = async (provider: string): Promise<Response> => {
          const endMs = performance.now() + 30_000;
          for (;;) {
            const answer = await postChat(world.gateway, own.apiKey, ask('x', { model: 'sick' }));
            if (answer.headers.get('x-provider') === provider) return answer;
            if (performance.now() > endMs) throw new Error(`${provider} does not answer: ${await answer.text()}`);
            await Bun.sleep(100);
          }
        };
        const passed = await answerFrom('openai');
        expect(await logRow(world.gateway, passed.headers.get('x-request-id') ?? '')).toMatchObject({
          attempts: [{ provider: 'ward', outcome: 'check_failed' }, { outcome: 'ok' }],
        });
        expect(await callAdmin<object>(world.gateway, '/providers/ward')).toMatchObject({ health_check: 'failing' });
        expect(await (await fetch(`${world.gateway.url}/healthz`)).text()).toContain('"failing_checks":["ward"]');
        isWell = true;
        await answerFrom('ward');
        expect(await callAdmin<object>(world.gateway, '/providers/ward')).toMatchObject({ health_check: 'ok' });
        await callAdmin(world.gateway, '/providers/ward', { method: 'DELETE' });
      } finally {
        await server.stop(true);
      }
    },
    SETUP_MS,
  );

  test('an answer of the larger model is kept as any stand-in’s is', async () => {
    const body = ask(`${LONG} kept`);
    await (await send(body)).text();
    const hit = await send(body);
    expect(hit.headers.get('x-cache-hit')).toBe('exact');
  });
});
