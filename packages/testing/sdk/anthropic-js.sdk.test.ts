import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import { logRow, shareEnvironment, type TestEnvironment, waitUntil } from '../e2e/environment';
import type { FakeBehaviour } from '../fake-upstream/behaviour';
import { createTestKey } from '../stores/start-gateway';

const SETUP_MS = 60_000;
/** One program, unchanged but for this name. */
const MODELS = [
  'claude-haiku-4-5',
  'gpt-4o-mini',
  'gpt-5-mini',
  'gemini-2.5-flash',
  'amazon.nova-2-lite-v1:0',
] as const;
type Model = (typeof MODELS)[number];

const WEATHER: Anthropic.Tool = {
  name: 'weather',
  description: 'Weather of a city',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const TIME: Anthropic.Tool = { name: 'time', input_schema: { type: 'object', properties: {} } };
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

type Body = Omit<Anthropic.MessageCreateParamsNonStreaming, 'model' | 'stream' | 'max_tokens'>;

let shared: Promise<TestEnvironment> | undefined;

function sharedWorld(): Promise<TestEnvironment> {
  shared ??= shareEnvironment({
    kind: 'real',
    env: { FAILOVER_MODE: 'cloud_only', REQUEST_TIMEOUT: '5s' },
  });
  return shared;
}

afterAll(async () => (await shared)?.close(), SETUP_MS);

describe.each(MODELS)('the official SDK and %s', (model: Model) => {
  let world: TestEnvironment;
  let client: Anthropic;
  beforeAll(async () => {
    world = await sharedWorld();
    const { apiKey } = await createTestKey(world.gateway, { project: { cache_enabled: false } });
    client = new Anthropic({ apiKey, baseURL: world.gateway.url, maxRetries: 0 });
  }, SETUP_MS);
  beforeEach(() => world.upstream.control.reset());

  const plain = (body: Body) => client.messages.create({ max_tokens: 2000, ...body, model });
  /** The SDK's own accumulator, which throws on any slip. */
  const streamed = (body: Body) => client.messages.stream({ max_tokens: 2000, ...body, model }).finalMessage();
  const WAYS = [plain, streamed];
  const next = (behaviour: FakeBehaviour) => world.upstream.control.enqueue(behaviour);
  const say = (content: string): Body => ({ messages: [{ role: 'user', content }] });
  const sent = () => JSON.stringify(world.upstream.requests.at(-1)?.body);
  const textOf = ({ content }: Anthropic.Message) =>
    content.map((block) => (block.type === 'text' ? block.text : '')).join('');

  test('words, their count and their price', async () => {
    for (const ask of WAYS) {
      next({ text: 'Grüße 🌍 to you', usage: { prompt: 12, completion: 7, cached: 4 } });
      const message = await ask({ ...say('Hi'), system: 'Be brief.', stop_sequences: ['END'], ...{ temperature: 0 } });
      expect(message).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn' });
      expect(message.content).toMatchObject([{ type: 'text', text: 'Grüße 🌍 to you' }]);
      expect(message.usage).toMatchObject({ input_tokens: 8, cache_read_input_tokens: 4, output_tokens: 7 });
      for (const part of ['Be brief.', 'END']) expect(sent()).toContain(part);
      if (!('_request_id' in message)) continue;
      const row = await logRow(world.gateway, String(message._request_id));
      expect(row).toMatchObject({ status: 'success', tokens_in: 12, tokens_out: 7 });
    }
  });

  test('two parallel calls, whose results are sent back', async () => {
    for (const ask of WAYS) {
      next({
        toolCalls: [
          { name: 'weather', arguments: '{"city":"Zürich"}' },
          { name: 'weather', arguments: '{"city":"Bern"}' },
        ],
      });
      const body = { ...say('Weather?'), tools: [WEATHER, TIME], tool_choice: { type: 'auto' as const } };
      const called = await ask(body);
      const calls = called.content.filter((block) => block.type === 'tool_use');
      expect(calls.map(({ name, input }) => [name, input])).toEqual([
        ['weather', { city: 'Zürich' }],
        ['weather', { city: 'Bern' }],
      ]);
      expect([called.stop_reason, new Set(calls.map(({ id }) => id)).size]).toEqual(['tool_use', 2]);
      next({ text: 'Sunny in both.' });
      const results = calls.map(({ id }, i) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: `result ${i}`,
      }));
      const messages: Anthropic.MessageParam[] = [
        ...body.messages,
        { role: 'assistant', content: called.content },
        { role: 'user', content: results },
      ];
      const answer = await ask({ ...body, messages });
      expect([textOf(answer), answer.stop_reason]).toEqual(['Sunny in both.', 'end_turn']);
      for (const part of ['Weather?', 'Zürich', 'Bern', 'result 0', 'result 1']) expect(sent()).toContain(part);
    }
  });

  test('a tool that must be called, without arguments', async () => {
    for (const ask of WAYS) {
      next({ toolCalls: [{ name: 'time', arguments: '{}' }] });
      const message = await ask({ ...say('Time?'), tools: [TIME], tool_choice: { type: 'any' } });
      expect(message.content).toMatchObject([{ type: 'tool_use', name: 'time', input: {} }]);
      expect(message.stop_reason).toBe('tool_use');
    }
  });

  test('an image and a document arrive', async () => {
    for (const ask of WAYS) {
      next({ text: 'A pixel.' });
      const message = await ask({
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
              { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a note' } },
            ],
          },
        ],
      });
      expect(textOf(message)).toBe('A pixel.');
      expect(sent()).toContain(PIXEL);
      expect(sent().includes('a note') || sent().includes(Buffer.from('a note').toString('base64'))).toBe(true);
    }
  });

  test('thoughts, shown where they are asked for, and sent back', async () => {
    // Its maker gives this model no budget of thoughts.
    if (model.startsWith('amazon')) return;
    for (const ask of WAYS) {
      next({ reasoning: 'Six sevens…', text: '42' });
      const body = { ...say('6 × 7?'), thinking: { type: 'enabled' as const, budget_tokens: 1024 } };
      const message = await ask(body);
      expect(message.content).toMatchObject([
        { type: 'thinking', thinking: 'Six sevens…', signature: expect.any(String) },
        { type: 'text', text: '42' },
      ]);
      next({ text: 'Sure.' });
      const messages: Anthropic.MessageParam[] = [
        ...body.messages,
        { role: 'assistant', content: message.content },
        { role: 'user', content: 'Sure?' },
      ];
      expect(textOf(await ask({ ...body, messages }))).toBe('Sure.');
      expect(sent()).not.toContain('llm0.');
    }
  });

  test('the limit reached', async () => {
    for (const ask of WAYS) {
      next({ text: 'Once upon a', finishReason: 'length' });
      const message = await ask(say('A story'));
      expect([textOf(message), message.stop_reason]).toEqual(['Once upon a', 'max_tokens']);
    }
  });

  test('a refusal', async () => {
    for (const ask of WAYS) {
      next({ refusal: 'I cannot help with that.', finishReason: 'content_filter' });
      expect((await ask(say('Something bad'))).stop_reason).toBe('refusal');
    }
  });

  test('events come one by one, and a caller that leaves cancels the upstream', async () => {
    next({ chunks: 1000, gapMs: 10 });
    const stream = await client.messages.create({ ...say('long'), max_tokens: 2000, model, stream: true });
    const types: string[] = [];
    for await (const event of stream) {
      types.push(event.type);
      if (types.filter((type) => type === 'content_block_delta').length === 3) break;
    }
    expect(types.slice(0, 2)).toEqual(['message_start', 'content_block_start']);
    await waitUntil(() => world.upstream.control.counters.cancelled === 1);
  });

  test('a stream that breaks is an error, never an end', async () => {
    next({ chunks: 20, gapMs: 1, errorAfter: 5 });
    const error = await streamed(say('breaks')).then(
      () => undefined,
      (cause: unknown) => cause,
    );
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect((error as InstanceType<typeof Anthropic.APIError>).message).toContain('upstream_error');
  });
});

