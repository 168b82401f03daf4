import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { shareEnvironment, startOnServers, type TestEnvironment } from '../e2e/environment';
import type { FakeBehaviour } from '../fake-upstream/behaviour';
import { callAdmin, createTestKey } from '../stores/start-gateway';

const SETUP_MS = 60_000;
const MODEL = 'gpt-4o-mini';
const ask = (content: string): OpenAI.ChatCompletionMessageParam[] => [{ role: 'user', content }];
const WEATHER_TOOL: OpenAI.ChatCompletionFunctionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    strict: true,
  },
};
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('the official SDK for JavaScript', () => {
  let world: TestEnvironment;
  let client: OpenAI;
  beforeAll(async () => {
    world = await shareEnvironment({ kind: 'real', allVendors: false });
    client = await createClient();
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);

  const createClient = async (
    settings: Parameters<typeof createTestKey>[1] = { project: { cache_enabled: false } },
  ) => {
    const { apiKey } = await createTestKey(world.gateway, settings);
    return new OpenAI({ apiKey, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
  };
  const next = (behaviour: FakeBehaviour) => world.upstream.control.enqueue(behaviour);
  const sent = () => world.upstream.requests.at(-1)?.body;
  const failure = async (work: () => PromiseLike<unknown>) => {
    try {
      await work();
    } catch (error) {
      if (error instanceof OpenAI.APIError) return error;
      throw error;
    }
    throw new Error('nothing was refused');
  };

  test('plain: the answer, its usage, temperature 0 and fields it does not know arrive', async () => {
    next({ text: 'Grüße 🌍', usage: { prompt: 12, completion: 3 } });
    const { data, response, request_id } = await client.chat.completions
      .create({
        model: MODEL,
        messages: ask('plain'),
        temperature: 0,
        seed: 7,
        metadata: { trace: 'x' },
        ...{ vendor_extra: { deep: [1, null, 'ü'] } },
      })
      .withResponse();
    expect(data.choices[0]?.message.content).toBe('Grüße 🌍');
    expect(data.choices[0]?.finish_reason).toBe('stop');
    expect(data.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 });
    expect(data).toMatchObject({ cost_usd: 0.0000036, latency_ms: expect.any(Number) });
    expect(request_id).toBe(response.headers.get('x-request-id'));
    expect(sent() as unknown).toEqual({
      model: MODEL,
      messages: ask('plain'),
      temperature: 0,
      seed: 7,
      metadata: { trace: 'x' },
      vendor_extra: { deep: [1, null, 'ü'] },
    });
    expect(world.upstream.requests.at(-1)?.headers.authorization).toBe('Bearer sk-fake-upstream-key');
  });

  test.each([
    [undefined, 1],
    [{ include_usage: true }, 0],
  ])('stream (%j): chunk by chunk, usage once, at the end', async (stream_options, lastChoices) => {
    next({ text: 'one two three', usage: { prompt: 5, completion: 3 } });
    const body = { model: MODEL, messages: ask('stream'), stream: true, stream_options } as const;
    const stream = await client.chat.completions.create(body);
    let text = '';
    const usages: unknown[] = [];
    const ids = new Set<string>();
    for await (const chunk of stream) {
      expect(chunk.object).toBe('chat.completion.chunk');
      text += chunk.choices[0]?.delta.content ?? '';
      if (chunk.usage != null) usages.push([chunk.choices.length, chunk.usage.total_tokens]);
      ids.add(chunk.id);
    }
    expect(text).toBe('one two three');
    expect(usages).toEqual([[lastChoices, 8]]);
    expect(ids.size).toBe(1);
  });

  test('the stream helper puts the whole completion together', async () => {
    next({ text: 'a b c', usage: { prompt: 5, completion: 3 } });
    const runner = client.chat.completions.stream({ model: MODEL, messages: ask('helper') });
    const deltas: string[] = [];
    runner.on('content', (delta) => deltas.push(delta));
    const final = await runner.finalChatCompletion();
    expect(final.choices).toMatchObject([{ index: 0, message: { content: 'a b c' }, finish_reason: 'stop' }]);
    expect(deltas.join('')).toBe('a b c');
    expect((await runner.totalUsage()).completion_tokens).toBe(3);
  });

  test.each([false, true])('tools (stream: %p): the call comes back whole, the result is taken', async (stream) => {
    const body = { model: MODEL, messages: ask('weather?'), tools: [WEATHER_TOOL], tool_choice: 'auto' as const };
    next({ toolCalls: [{ name: 'get_weather', arguments: '{"city":"Zürich"}' }] });
    const completion = stream
      ? await client.chat.completions.stream(body).finalChatCompletion()
      : await client.chat.completions.create(body);
    const [choice] = completion.choices;
    expect(choice?.finish_reason).toBe('tool_calls');
    expect(choice?.message.tool_calls).toMatchObject([
      { type: 'function', function: { name: 'get_weather', arguments: '{"city":"Zürich"}' } },
    ]);
    expect(sent()).toMatchObject({ tools: [WEATHER_TOOL], tool_choice: 'auto' });
    const [call] = choice?.message.tool_calls ?? [];
    next({ text: 'sunny' });
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      ...body.messages,
      { role: 'assistant', content: null, tool_calls: call === undefined ? [] : [call] },
      { role: 'tool', tool_call_id: call?.id ?? '', content: '{"sky":"blue"}' },
    ];
    const answer = await client.chat.completions.create({ ...body, messages });
    expect(answer.choices[0]?.message.content).toBe('sunny');
    expect(sent()?.messages).toEqual(JSON.parse(JSON.stringify(messages)));
  });

  test.each([false, true])('runTools runs the loop to its end (stream: %p)', async (stream) => {
    next({ toolCalls: [{ name: 'get_weather', arguments: '{"city":"Bern"}' }] });
    next({ text: 'It rains in Bern.' });
    const asked: unknown[] = [];
    const runner = client.chat.completions.runTools({
      ...{ model: MODEL, stream: stream as false },
      messages: ask('weather in Bern?'),
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            description: 'Weather',
            parse: JSON.parse,
            function: (given: object) => {
              asked.push(given);
              return 'rain';
            },
            parameters: { type: 'object', properties: { city: { type: 'string' } } },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('It rains in Bern.');
    expect(asked).toEqual([{ city: 'Bern' }]);
  });

  test('JSON schema: the format arrives untouched and the answer parses', async () => {
    const response_format = {
      type: 'json_schema' as const,
      json_schema: {
        name: 'person',
        strict: true,
        schema: {
          type: 'object',
          properties: { name: { type: 'string' }, age: { anyOf: [{ type: 'integer' }, { type: 'null' }] } },
          required: ['name', 'age'],
          additionalProperties: false,
        },
      },
    };
    next({ text: '{"name":"Ann","age":null}' });
    const completion = await client.chat.completions.parse({ model: MODEL, messages: ask('who?'), response_format });
    expect(completion.choices[0]?.message.parsed as unknown).toEqual({ name: 'Ann', age: null });
    expect(sent()?.response_format).toEqual(response_format);
  });

  test('images arrive with their detail', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'what is it?' },
          { type: 'image_url', image_url: { url: PIXEL, detail: 'low' } },
          { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } },
        ],
      },
    ];
    next({ text: 'a pixel' });
    const completion = await client.chat.completions.create({ model: MODEL, messages });
    expect(completion.choices[0]?.message.content).toBe('a pixel');
    expect(sent()?.messages).toEqual(JSON.parse(JSON.stringify(messages)));
  });

  test('abort: the upstream is left within a second', async () => {
    const before = world.upstream.control.counters.cancelled;
    next({ chunks: 1000, gapMs: 20 });
    const stream = await client.chat.completions.create({ model: MODEL, messages: ask('long'), stream: true });
    let chunks = 0;
    for await (const _ of stream) {
      chunks += 1;
      if (chunks === 5) stream.controller.abort();
    }
    const endMs = performance.now() + 1000;
    while (world.upstream.control.counters.cancelled === before && performance.now() < endMs) await Bun.sleep(20);
    expect(world.upstream.control.counters.cancelled).toBe(before + 1);
    const plain = new AbortController();
    next({ firstDelayMs: 5000 });
    setTimeout(() => plain.abort(), 100);
    const refused = client.chat.completions.create({ model: MODEL, messages: ask('slow') }, { signal: plain.signal });
    expect(await failure(() => refused)).toBeInstanceOf(OpenAI.APIUserAbortError);
  });

  test('an error in the middle of a stream is thrown, not taken for the end', async () => {
    next({ chunks: 10, errorAfter: 3 });
    const stream = await client.chat.completions.create({ model: MODEL, messages: ask('breaks'), stream: true });
    let text = '';
    const error = await failure(async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    });
    expect(text).toBe('word word word ');
    expect(error.code).toBe('upstream_error');
  });

  test('models can be listed and looked up', async () => {
    const models = await Array.fromAsync(client.models.list());
    expect(models.map((model) => model.id)).toContain(MODEL);
    expect(await client.models.retrieve(MODEL)).toMatchObject({ id: MODEL, object: 'model', owned_by: 'openai' });
    expect(await failure(() => client.models.retrieve('no-such-model'))).toBeInstanceOf(OpenAI.NotFoundError);
  });

  describe('errors are of the same classes as with OpenAI itself', () => {
    const chat = (by: OpenAI, body: object = {}) =>
      failure(() => by.chat.completions.create({ model: MODEL, messages: ask('x'), ...body }));

    test('AuthenticationError', async () => {
      const error = await chat(new OpenAI({ apiKey: 'sk-wrong', baseURL: client.baseURL, maxRetries: 0 }));
      expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
      expect(error).toMatchObject({ status: 401, code: 'invalid_api_key', type: 'authentication_error' });
      expect(error.requestID).toMatch(/^[0-9a-f-]{36}$/);
    });

    test('a revoked key is refused at once', async () => {
      const { apiKey, projectId, keyId } = await createTestKey(world.gateway);
      const own = new OpenAI({ apiKey, baseURL: client.baseURL, maxRetries: 0 });
      await own.chat.completions.create({ model: MODEL, messages: ask('before') });
      await callAdmin(world.gateway, `/projects/${projectId}/keys/${keyId}`, { method: 'DELETE' });
      expect(await chat(own)).toBeInstanceOf(OpenAI.AuthenticationError);
    });

    test('PermissionDeniedError', async () => {
      const expired = await createClient({ key: { expires_at: '2020-01-01T00:00:00Z' } });
      expect(await chat(expired)).toBeInstanceOf(OpenAI.PermissionDeniedError);
      const limited = await createClient({ key: { allowed_models: ['gpt-4o'] } });
      expect(await chat(limited)).toMatchObject({ status: 403, code: 'model_not_allowed' });
    });

    test('NotFoundError', async () => {
      const error = await chat(client, { model: 'mini-gpt-4o' });
      expect(error).toBeInstanceOf(OpenAI.NotFoundError);
      expect(error).toMatchObject({
        code: 'model_not_found',
        param: 'model',
        message: expect.stringContaining('gpt-4o-mini'),
      });
    });

    test('BadRequestError, naming the field', async () => {
      for (const [body, param] of [
        [{ messages: [] }, 'messages'],
        [{ max_tokens: -1 }, 'max_tokens'],
        [{ temperature: 'hot' }, 'temperature'],
      ] as const) {
        const error = await chat(client, body);
        expect(error).toBeInstanceOf(OpenAI.BadRequestError);
        expect(error.param).toBe(param);
      }
      next({ status: 400 });
      expect(await chat(client)).toMatchObject({ status: 400, code: 'upstream_rejected' });
    });

    test('RateLimitError, with the time to wait', async () => {
      const limited = await createClient({ key: { rate_limit_per_minute: 1 } });
      await limited.chat.completions.create({ model: MODEL, messages: ask('first') });
      const error = await chat(limited);
      expect(error).toBeInstanceOf(OpenAI.RateLimitError);
      expect(error).toMatchObject({ code: 'rate_limit_exceeded', param: 'key' });
      expect(Number(error.headers?.get('retry-after'))).toBeWithin(1, 61);
    });

    test('402 where the money has run out', async () => {
      const poor = await createClient({ project: { monthly_cap_usd: '0.000000001' } });
      expect(await chat(poor)).toMatchObject({ status: 402, code: 'spend_cap_exceeded' });
    });

    test('InternalServerError for an upstream that fails', async () => {
      const failing = await createClient();
      for (let attempt = 0; attempt < 2; attempt++) next({ status: 500 });
      const error = await chat(failing, { messages: ask('fails') });
      expect(error).toBeInstanceOf(OpenAI.InternalServerError);
      expect(error).toMatchObject({ status: 502, code: 'upstream_error' });
      world.upstream.control.reset();
    });
  });
});

describe('the demo models, without any account', () => {
  test(
    'stream, plain and tools',
    async () => {
      const gateway = await startOnServers({}, { apart: true });
      try {
        const client = new OpenAI({ apiKey: gateway.apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
        const body = { model: 'demo-chat', messages: ask('hello') };
        const plain = await client.chat.completions.create(body);
        expect(plain.choices[0]?.message.content).toBeTruthy();
        const chunks = await Array.fromAsync(await client.chat.completions.create({ ...body, stream: true }));
        expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(
          plain.choices[0]?.message.content ?? '',
        );
        const called = await client.chat.completions.create({
          ...body,
          messages: ask('use the tool'),
          tools: [WEATHER_TOOL],
          tool_choice: 'required',
        });
        const [call] = called.choices[0]?.message.tool_calls ?? [];
        expect(call?.type === 'function' && call.function.name).toBe('get_weather');
        const models = await Array.fromAsync(client.models.list());
        expect(models.map((model) => model.id).sort()).toEqual(['demo-chat', 'demo-slow', 'local/all-MiniLM-L6-v2']);
      } finally {
        await gateway.stop();
      }
    },
    SETUP_MS,
  );
});
