import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatResponse } from '@llm0/core/chat/response';
import { collectEvents } from '@llm0/core/chat/testing/collect-events';
import { openai } from '@llm0/providers/openai/index';
import { ANY_REQUEST, decodeStream } from '@llm0/providers/provider.cases';
import type { FakeBehaviour } from '../fake-upstream/behaviour';
import { createTestKey } from '../stores/start-gateway';
import { logRow, postChat, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
/** One model of each vendor; the program never knows which it talks to. */
const BEDROCK = 'amazon.nova-2-lite-v1:0';
const COHERE = 'command-a-03-2025';
const MODELS = ['gpt-4o-mini', 'claude-haiku-4-5', 'gemini-2.5-flash', BEDROCK, COHERE] as const;
const OTHERS = MODELS.slice(1);

const WEATHER_TOOL = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'Weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const TIME_TOOL = { type: 'function', function: { name: 'time' } };
const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** What a program sees of an answer, whoever gave it. */
interface View {
  readonly text: string;
  readonly finish: string | undefined;
  readonly calls: readonly (readonly [string, string])[];
  readonly reasoning: string | undefined;
  readonly usage: readonly number[];
}

function viewOf(response: ChatResponse): View {
  const [choice] = response.choices;
  const { usage } = response;
  return {
    text: choice?.text ?? '',
    finish: choice?.finishReason,
    calls: (choice?.toolCalls ?? []).map((call) => [call.name, JSON.stringify(JSON.parse(call.arguments))]),
    reasoning: choice?.reasoning,
    usage:
      usage === undefined ? [] : [usage.inputTokens, usage.cacheReadTokens, usage.outputTokens + usage.reasoningTokens],
  };
}

interface Scenario {
  readonly request: JsonObject;
  readonly upstream: FakeBehaviour;
  readonly expected: Partial<View>;
  /** Of vendors that differ; null where they lack it. */
  readonly exceptions?: Readonly<Record<string, Partial<View> | null>>;
}

const say = (text: string): JsonObject => ({ messages: [{ role: 'user', content: text }] });

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'plain words': {
    request: { ...say('Hi'), temperature: 0, stop: ['END'], max_tokens: 50 },
    upstream: { text: 'Grüße, 世界 🌍!', usage: { prompt: 12, completion: 7, cached: 4 } },
    expected: { text: 'Grüße, 世界 🌍!', finish: 'stop', usage: [8, 4, 7] },
    // Its bill knows no cache.
    exceptions: { [COHERE]: { usage: [12, 0, 7] } },
  },
  'two parallel tool calls': {
    request: { ...say('Weather and time?'), tools: [WEATHER_TOOL, TIME_TOOL], tool_choice: 'auto' },
    upstream: {
      toolCalls: [
        { name: 'weather', arguments: '{"city":"Zürich"}' },
        { name: 'weather', arguments: '{"city":"Bern"}' },
      ],
    },
    expected: {
      calls: [
        ['weather', '{"city":"Zürich"}'],
        ['weather', '{"city":"Bern"}'],
      ],
      finish: 'tool_calls',
    },
  },
  'a tool without arguments': {
    request: { ...say('Time?'), tools: [TIME_TOOL], tool_choice: 'required' },
    upstream: { toolCalls: [{ name: 'time', arguments: '{}' }] },
    expected: { calls: [['time', '{}']], finish: 'tool_calls' },
  },
  'a JSON schema': {
    request: {
      ...say('Which city?'),
      response_format: { type: 'json_schema', json_schema: { name: 'city', schema: SCHEMA, strict: true } },
    },
    upstream: { text: '{"city":"Bern"}' },
    expected: { text: '{"city":"Bern"}', finish: 'stop' },
  },
  'an image': {
    request: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: PIXEL } },
          ],
        },
      ],
    },
    upstream: { text: 'A pixel.' },
    expected: { text: 'A pixel.', finish: 'stop' },
    // Others of its models see.
    exceptions: { [COHERE]: null },
  },
  reasoning: {
    request: { ...say('6 × 7?'), reasoning_effort: 'medium' },
    upstream: { reasoning: 'Six sevens…', text: '42' },
    expected: { text: '42', reasoning: 'Six sevens…', finish: 'stop' },
    // Another of its models thinks.
    exceptions: { [COHERE]: null },
  },
  'the limit reached': {
    request: { ...say('A story'), max_tokens: 3 },
    upstream: { text: 'Once upon a', finishReason: 'length' },
    expected: { text: 'Once upon a', finish: 'length' },
  },
  'a content filter': {
    request: say('Something odd'),
    upstream: { text: 'Well', finishReason: 'content_filter' },
    expected: { text: 'Well', finish: 'content_filter' },
  },
};

