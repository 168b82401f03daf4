import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import type { JsonObject } from '@llm0/core/chat/json';
import { SseDecoder } from '@llm0/core/sse/decode-sse';
import { hostGateway } from '../stores/host-gateway';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import {
  ask,
  logRow,
  ON_ONE_KIND,
  postChat,
  settledLedger,
  shareEnvironment,
  type TestEnvironment,
} from './environment';

const SETUP_MS = 60_000;
const GPT = 'gpt-4o-mini';
const CLAUDE = 'claude-haiku-4-5';
const WEB_SEARCH = { type: 'web_search', search_context_size: 'low' };

interface Answer extends JsonObject {
  id: string;
  output: JsonObject[];
}

function eventsOf(text: string): JsonObject[] {
  return new SseDecoder().push(new TextEncoder().encode(text)).map(({ data }) => JSON.parse(data) as JsonObject);
}

function textOf(answer: JsonObject): string {
  const items = answer.output as { content?: { text?: string }[] }[];
  return items.flatMap(({ content = [] }) => content.map((part) => part.text ?? '')).join('');
}

describe.each(ON_ONE_KIND)('the Responses API on %s stores', (kind) => {
  let world: TestEnvironment;
  let apiKey: string;
  let otherKey: string;
  beforeAll(async () => {
    const env = { REQUEST_TIMEOUT: '2s', ANSWER_TIMEOUT: '2s', FAILOVER_MODE: 'cloud_first' };
    world = await shareEnvironment({ kind, env });
    apiKey = (await createTestKey(world.gateway)).apiKey;
    otherKey = (await createTestKey(world.gateway)).apiKey;
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);
  beforeEach(() => world.upstream.control.reset());

  const call = (method: string, path: string, key = apiKey, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(`${world.gateway.url}/v1/responses${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  const post = (body: JsonObject, headers: Record<string, string> = {}, key = apiKey) =>
    call('POST', '', key, { model: GPT, ...body }, headers);
  const answerTo = async (body: JsonObject, headers: Record<string, string> = {}): Promise<Answer> => {
    const response = await post(body, headers);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
    return JSON.parse(text) as Answer;
  };
  const errorOf = async (response: Response) => ({
    status: response.status,
    ...((await response.json()) as { error: { code: string; param: string | null } }).error,
  });
  const sent = () => world.upstream.requests.at(-1);

  test('the request reaches its own vendor as it was sent: built-in tools and fields nobody knows included', async () => {
    const body: JsonObject = {
      model: GPT,
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'native', future: 1 }] },
        { type: 'future_item', deep: [1, null, 'ü'] },
      ],
      tools: [WEB_SEARCH, { type: 'function', name: 'f', parameters: { type: 'object' }, strict: true, defer: true }],
      tool_choice: { type: 'web_search' },
      include: ['web_search_call.action.sources'],
      reasoning: { effort: 'low', summary: 'auto' },
      truncation: 'auto',
      future: { deep: [1, null, 'ü'] },
      temperature: 0,
    };
    await answerTo(body);
    expect(sent()?.path).toBe('/v1/responses');
    expect(sent()?.body).toEqual(body);
  });

  test('built-in tool items come back whole: plain, streamed, cached and stored', async () => {
    const search = { id: 'ws_vendor7', type: 'web_search_call', status: 'completed', action: { type: 'search' } };
    world.upstream.control.setDefault({ text: 'Found.', chunks: 1, outputItems: [search] });
    const body = { input: 'search', tools: [WEB_SEARCH] };
    const plain = await answerTo(body);
    expect(plain.output).toMatchObject([search, { type: 'message' }]);
    const hit = await post(body);
    expect(hit.headers.get('x-cache-hit')).toBe('exact');
    const again = (await hit.json()) as Answer;
    expect(again.output).toEqual(plain.output);
    expect(again.id).not.toBe(plain.id);
    const streamed = eventsOf(await (await post({ ...body, stream: true })).text());
    expect(streamed.at(-1)).toMatchObject({ response: { output: plain.output } });
    const kept = (await (await call('GET', `/${again.id}`)).json()) as Answer;
    expect(kept.output).toEqual(plain.output);
    expect(world.upstream.control.counters.received).toBe(1);
  });

  test('headers, body and row agree; the last event of a stream says what a plain body does', async () => {
    const response = await post({ input: 'headers' }, { 'X-Customer-ID': 'c1', 'X-LLM0-Team': 'blue' });
    const body = (await response.json()) as Answer;
    const header = (name: string) => response.headers.get(name);
    expect(header('x-cost-usd')).toBe(Number(body.cost_usd).toFixed(9));
    expect([header('x-provider'), header('x-model'), header('x-cache-hit')]).toEqual(['openai', GPT, 'miss']);
    expect(header('x-tokens-total')).toBe('30');
    const requestId = header('x-request-id') ?? '';
    expect(body.id).toBe(`resp_${requestId.replaceAll('-', '')}`);
    const row = await logRow(world.gateway, requestId);
    expect(row).toMatchObject({ dialect: 'openai-responses', status: 'success', labels: { team: 'blue' } });
    expect(row.cost_usd).toBe(Number(body.cost_usd));
    const stream = await post({ input: 'headers', stream: true, model: CLAUDE });
    const last = eventsOf(await stream.text()).at(-1);
    expect(last).toMatchObject({
      type: 'response.completed',
      response: { provider: 'anthropic', cache: 'miss', cost_usd: expect.any(Number), latency_ms: expect.any(Number) },
    });
    expect(stream.headers.get('x-cost-usd')).toBeNull();
  });

  test('the same question shares its cache entry with Chat Completions, in both directions', async () => {
    world.upstream.control.setDefault({ text: 'shared answer' });
    await (await postChat(world.gateway, apiKey, ask('shared one'))).text();
    const first = await post({ input: 'shared one' });
    expect(first.headers.get('x-cache-hit')).toBe('exact');
    expect(textOf((await first.json()) as Answer)).toBe('shared answer');
    await answerTo({ input: 'shared two', model: CLAUDE });
    const second = await postChat(world.gateway, apiKey, ask('shared two', { model: CLAUDE, stream: true }));
    expect(second.headers.get('x-cache-hit')).toBe('exact');
    expect(await second.text()).toContain('shared answer');
    expect(world.upstream.control.counters.received).toBe(2);
  });

  test('identical questions in both formats at once reach the upstream once, each answered in its own', async () => {
    world.upstream.control.hold();
    const asked = [
      post({ input: 'at once', stream: true }),
      postChat(world.gateway, apiKey, ask('at once', { stream: true })),
      post({ input: 'at once', stream: true }),
    ];
    await Bun.sleep(300);
    world.upstream.control.release();
    const [one, chat, two] = await Promise.all(asked.map(async (response) => (await response).text()));
    expect(world.upstream.control.counters.received).toBe(1);
    expect(chat).toContain('data: [DONE]');
    expect(chat).not.toContain('response.');
    for (const text of [one, two]) {
      const events = eventsOf(text ?? '');
      expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, i) => i));
      expect(events.at(-1)?.type).toBe('response.completed');
    }
  });

  describe('kept answers', () => {
    test('are shown, listed with all that led to them, and deleted', async () => {
      world.upstream.control.enqueue({ text: 'one' }, { text: 'two' });
      const first = await answerTo({ input: 'first question' });
      const second = await answerTo({ input: 'second question', previous_response_id: first.id });
      expect(await (await call('GET', `/${second.id}`)).json()).toEqual(second);
      const list = (await (await call('GET', `/${second.id}/input_items?order=asc&limit=2`)).json()) as JsonObject;
      const items = list.data as JsonObject[];
      expect(list).toMatchObject({ object: 'list', has_more: true, first_id: items[0]?.id, last_id: items[1]?.id });
      expect(items).toMatchObject([
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'first question' }] },
        { type: 'message', role: 'assistant', content: [{ text: 'one' }] },
      ]);
      const rest = await call('GET', `/${second.id}/input_items?order=asc&after=${String(list.last_id)}`);
      expect(await rest.json()).toMatchObject({ has_more: false, data: [{ content: [{ text: 'second question' }] }] });
      expect(await (await call('DELETE', `/${first.id}`)).json()).toEqual({
        id: first.id,
        object: 'response',
        deleted: true,
      });
      expect(await errorOf(await call('GET', `/${first.id}`))).toMatchObject({ status: 404, code: 'not_found' });
      expect(await errorOf(await post({ input: 'x', previous_response_id: first.id }))).toMatchObject({ status: 400 });
      expect(await errorOf(await post({ input: 'x', previous_response_id: second.id }))).toMatchObject({
        status: 409,
        code: 'conflict',
      });
      expect((await call('GET', `/${second.id}`)).status).toBe(200);
    });

    test('belong to their project', async () => {
      const { id, output } = await answerTo({ input: 'mine' });
      expect((await call('GET', `/${id}`, otherKey)).status).toBe(404);
      expect((await call('GET', `/${id}/input_items`, otherKey)).status).toBe(404);
      expect((await call('DELETE', `/${id}`, otherKey)).status).toBe(404);
      expect((await call('GET', `/${id}`, 'llm0_live_wrong')).status).toBe(401);
      const named = await post({ input: 'x', previous_response_id: id }, {}, otherKey);
      expect(await errorOf(named)).toMatchObject({ status: 400, param: 'previous_response_id' });
      const reference = { type: 'item_reference', id: output[0]?.id ?? '' };
      expect(await errorOf(await post({ input: [reference] }, {}, otherKey))).toMatchObject({
        status: 400,
        param: 'input[0]',
      });
      expect((await call('GET', `/${id}`)).status).toBe(200);
    });

    test('are those of their key and customer, unless the project shares them', async () => {
      const { projectId, apiKey: mine } = await createTestKey(world.gateway);
      const made = { name: 'other', rate_limit_per_minute: null };
      const { key: theirs } = await callAdmin<{ key: string }>(world.gateway, `/projects/${projectId}/keys`, {
        body: made,
      });
      const ann = { 'x-customer-id': 'ann' };
      const { id, output } = (await (await post({ input: 'of ann' }, ann, mine)).json()) as Answer;
      const reference = { type: 'item_reference', id: output[0]?.id ?? '' };
      const tries = (key: string, headers: Record<string, string>) =>
        Promise.all([
          call('GET', `/${id}`, key, undefined, headers),
          call('GET', `/${id}/input_items`, key, undefined, headers),
          post({ input: 'go on', previous_response_id: id }, headers, key),
          post({ input: [reference] }, headers, key),
        ]).then((answers) => answers.map(({ status }) => status));
      expect(await tries(mine, ann)).toEqual([200, 200, 200, 200]);
      for (const [key, headers] of [
        [theirs, ann],
        [mine, {}],
        [mine, { 'x-customer-id': 'bob' }],
      ] as const) {
        expect(await tries(key, headers)).toEqual([404, 404, 400, 400]);
        expect((await call('DELETE', `/${id}`, key, undefined, headers)).status).toBe(404);
      }
      const share = (isShared: boolean) =>
        callAdmin(world.gateway, `/projects/${projectId}`, { method: 'PATCH', body: { share_responses: isShared } });
      await share(true);
      expect(await tries(theirs, {})).toEqual([200, 200, 200, 200]);
      await share(false);
      expect(await tries(theirs, {})).toEqual([404, 404, 400, 400]);
      await share(true);
      expect((await call('DELETE', `/${id}`, theirs)).status).toBe(200);
    });

    test('are shown by the guardrails that are in force', async () => {
      const { projectId, apiKey: key } = await createTestKey(world.gateway);
      world.upstream.control.enqueue({ text: 'write to ann@example.com' });
      const { id } = (await (await post({ input: 'my card is 4111 1111 1111 1111' }, {}, key)).json()) as Answer;
      const shown = async (path: string) => (await call('GET', `/${id}${path}`, key)).text();
      expect(await shown('')).toContain('ann@example.com');
      const rules = [
        { name: 'mail', on: 'output', check: { type: 'pii', kinds: ['email'] }, action: 'redact' },
        { name: 'cards', on: 'input', check: { type: 'pii', kinds: ['card'] }, action: 'redact' },
      ];
      const policy = { method: 'PUT', body: { mode: 'enforce', rules } };
      await callAdmin(world.gateway, `/projects/${projectId}/guardrails`, policy);
      expect(await shown('')).not.toContain('ann@example.com');
      expect(await shown('/input_items')).not.toContain('4111');
      expect(await shown('/input_items')).toContain('my card is');
    });

    test('with store: false are none', async () => {
      const { id, store } = await answerTo({ input: 'do not keep', store: false });
      expect(store).toBe(false);
      expect((await call('GET', `/${id}`)).status).toBe(404);
      expect((await post({ input: 'x', previous_response_id: id })).status).toBe(400);
    });

    test('can be gone on from with another vendor, whose thoughts come back signed', async () => {
      world.upstream.control.enqueue(
        { text: 'from one', reasoning: 'hm' },
        { text: 'from the other', reasoning: 'well' },
        { text: 'back' },
        { text: 'last' },
      );
      const first = await answerTo({ input: 'question one', model: GPT });
      const second = await answerTo({ input: 'question two', previous_response_id: first.id, model: CLAUDE });
      for (const part of ['question one', 'from one', 'question two']) {
        expect(JSON.stringify(sent()?.body)).toContain(part);
      }
      await answerTo({ input: 'question three', previous_response_id: second.id, model: CLAUDE });
      const turns = (sent()?.body.messages ?? []) as { role: string; content: JsonObject[] }[];
      expect(turns.at(-2)?.content).toMatchObject([
        { type: 'thinking', thinking: 'well', signature: expect.any(String) },
        { type: 'text', text: 'from the other' },
      ]);
      const response = await post({ input: 'question four', previous_response_id: second.id, model: GPT });
      expect(response.headers.get('x-llm0-dropped')).toBe('input.reasoning');
      const items = sent()?.body.input as JsonObject[];
      expect(items.map(({ type, role }) => [type, role ?? null])).toEqual([
        ['message', 'user'],
        ['reasoning', null],
        ['message', 'assistant'],
        ['message', 'user'],
        ['message', 'assistant'],
        ['message', 'user'],
      ]);
      expect(items[1]?.id).toBe('rs_vendor1');
      expect(JSON.stringify(items)).not.toContain('_llm0');
      expect(sent()?.body.previous_response_id).toBeUndefined();
    });

    test('are named by the ids of their items, as agents do', async () => {
      for (const model of [GPT, CLAUDE]) {
        world.upstream.control.enqueue({ toolCalls: [{ name: 'f', arguments: '{"a":7}' }] }, { text: 'done' });
        const tools = [{ type: 'function', name: 'f', parameters: { type: 'object' } }];
        const stream = await post({ model, input: 'use it', tools, stream: true });
        const called = eventsOf(await stream.text()).at(-1)?.response as Answer;
        const [call_] = called.output;
        const answer = await answerTo({
          model,
          tools,
          input: [
            { role: 'user', content: 'use it' },
            { type: 'item_reference', id: call_?.id ?? '' },
            { type: 'function_call_output', call_id: call_?.call_id ?? '', output: 'seven' },
          ],
        });
        expect(textOf(answer)).toBe('done');
        const body = JSON.stringify(sent()?.body);
        for (const part of ['"f"', '7', 'seven']) expect(body).toContain(part);
        expect(body).not.toContain('item_reference');
      }
    });

    test('a whole conversation counts: for the limits, the price and the cache', async () => {
      const long = 'word '.repeat(4000);
      const first = await answerTo({ input: long });
      const poor = await createTestKey(world.gateway, { key: { tokens_per_minute: 3000 } });
      expect((await post({ input: 'x' }, {}, poor.apiKey)).status).toBe(400);
      const again = await answerTo({ input: 'and?', previous_response_id: first.id });
      const same = await post({
        input: [{ role: 'user', content: long }, ...first.output, { role: 'user', content: 'and?' }],
      });
      expect(same.headers.get('x-cache-hit')).toBe('exact');
      expect(textOf((await same.json()) as Answer)).toBe(textOf(again));
    });

    test('survive a restart, and another gateway on the same stores goes on from them at once', async () => {
      const first = await answerTo({ input: 'before' });
      if (kind === 'real') {
        const other = await hostGateway({ env: world.env });
        try {
          const { id } = await answerTo({ input: 'elsewhere' });
          const response = await fetch(`${other.url}/v1/responses`, {
            method: 'POST',
            headers: { authorization: `Bearer ${apiKey}` },
            body: JSON.stringify({ model: GPT, input: 'go on', previous_response_id: id }),
          });
          expect(response.status).toBe(200);
        } finally {
          await other.kill();
        }
      }
      await world.restart('stop');
      expect((await call('GET', `/${first.id}`)).status).toBe(200);
    }, 60_000);
  });

  test('unsupported parameters are refused by name, or dropped if allowed and named', async () => {
    const refused = async (body: JsonObject) => {
      const { status, code, param } = await errorOf(await post({ model: CLAUDE, input: 'x', ...body }));
      return [status, code, param];
    };
    const forced = { tools: [WEB_SEARCH], tool_choice: { type: 'web_search' } };
    expect(await refused(forced)).toEqual([400, 'unsupported_parameter', 'tools.web_search']);
    const searched = await post({ model: CLAUDE, input: 'a', tools: [WEB_SEARCH] });
    expect([searched.status, searched.headers.get('x-llm0-dropped')]).toEqual([200, 'tools.web_search']);
    expect(await refused({ tools: [WEB_SEARCH], tool_choice: 'required', input: 'a' })).toEqual([
      400,
      'unsupported_parameter',
      'tools.web_search',
    ]);
    expect(await refused({ truncation: 'auto' })).toEqual([400, 'unsupported_parameter', 'truncation']);
    expect(await refused({ prompt: { id: 'p' } })).toEqual([400, 'unsupported_parameter', 'prompt']);
    expect(await refused({ future: 1 })).toEqual([400, 'unsupported_parameter', 'future']);
    expect(
      await refused({
        input: [
          { type: 'computer_call', id: 'c' },
          { role: 'user', content: 'x' },
        ],
      }),
    ).toEqual([400, 'unsupported_parameter', 'messages']);
    const search = await post({ model: CLAUDE, input: 'a', tools: [WEB_SEARCH] });
    expect([search.status, search.headers.get('x-llm0-dropped')]).toEqual([200, 'tools.web_search']);
    const dropped = await post({ model: CLAUDE, input: 'x', future: 1 }, { 'X-LLM0-Drop-Params': 'true' });
    expect([dropped.status, dropped.headers.get('x-llm0-dropped')]).toEqual([200, 'future']);
  });

  test('a vendor that fails is stood in for, in the format of the caller', async () => {
    world.upstream.control.setModel(GPT, { status: 500 });
    const response = await post({ input: 'fail over', stream: true });
    expect(response.headers.get('x-failover')).toBe('true');
    expect(response.headers.get('x-provider')).not.toBe('openai');
    const events = eventsOf(await response.text());
    expect(events.at(-1)?.type).toBe('response.completed');
  });

  test('only OpenAI knows its tools: a stand-in says that it goes without them', async () => {
    world.upstream.control.setModel(GPT, { status: 500 });
    const response = await post({ input: 'fail over without', tools: [WEB_SEARCH] });
    expect([response.status, response.headers.get('x-failover')]).toEqual([200, 'true']);
    expect(response.headers.get('x-llm0-dropped')).toContain('tools.web_search');
  });

  test('only OpenAI knows its tools: where one is demanded, no stand-in is asked in its place', async () => {
    world.upstream.control.setModel(GPT, { status: 500 });
    const response = await post({ input: 'fail over not', tools: [WEB_SEARCH], tool_choice: 'required' });
    expect(response.status).toBe(502);
    expect(world.upstream.requests.every(({ path }) => path === '/v1/responses')).toBe(true);
  });

  test('upstream’s own refusals and failures', async () => {
    world.upstream.control.enqueue({ status: 422 });
    expect(await errorOf(await post({ input: 'a 422' }))).toMatchObject({ status: 422, code: 'upstream_rejected' });
    const failed = { object: 'response', status: 'failed', error: { code: 'server_error', message: 'no' }, output: [] };
    world.upstream.control.setDefault({ body: JSON.stringify(failed) });
    const { apiKey: key } = await createTestKey(world.gateway, { key: { allowed_models: [GPT] } });
    expect((await errorOf(await post({ input: 'failed', tools: [WEB_SEARCH] }, {}, key))).status).toBe(502);
  });

  test('a WebSocket on another path is 426: its client goes on by HTTP', async () => {
    const { port, hostname } = new URL(world.gateway.url);
    const told = Promise.withResolvers<string>();
    let text = '';
    const offer = [
      'GET /v1/chat/completions HTTP/1.1',
      `Host: ${hostname}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
    ];
    const socket = connect(Number(port), hostname, () => socket.write(`${offer.join('\r\n')}\r\n\r\n`));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (text.endsWith('}}')) told.resolve(text);
    });
    const [head = '', body = ''] = (await told.promise).split('\r\n\r\n');
    socket.destroy();
    expect(head).toMatch(/^HTTP\/1.1 426 .*\r\nupgrade: HTTP\/1.1/is);
    expect(JSON.parse(body).error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('HTTP') });
  });

  test('methods and paths', async () => {
    const { id } = await answerTo({ input: 'paths' });
    expect((await call('GET', '')).status).toBe(405);
    expect((await call('PUT', `/${id}`)).headers.get('allow')).toBe('GET, DELETE');
    expect(await errorOf(await call('POST', `/${id}/cancel`))).toMatchObject({ status: 400 });
    expect((await call('GET', `/${id}?stream=true`)).status).toBe(400);
    expect((await call('GET', `/${id}/input_items?limit=0`)).status).toBe(400);
    expect((await call('GET', `/${id}/input_items?order=up`)).status).toBe(400);
    expect((await call('GET', `/${id}/input_items?after=none`)).status).toBe(400);
    expect((await call('GET', '/resp_nothing')).status).toBe(404);
    expect((await call('GET', `/${id}/nothing`)).status).toBe(404);
  });

  test('the books are even', async () => {
    expect((await settledLedger(world.gateway)).ok).toBe(true);
  });
});

test(
  'without a retention nothing is kept, here or at the vendor, and the answer says so',
  async () => {
    const world = await shareEnvironment({ kind: 'real', env: { RESPONSES_RETENTION_DAYS: '0' } });
    try {
      const { apiKey } = await createTestKey(world.gateway);
      const headers = { authorization: `Bearer ${apiKey}` };
      const response = await fetch(`${world.gateway.url}/v1/responses`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ model: GPT, input: 'Hi', store: true }),
      });
      const answer = (await response.json()) as Answer;
      expect(answer.store).toBe(false);
      expect(world.upstream.requests.at(-1)?.body.store).toBe(false);
      expect((await fetch(`${world.gateway.url}/v1/responses/${answer.id}`, { headers })).status).toBe(404);
    } finally {
      await world.close();
    }
  },
  SETUP_MS,
);
