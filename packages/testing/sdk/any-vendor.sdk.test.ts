import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { logRow, shareEnvironment, type TestEnvironment } from '../e2e/environment';
import type { FakeBehaviour } from '../fake-upstream/behaviour';
import { createTestKey } from '../stores/start-gateway';

const SETUP_MS = 60_000;
const LOCAL = 'qwen2.5:14b';
/** One program, unchanged but for this name. */
const MODELS = [
  'gpt-4o-mini',
  'claude-haiku-4-5',
  'gemini-2.5-flash',
  LOCAL,
  'us.anthropic.claude-haiku-4-5-20251001-v1:0',
  'amazon.nova-2-lite-v1:0',
] as const;
type Model = (typeof MODELS)[number];

const WEATHER: OpenAI.ChatCompletionFunctionTool = {
  type: 'function',
  function: {
    name: 'weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const TIME: OpenAI.ChatCompletionFunctionTool = { type: 'function', function: { name: 'time' } };
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const CITY_FORMAT: OpenAI.ResponseFormatJSONSchema = {
  type: 'json_schema',
  json_schema: {
    name: 'city',
    strict: true,
    schema: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
};

type Body = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'model' | 'stream'>;
type Message = OpenAI.ChatCompletionMessage & { reasoning_content?: string };

/** What a program sees of an answer. */
interface View {
  readonly text: string;
  readonly calls: readonly (readonly [name: string, args: string])[];
  readonly finish: string | undefined;
  readonly reasoning: string;
  readonly refusal: string;
  readonly total: number | undefined;
  readonly message: OpenAI.ChatCompletionMessageParam;
  readonly requestId: string;
}

describe.each(MODELS)('the official SDK and %s', (model: Model) => {
  let world: TestEnvironment;
  let client: OpenAI;
  beforeAll(async () => {
    world = await sharedWorld();
    const { apiKey } = await createTestKey(world.gateway, { project: { cache_enabled: false } });
    client = new OpenAI({ apiKey, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
  }, SETUP_MS);
  beforeEach(() => world.upstream.control.reset());

  async function plain(body: Body): Promise<View> {
    const { data, response } = await client.chat.completions.create({ ...body, model }).withResponse();
    const [choice] = data.choices;
    if (choice === undefined) throw new Error('no choice');
    return viewOf(choice.message, choice.finish_reason, data.usage, response);
  }

  async function streamed(body: Body): Promise<View> {
    const { data, response } = await client.chat.completions.create({ ...body, model, stream: true }).withResponse();
    const message = { role: 'assistant', content: '', refusal: '' } as unknown as Message;
    const calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] = [];
    let finish: string | undefined;
    let usage: OpenAI.CompletionUsage | undefined;
    for await (const chunk of data) {
      usage = chunk.usage ?? usage;
      const [choice] = chunk.choices;
      const delta = choice?.delta as
        | (OpenAI.ChatCompletionChunk.Choice.Delta & { reasoning_content?: string })
        | undefined;
      message.content = (message.content ?? '') + (delta?.content ?? '');
      message.refusal = (message.refusal ?? '') + (delta?.refusal ?? '');
      if (delta?.reasoning_content)
        message.reasoning_content = (message.reasoning_content ?? '') + delta.reasoning_content;
      for (const { index, id, function: called } of delta?.tool_calls ?? []) {
        calls[index] ??= { id: id ?? '', type: 'function', function: { name: called?.name ?? '', arguments: '' } };
        const call = calls[index];
        if (call !== undefined) call.function.arguments += called?.arguments ?? '';
      }
      finish = choice?.finish_reason ?? finish;
    }
    if (calls.length > 0) message.tool_calls = calls;
    return viewOf(message, finish, usage, response);
  }

  function viewOf(
    message: Message,
    finish: string | undefined,
    usage: OpenAI.CompletionUsage | undefined,
    response: Response,
  ): View {
    const calls = (message.tool_calls ?? []).flatMap((call) => (call.type === 'function' ? [call.function] : []));
    return {
      text: message.content ?? '',
      calls: calls.map(({ name, arguments: args }) => [name, JSON.stringify(JSON.parse(args))] as const),
      finish,
      reasoning: message.reasoning_content ?? '',
      refusal: message.refusal ?? '',
      total: usage?.total_tokens,
      message,
      requestId: response.headers.get('x-request-id') ?? '',
    };
  }

  const WAYS = [plain, streamed];
  const next = (behaviour: FakeBehaviour) => world.upstream.control.enqueue(behaviour);
  const say = (content: string): Body => ({ messages: [{ role: 'user', content }] });
  const sent = () => JSON.stringify(world.upstream.requests.at(-1)?.body);

  test('words, their count and their price', async () => {
    for (const ask of WAYS) {
      next({ text: 'Grüße 🌍 to you', usage: { prompt: 12, completion: 7, cached: 4 } });
      const view = await ask({ ...say('Hi'), temperature: 0, max_tokens: 50 });
      expect(view).toMatchObject({ text: 'Grüße 🌍 to you', finish: 'stop', calls: [], total: 19 });
      const row = await logRow(world.gateway, view.requestId);
      expect([row.status, row.tokens_in, row.tokens_out]).toEqual(['success', 12, 7]);
      if (model === LOCAL) expect(row.cost_usd).toBe(0);
      else expect(row.cost_usd).toBeGreaterThan(0);
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
      const body = { ...say('Weather?'), tools: [WEATHER, TIME] };
      const called = await ask(body);
      expect(called).toMatchObject({
        calls: [
          ['weather', '{"city":"Zürich"}'],
          ['weather', '{"city":"Bern"}'],
        ],
        finish: 'tool_calls',
      });
      const ids = (called.message as OpenAI.ChatCompletionMessage).tool_calls?.map(({ id }) => id) ?? [];
      expect(new Set(ids).size).toBe(2);
      next({ text: 'Sunny in both.' });
      const results = ids.map((id, i) => ({ role: 'tool' as const, tool_call_id: id, content: `result ${i}` }));
      const answer = await ask({ ...body, messages: [...body.messages, called.message, ...results] });
      expect(answer).toMatchObject({ text: 'Sunny in both.', finish: 'stop' });
      for (const part of ['Weather?', 'Zürich', 'Bern', 'result 0', 'result 1']) expect(sent()).toContain(part);
    }
  });

  test('a tool without arguments', async () => {
    for (const ask of WAYS) {
      next({ toolCalls: [{ name: 'time', arguments: '{}' }] });
      const view = await ask({ ...say('Time?'), tools: [TIME], tool_choice: 'required' });
      expect(view).toMatchObject({ calls: [['time', '{}']], finish: 'tool_calls' });
    }
  });

  test('an answer that keeps to a JSON schema', async () => {
    for (const ask of WAYS) {
      next({ text: '{"city":"Bern"}' });
      const view = await ask({ ...say('Which city?'), response_format: CITY_FORMAT });
      expect([JSON.parse(view.text), view.finish]).toEqual([{ city: 'Bern' }, 'stop']);
      expect(sent()).toContain('city');
    }
  });

  test('an image arrives', async () => {
    for (const ask of WAYS) {
      next({ text: 'A pixel.' });
      const view = await ask({
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'image_url', image_url: { url: PIXEL } },
            ],
          },
        ],
      });
      expect(view).toMatchObject({ text: 'A pixel.', finish: 'stop' });
      expect(sent()).toContain(PIXEL.split(',')[1] ?? '');
    }
  });

  test('reasoning beside the answer', async () => {
    for (const ask of WAYS) {
      next({ reasoning: 'Six sevens…', text: '42' });
      const view = await ask({ ...say('6 × 7?'), reasoning_effort: 'medium' });
      expect(view).toMatchObject({ text: '42', reasoning: 'Six sevens…', finish: 'stop' });
    }
  });

  test('the limit reached', async () => {
    for (const ask of WAYS) {
      next({ text: 'Once upon a', finishReason: 'length' });
      expect(await ask({ ...say('A story'), max_tokens: 3 })).toMatchObject({ text: 'Once upon a', finish: 'length' });
    }
  });

  test('a refusal is told as one, in the words there are', async () => {
    for (const ask of WAYS) {
      next({ refusal: 'I cannot help with that.', finishReason: 'content_filter' });
      const view = await ask(say('Something bad'));
      expect(view.finish).toBe('content_filter');
      expect(['I cannot help with that.', '']).toContain(view.refusal + view.text);
      // Only one of them has no words for it.
      if (!model.startsWith('gemini')) expect(view.refusal + view.text).not.toBe('');
    }
  });

  test('a content filter', async () => {
    for (const ask of WAYS) {
      next({ text: 'Well', finishReason: 'content_filter' });
      expect(await ask(say('Something odd'))).toMatchObject({ text: 'Well', finish: 'content_filter' });
    }
  });

  test('a stream that breaks is an error, never an end', async () => {
    next({ chunks: 20, gapMs: 1, errorAfter: 5 });
    await expect(streamed(say('breaks'))).rejects.toBeInstanceOf(OpenAI.APIError);
  });
});