describe('one program, any vendor', () => {
  let world: TestEnvironment;
  let apiKey: string;
  beforeAll(async () => {
    world = await shareEnvironment({
      kind: 'real',
      env: ({ url }) => ({
        ...{ REQUEST_TIMEOUT: '1s', ANSWER_TIMEOUT: '1s', STREAM_IDLE_TIMEOUT: '1s', FAILOVER_MODE: 'cloud_only' },
        ...{ COHERE_API_KEY: 'fake-cohere-upstream-key', COHERE_BASE_URL: url },
      }),
    });
    apiKey = (await createTestKey(world.gateway, { project: { cache_enabled: false } })).apiKey;
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);
  beforeEach(() => world.upstream.control.reset());

  const post = (body: JsonObject, headers?: Record<string, string>) =>
    postChat(world.gateway, apiKey, body, { headers });

  async function ask(body: JsonObject): Promise<{ response: ChatResponse; id: string; headers: Headers }> {
    const answer = await post(body);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    expect([answer.status, answer.status === 200 ? '' : new TextDecoder().decode(bytes)]).toEqual([200, '']);
    const { events, error } =
      body.stream === true
        ? decodeStream(openai, [bytes])
        : { events: openai.decodeResponse(bytes, ANY_REQUEST).events, error: undefined };
    expect(error).toBeUndefined();
    return { response: collectEvents(events), id: answer.headers.get('x-request-id') ?? '', headers: answer.headers };
  }

  for (const [name, { request, upstream, expected, exceptions = {} }] of Object.entries(SCENARIOS)) {
    test.each(MODELS.filter((model) => exceptions[model] !== null))(`${name}: %s`, async (model) => {
      for (const stream of [false, true]) {
        world.upstream.control.setModel(model, upstream);
        const { response, id } = await ask({ ...request, model, stream });
        expect(viewOf(response)).toMatchObject({ ...expected, ...exceptions[model] });
        const row = await logRow(world.gateway, id);
        expect(row).toMatchObject({ status: 'success', stream, cost_estimated: false });
        expect(row.cost_usd).toBeGreaterThan(0);
      }
    });
  }

  test.each(MODELS)('results of tools are sent back: %s', async (model) => {
    const { request, upstream } = SCENARIOS['two parallel tool calls'] as Scenario;
    for (const stream of [false, true]) {
      world.upstream.control.setModel(model, upstream);
      const { response } = await ask({ ...request, model, stream });
      const calls = response.choices[0]?.toolCalls ?? [];
      world.upstream.control.setModel(model, { text: 'Sunny in both.' });
      const called = calls.map(({ arguments: args, name, id, ...rest }) => ({
        id,
        type: 'function',
        function: { name, arguments: args },
        ...rest,
      }));
      const messages = [
        ...(request.messages as JsonObject[]),
        { role: 'assistant', content: null, tool_calls: called },
        ...calls.map(({ id }, i) => ({ role: 'tool', tool_call_id: id, content: `result ${i}` })),
      ];
      const next = await ask({ ...request, model, stream, messages });
      expect(viewOf(next.response)).toMatchObject({ text: 'Sunny in both.', finish: 'stop' });
      const sent = JSON.stringify(world.upstream.requests.at(-1)?.body);
      for (const part of ['Weather and time?', 'Zürich', 'Bern', 'result 0', 'result 1']) expect(sent).toContain(part);
    }
  });

  test.each(['gpt-4o-mini', 'claude-haiku-4-5'])('a refusal in words: %s', async (model) => {
    world.upstream.control.setModel(model, { refusal: 'I cannot help with that.', finishReason: 'content_filter' });
    for (const stream of [false, true]) {
      const { response } = await ask({ ...say('Something bad'), model, stream });
      expect(response.choices[0]).toMatchObject({
        refusal: 'I cannot help with that.',
        finishReason: 'content_filter',
      });
    }
  });

  test('a vendor without words of refusal just stops', async () => {
    world.upstream.control.setDefault({ refusal: 'unused' });
    for (const stream of [false, true]) {
      const { response } = await ask({ ...say('Something bad'), model: 'gemini-2.5-flash', stream });
      expect(viewOf(response)).toMatchObject({ text: '', finish: 'content_filter' });
      expect(response.choices[0]?.nativeFinishReason).toBe('SAFETY');
    }
  });

  test('keys go in their own headers, and never in a URL', async () => {
    for (const model of MODELS) await ask({ ...say('Hi'), model });
    const [first, second, third, fourth, fifth] = world.upstream.requests;
    expect(first?.headers.authorization).toBe('Bearer sk-fake-upstream-key');
    expect(second?.headers).toMatchObject({
      'x-api-key': 'sk-ant-fake-upstream-key',
      'anthropic-version': '2023-06-01',
    });
    expect(third?.headers['x-goog-api-key']).toBe('AIza-fake-upstream-key');
    expect(third?.path).toBe('/v1beta/models/gemini-2.5-flash:generateContent');
    expect(fourth?.headers.authorization).toStartWith('AWS4-HMAC-SHA256 Credential=AKIAFAKEUPSTREAMKEY0/');
    expect(JSON.stringify(fourth)).not.toContain('fake-upstream-secret-key');
    expect([fifth?.path, fifth?.headers.authorization]).toEqual(['/v2/chat', 'Bearer fake-cohere-upstream-key']);
    for (const { headers } of world.upstream.requests) expect(JSON.stringify(headers)).not.toContain(apiKey);
  });

  test.each(OTHERS)('storage that only OpenAI offers is named as dropped: %s', async (model) => {
    for (const [store, named] of [
      [true, 'store'],
      [false, null],
    ] as const) {
      const answer = await post({ model, ...say(`keep ${store}`), max_tokens: 20, store });
      expect([answer.status, answer.headers.get('x-llm0-dropped')]).toEqual([200, named]);
      await answer.text();
    }
  });

  test.each(OTHERS)('unsupported parameters are refused, or dropped and named: %s', async (model) => {
    const body = { ...say('Hi'), model, logit_bias: { '50256': -100 } };
    const refused = await post(body);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { code: 'unsupported_parameter', param: 'logit_bias' } });
    const dropped = await post(body, { 'x-llm0-drop-params': 'true' });
    expect([dropped.status, dropped.headers.get('x-llm0-dropped')]).toEqual([200, 'logit_bias']);
    await dropped.text();
  });

  test('an image URL within the house is not fetched', async () => {
    const image = { type: 'image_url', image_url: { url: `${world.upstream.url}/counters` } };
    const answer = await post({ model: 'gemini-2.5-flash', messages: [{ role: 'user', content: [image] }] });
    expect(answer.status).toBe(400);
    const { error } = (await answer.json()) as { error: { message: string } };
    expect(error.message).toContain('public address');
  });

  test.each<[string, FakeBehaviour]>([
    ['an error after 5 pieces', { errorAfter: 5 }],
    ['a reset after 5 pieces', { resetAfter: 5 }],
    ['the end after 5 pieces', { truncateAfter: 5 }],
    ['silence after 5 pieces', { hangAfter: 5 }],
    ['no word of the end', { noDone: true }],
  ])('%s: an error frame, no [DONE], what came is booked', async (_name, behaviour) => {
    const checkModel = async (model: string) => {
      world.upstream.control.setModel(model, { chunks: 20, gapMs: 1, ...behaviour });
      const answer = await post({ ...say('Hi'), model, stream: true });
      const text = await answer.text();
      expect([model, answer.status]).toEqual([model, 200]);
      expect(text).toContain('"error":{');
      expect(text).not.toContain('[DONE]');
      expect(text).not.toMatch(/"finish_reason":"/);
      const row = await logRow(world.gateway, answer.headers.get('x-request-id') ?? '');
      expect(row.status).toBe('error');
      expect(row.tokens_out).toBeGreaterThanOrEqual(4);
    };
    await Promise.all(OTHERS.map(checkModel));
  });

  test.each<[string, FakeBehaviour, number, string]>([
    ['a page', { html: true }, 502, 'upstream_error'],
    ['nothing at all', { empty: true }, 502, 'upstream_error'],
    ['a 529', { status: 529 }, 502, 'upstream_error'],
    ['a 401', { status: 401 }, 502, 'upstream_error'],
    ['a 429', { status: 429, retryAfter: '7' }, 429, 'upstream_rate_limited'],
    ['its own 400', { status: 400 }, 400, 'upstream_rejected'],
  ])('%s: one clear error', async (_name, behaviour, status, code) => {
    // Every model behaves so: with failover on, the last one's word counts.
    world.upstream.control.setDefault(behaviour);
    for (const model of OTHERS) {
      for (const stream of [false, true]) {
        const answer = await post({ ...say('Hi'), model, stream });
        const body = (await answer.json()) as { error: { code: string; message: string } };
        expect([model, answer.status, body.error.code]).toEqual([model, status, code]);
        expect(body.error.message).not.toMatch(/sk-ant|AIza/);
        if (status === 503) expect(answer.headers.get('retry-after')).toBe('7');
      }
    }
  });
});
