import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import { SseDecoder } from '@llm0/core/sse/decode-sse';
import { createTestKey } from '../stores/start-gateway';
import { logRow, postChat, settledLedger, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
const CLAUDE = 'claude-haiku-4-5';
const GPT = 'gpt-4o-mini';
const GEMINI = 'gemini-2.5-flash';

describe('the Messages API', () => {
  let world: TestEnvironment;
  let apiKey: string;
  beforeAll(async () => {
    const env = { REQUEST_TIMEOUT: '2s', ANSWER_TIMEOUT: '2s', FAILOVER_MODE: 'cloud_first' };
    world = await shareEnvironment({ kind: 'real', env });
    apiKey = (await createTestKey(world.gateway)).apiKey;
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);
  beforeEach(() => world.upstream.control.reset());

  const post = (body: unknown, headers: Record<string, string> = {}, path = '/v1/messages') =>
    fetch(`${world.gateway.url}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const say = (content: string, more: JsonObject = {}): JsonObject => ({
    model: CLAUDE,
    max_tokens: 100,
    messages: [{ role: 'user', content }],
    ...more,
  });
  const sent = () => world.upstream.requests.at(-1)?.body;
  const eventsOf = (text: string) =>
    new SseDecoder().push(new TextEncoder().encode(text)).map(({ event, data }) => ({
      event,
      data: JSON.parse(data) as JsonObject,
    }));

  test('the request reaches its own vendor as it was sent, betas and fields nobody knows included', async () => {
    const body = say('native', {
      system: [{ type: 'text', text: 'S', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      metadata: { user_id: 'u' },
      context_management: { edits: [{ type: 'x' }] },
      future: { deep: [1, null, 'ü'] },
      thinking: { type: 'enabled', budget_tokens: 1024, later: true },
    });
    const answer = await post(body, { 'anthropic-beta': 'one-2026-01-01,two' });
    expect(answer.status).toBe(200);
    await answer.text();
    expect(sent()).toEqual(body);
    expect(world.upstream.requests.at(-1)?.headers).toMatchObject({
      'anthropic-beta': 'one-2026-01-01,two',
      'anthropic-version': '2023-06-01',
      'x-api-key': 'sk-ant-fake-upstream-key',
    });
  });

  test('every header and the row, as for any other request', async () => {
    world.upstream.control.enqueue({ text: 'Hi', usage: { prompt: 12, completion: 7, cached: 4 } });
    const answer = await post(say('headers'), { 'x-llm0-team': 'a', 'x-customer-id': 'c-1' });
    const body = (await answer.json()) as JsonObject;
    const id = answer.headers.get('x-request-id') ?? '';
    expect(answer.headers.get('request-id')).toBe(id);
    expect(answer.headers.get('x-provider')).toBe('anthropic');
    expect(answer.headers.get('x-cache-hit')).toBe('miss');
    expect(answer.headers.get('x-tokens-total')).toBe('19');
    expect(Number(answer.headers.get('x-cost-usd'))).toBe(Number(body.cost_usd));
    expect(body).toMatchObject({ type: 'message', stop_reason: 'end_turn', latency_ms: expect.any(Number) });
    expect(await logRow(world.gateway, id)).toMatchObject({
      dialect: 'anthropic-messages',
      status: 'success',
      tokens_in: 12,
      tokens_out: 7,
      labels: { team: 'a' },
      customer_id: 'c-1',
    } as never);
  });

  test('a stream of its own vendor goes through byte for byte; the last event is the gateway’s', async () => {
    world.upstream.control.setDefault({ text: 'Grüße 🌍', chunks: 4, reasoning: 'Hm.' });
    const direct = await fetch(`${world.upstream.url}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify(say('x', { stream: true })),
    });
    const expected = (await direct.text()).replace(/event: message_stop[\s\S]*$/, '');
    for (const split of [{}, { byteByByte: true }, { splitCharacters: true }]) {
      world.upstream.control.setDefault({ text: 'Grüße 🌍', chunks: 4, reasoning: 'Hm.', ...split });
      const answer = await post(say('bytes', { stream: true }), { 'x-llm0-cache': 'off' });
      const text = await answer.text();
      expect(text.startsWith(expected)).toBe(true);
      const [last, ...rest] = eventsOf(text.slice(expected.length));
      expect(rest).toEqual([]);
      expect(last).toMatchObject({
        event: 'message_stop',
        data: { provider: 'anthropic', cost_usd: expect.any(Number) },
      });
    }
  });

  test('one cache for all dialects: the same question, whoever asked it first', async () => {
    for (const model of [CLAUDE, GPT, GEMINI]) {
      const text = `shared ${model}`;
      world.upstream.control.enqueue({ text: 'Shared answer' });
      const chat = await postChat(world.gateway, apiKey, {
        model,
        max_tokens: 100,
        messages: [
          { role: 'system', content: 'S' },
          { role: 'user', content: text },
        ],
      });
      await chat.text();
      expect([chat.status, chat.headers.get('x-cache-hit')]).toEqual([200, 'miss']);
      const body = say(text, { model, system: 'S' });
      const plain = await post(body);
      expect(plain.headers.get('x-cache-hit')).toBe('exact');
      expect(((await plain.json()) as JsonObject).content).toEqual([{ type: 'text', text: 'Shared answer' }]);
      const streamed = await post({ ...body, stream: true });
      expect(streamed.headers.get('x-cache-hit')).toBe('exact');
      expect(eventsOf(await streamed.text()).map(({ event }) => event)).toEqual([
        'message_start',
        'ping',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
      ]);
      expect(world.upstream.requests.filter(({ body: one }) => JSON.stringify(one).includes(text))).toHaveLength(1);
    }
  });

  test('blocks of kinds nobody knows survive the cache, plain and streamed', async () => {
    const content = [
      { type: 'text', text: 'Let me look.' },
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ type: 'web_search_result', url: 'u' }] },
      { type: 'text', text: 'Found.', citations: [{ type: 'web_search_result_location', url: 'u' }] },
    ];
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: CLAUDE, content };
    const end = { stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 5, output_tokens: 6 } };
    world.upstream.control.enqueue({ body: JSON.stringify({ ...message, ...end }) });
    const body = say('search', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] });
    const first = (await (await post(body)).json()) as JsonObject;
    expect(first.content as unknown).toEqual(content);
    const hit = await post(body);
    expect(hit.headers.get('x-cache-hit')).toBe('exact');
    expect(((await hit.json()) as { content: unknown }).content).toEqual(content);
    const streamed = eventsOf(await (await post({ ...body, stream: true })).text());
    const starts = streamed.filter(({ event }) => event === 'content_block_start');
    expect(starts.map(({ data }) => (data.content_block as JsonObject).type)).toEqual(content.map(({ type }) => type));
    expect(JSON.stringify(streamed)).toContain('citations_delta');
  });

  test('a request for a model of another vendor: what it cannot honour is refused by name, or named as dropped', async () => {
    const refused = await post(say('top k', { model: GPT, top_k: 5 }));
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', code: 'unsupported_parameter', param: 'top_k' },
      request_id: refused.headers.get('x-request-id'),
    });
    const served = await post(
      say('dropped', {
        model: GPT,
        top_k: 5,
        thinking: { type: 'enabled', budget_tokens: 1024 },
        messages: [{ role: 'user', content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }] }],
      }),
      { 'anthropic-beta': 'x', 'x-llm0-drop-params': 'true' },
    );
    expect(served.status).toBe(200);
    expect(served.headers.get('x-llm0-dropped')?.split(',').sort()).toEqual([
      'anthropic-beta',
      'cache_control',
      'thinking',
      'top_k',
    ]);
  });

  test('failover to another vendor in the middle of nothing: still this dialect', async () => {
    world.upstream.control.setModel(CLAUDE, { status: 500 });
    for (const stream of [false, true]) {
      const answer = await post(say(`failover ${stream}`, { stream }));
      const text = await answer.text();
      expect([answer.status, answer.headers.get('x-failover')]).toEqual([200, 'true']);
      expect(text).toContain(stream ? 'event: message_stop' : '"stop_reason":"end_turn"');
    }
  });

  test.each([CLAUDE, GPT, GEMINI])('an error in the middle of a stream: an error event, no end: %s', async (model) => {
    for (const fault of [{ errorAfter: 5 }, { resetAfter: 5 }, { truncateAfter: 5 }]) {
      world.upstream.control.setModel(model, { chunks: 20, gapMs: 1, ...fault });
      const answer = await post(say('breaks', { model, stream: true }), { 'x-llm0-cache': 'off' });
      const events = eventsOf(await answer.text());
      expect(events.at(-1)).toMatchObject({
        event: 'error',
        data: { type: 'error', error: { code: 'upstream_error' } },
      });
      expect(events.map(({ event }) => event)).not.toContain('message_stop');
      expect((await logRow(world.gateway, answer.headers.get('x-request-id') ?? '')).status).toBe('error');
    }
  });

  describe('errors speak the dialect, whoever finds them', () => {
    test.each<[string, () => Promise<Response>, number, string, string]>([
      [
        'no key',
        () => fetch(`${world.gateway.url}/v1/messages`, { method: 'POST' }),
        401,
        'authentication_error',
        'missing_api_key',
      ],
      ['a wrong key', () => post({}, { 'x-api-key': 'sk-ant-x' }), 401, 'authentication_error', 'invalid_api_key'],
      ['no JSON', () => post('{'), 400, 'invalid_request_error', 'invalid_json'],
      [
        'another method',
        () => fetch(`${world.gateway.url}/v1/messages`),
        405,
        'invalid_request_error',
        'method_not_allowed',
      ],
      ['a path below', () => post({}, {}, '/v1/messages/elsewhere'), 404, 'not_found_error', 'not_found'],
      ['no such model', () => post(say('x', { model: 'nothing-like-it' })), 404, 'not_found_error', 'model_not_found'],
      ['no limit', () => post({ ...say('x'), max_tokens: undefined }), 400, 'invalid_request_error', 'invalid_request'],
      [
        'a body too large',
        () => post(`"${'x'.repeat(21 * 1024 * 1024)}"`),
        413,
        'request_too_large',
        'request_too_large',
      ],
      [
        'no such model to show',
        () =>
          fetch(`${world.gateway.url}/v1/models/nothing`, {
            headers: { 'x-api-key': apiKey, 'anthropic-version': '1' },
          }),
        404,
        'not_found_error',
        'model_not_found',
      ],
    ])('%s', async (_name, ask, status, type, code) => {
      const answer = await ask();
      expect(answer.status).toBe(status);
      const body = (await answer.json()) as JsonObject;
      expect(body).toMatchObject({
        type: 'error',
        error: { type, code },
        request_id: answer.headers.get('request-id'),
      });
    });

    test('limits: 429 with the time to wait, 402 where the money has run out', async () => {
      const limited = await createTestKey(world.gateway, { key: { rate_limit_per_minute: 1 } });
      const poor = await createTestKey(world.gateway, { project: { monthly_cap_usd: '0.000000001' } });
      await (await post(say('a'), { 'x-api-key': limited.apiKey })).text();
      const late = await post(say('b'), { 'x-api-key': limited.apiKey });
      expect(late.status).toBe(429);
      expect(Number(late.headers.get('retry-after'))).toBeWithin(1, 61);
      expect(await late.json()).toMatchObject({ error: { type: 'rate_limit_error', param: 'key' } });
      const broke = await post(say('c'), { 'x-api-key': poor.apiKey });
      expect(broke.status).toBe(402);
      expect(await broke.json()).toMatchObject({ error: { type: 'billing_error', code: 'spend_cap_exceeded' } });
    });
  });

  describe('counting tokens', () => {
    const count = (body: JsonObject, headers?: Record<string, string>) =>
      post(body, headers, '/v1/messages/count_tokens');
    const { max_tokens: _limit, ...question } = say('How many?', { system: 'S' });

    test('natively: the vendor’s own number, for nothing, and a row', async () => {
      const answer = await count(question, { 'anthropic-beta': 'b' });
      expect(await answer.json()).toEqual({ input_tokens: 14 });
      expect(sent()).toEqual(question);
      expect(world.upstream.requests.at(-1)?.headers['anthropic-beta']).toBe('b');
      const row = await logRow(world.gateway, answer.headers.get('x-request-id') ?? '');
      expect(row).toMatchObject({
        status: 'success',
        cost_usd: 0,
        tokens_in: 0,
        dialect: 'anthropic-messages',
      } as never);
    });

    test('elsewhere it is a guess, and says so', async () => {
      for (const model of [GPT, GEMINI]) {
        const answer = await count({ ...question, model });
        const body = (await answer.json()) as JsonObject;
        expect(body).toEqual({ input_tokens: expect.any(Number), estimated: true });
        expect(body.input_tokens).toBeWithin(5, 40);
      }
      expect(world.upstream.requests).toHaveLength(0);
    });

    test('an answer is never taken for a count, nor a count for an answer', async () => {
      const asked = say('either', { max_tokens: 9 });
      const { max_tokens: _none, ...counted } = asked;
      await (await post(asked)).text();
      const first = await count(counted);
      expect([first.headers.get('x-cache-hit'), await first.json()]).toEqual(['miss', { input_tokens: 14 }]);
      const again = await count(counted);
      expect([again.headers.get('x-cache-hit'), await again.json()]).toEqual(['exact', { input_tokens: 14 }]);
    });

    test('keys and request limits hold; caps do not, since it costs nothing', async () => {
      const limited = await createTestKey(world.gateway, {
        key: { rate_limit_per_minute: 1 },
        project: { monthly_cap_usd: '0.000000001', strict_caps: true },
      });
      expect((await count(question, { 'x-api-key': limited.apiKey })).status).toBe(200);
      expect((await count(question, { 'x-api-key': limited.apiKey })).status).toBe(429);
      expect((await count({ model: CLAUDE })).status).toBe(400);
    });
  });

  test('models in the shape of this dialect, page by page', async () => {
    const headers = { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' };
    const list = async (query: string) =>
      (await (await fetch(`${world.gateway.url}/v1/models${query}`, { headers })).json()) as {
        data: { id: string; type: string; created_at: string; display_name: string }[];
        has_more: boolean;
        first_id: string;
        last_id: string;
      };
    const first = await list('?limit=5');
    expect(first.data).toHaveLength(5);
    expect(first.has_more).toBe(true);
    expect([first.first_id, first.last_id]).toEqual([first.data[0]?.id ?? '', first.data[4]?.id ?? '']);
    expect(first.data[0]).toMatchObject({
      type: 'model',
      display_name: expect.any(String),
      created_at: expect.any(String),
    });
    const second = await list(`?limit=5&after_id=${first.last_id}`);
    expect(second.data[0]?.id).not.toBe(first.data[0]?.id);
    const back = await list(`?limit=5&before_id=${second.first_id}`);
    expect(back.data).toEqual(first.data);
    const one = await fetch(`${world.gateway.url}/v1/models/${CLAUDE}`, { headers });
    expect(await one.json()).toMatchObject({ type: 'model', id: CLAUDE });
    const chat = await fetch(`${world.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${apiKey}` } });
    expect(await chat.json()).toMatchObject({ object: 'list' });
  });

  test('the books agree', async () => {
    expect(await settledLedger(world.gateway)).toMatchObject({ ok: true, queue_depth: 0, open_holds: 0 });
  });
});