describe('the official SDK, whatever the model', () => {
  let world: TestEnvironment;
  const MODEL = 'claude-haiku-4-5';
  const body = { model: MODEL, max_tokens: 50, messages: [{ role: 'user' as const, content: 'x' }] };
  const clientOf = async (settings: Parameters<typeof createTestKey>[1] = {}) => {
    const { apiKey } = await createTestKey(world.gateway, settings);
    return new Anthropic({ apiKey, baseURL: world.gateway.url, maxRetries: 0 });
  };
  const failureOf = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => undefined,
      (cause: unknown) => cause,
    );
    if (error instanceof Anthropic.APIError) return error;
    throw new Error('nothing was refused');
  };
  beforeAll(async () => {
    world = await sharedWorld();
  }, SETUP_MS);
  beforeEach(() => world.upstream.control.reset());

  test('Bearer instead of x-api-key, beta features, and its own request id', async () => {
    const { apiKey } = await createTestKey(world.gateway);
    const client = new Anthropic({ authToken: apiKey, apiKey: null, baseURL: world.gateway.url, maxRetries: 0 });
    const message = await client.beta.messages.create({ ...body, betas: ['context-1m-2025-08-07'] });
    expect(message._request_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(world.upstream.requests.at(-1)?.headers['anthropic-beta']).toBe('context-1m-2025-08-07');
  });

  test('counting tokens', async () => {
    const client = await clientOf();
    const { max_tokens: _limit, ...question } = body;
    expect(await client.messages.countTokens(question)).toMatchObject({ input_tokens: 14 });
    const guess = await client.messages.countTokens({ ...question, model: 'gpt-4o-mini' });
    expect(guess).toMatchObject({ input_tokens: expect.any(Number), estimated: true });
  });

  test('models, over all pages', async () => {
    const client = await clientOf();
    const ids = (await Array.fromAsync(client.models.list({ limit: 7 }))).map(({ id }) => id);
    expect(ids).toContain(MODEL);
    expect(ids).toContain('gpt-4o-mini');
    expect(new Set(ids).size).toBe(ids.length);
    expect(await client.models.retrieve(MODEL)).toMatchObject({ id: MODEL, type: 'model' });
  });

  test.each<[string, Parameters<typeof createTestKey>[1], object, unknown, object]>([
    ['AuthenticationError', undefined, {}, Anthropic.AuthenticationError, { status: 401 }],
    [
      'PermissionDeniedError',
      { key: { expires_at: '2020-01-01T00:00:00Z' } },
      {},
      Anthropic.PermissionDeniedError,
      { status: 403 },
    ],
    ['NotFoundError', {}, { model: 'nothing-like-it' }, Anthropic.NotFoundError, { status: 404 }],
    ['BadRequestError', {}, { messages: [] }, Anthropic.BadRequestError, { status: 400 }],
    ['402', { project: { monthly_cap_usd: '0.000000001' } }, {}, Anthropic.APIError, { status: 402 }],
  ])('%s', async (_name, settings, more, type, expected) => {
    const client =
      settings === undefined
        ? new Anthropic({ apiKey: 'sk-ant-wrong', baseURL: world.gateway.url, maxRetries: 0 })
        : await clientOf(settings);
    const error = await failureOf(client.messages.create({ ...body, ...more }));
    expect(error).toBeInstanceOf(type as never);
    expect(error).toMatchObject({ ...expected, requestID: expect.any(String), error: { type: 'error' } });
  });

  test('RateLimitError, with the time to wait', async () => {
    const client = await clientOf({ key: { rate_limit_per_minute: 1 } });
    await client.messages.create(body);
    const error = await failureOf(client.messages.create(body));
    expect(error).toBeInstanceOf(Anthropic.RateLimitError);
    expect(Number(error.headers?.get('retry-after'))).toBeWithin(1, 61);
  });

  test('InternalServerError for an upstream that fails', async () => {
    world.upstream.control.setDefault({ status: 500 });
    const error = await failureOf((await clientOf()).messages.create(body));
    expect(error).toBeInstanceOf(Anthropic.InternalServerError);
    expect(error).toMatchObject({ status: 502, error: { error: { type: 'api_error', code: 'upstream_error' } } });
  });
});