test('a local model is listed while its server has it, and is free', async () => {
  const world = await sharedWorld();
  const { apiKey } = await createTestKey(world.gateway);
  const client = new OpenAI({ apiKey, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
  const listed = await Array.fromAsync(client.models.list());
  const local = listed.filter((model) => model.owned_by === 'ollama').map(({ id }) => id);
  expect(local).toEqual([LOCAL]);
});

test('every dropped field is named, whatever its name and size', async () => {
  const world = await sharedWorld();
  const { apiKey } = await createTestKey(world.gateway);
  const many = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`field${index}`, 1]));
  for (const own of [{ 'two\nlines': 1 }, { 名: 1 }, many]) {
    const response = await fetch(`${world.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({
        model: 'gemini-2.5-flash',
        messages: [{ role: 'user', content: 'x', ...own }],
        user: 'somebody',
      }),
    });
    await response.text();
    const dropped = response.headers.get('x-llm0-dropped') ?? '';
    expect([response.status, dropped.slice(0, 17)]).toEqual([200, 'user,messages[0].']);
    expect(dropped.length).toBeLessThan(1100);
  }
});

test('a model may be called anything: its answer is not lost to a header', async () => {
  const world = await sharedWorld();
  const { apiKey } = await createTestKey(world.gateway, { project: { unknown_model_policy: 'allow_unpriced' } });
  const names = { 'openai/名': '%E5%90%8D', 'openai/two\nlines': 'two%0Alines' };
  for (const [model, shown] of Object.entries(names)) {
    const bodies = { 'chat/completions': { messages: [{ role: 'user', content: 'x' }] }, embeddings: { input: 'x' } };
    for (const [path, body] of Object.entries(bodies)) {
      const response = await fetch(`${world.gateway.url}/v1/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}` },
        body: JSON.stringify({ model, ...body }),
      });
      await response.text();
      expect([response.status, response.headers.get('x-model')]).toEqual([200, shown]);
    }
  }
});

let shared: Promise<TestEnvironment> | undefined;

function sharedWorld(): Promise<TestEnvironment> {
  shared ??= shareEnvironment({
    kind: 'real',
    localModels: [LOCAL],
    env: { FAILOVER_MODE: 'cloud_first', REQUEST_TIMEOUT: '5s' },
  });
  return shared;
}

afterAll(async () => (await shared)?.close(), SETUP_MS);
