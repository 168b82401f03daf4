import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { logRow, shareEnvironment, type TestEnvironment, waitUntil } from '../e2e/environment';
import type { FakeBehaviour } from '../fake-upstream/behaviour';
import { createTestKey } from '../stores/start-gateway';

type Responses = OpenAI.Responses.Response;
type Body = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'model' | 'stream'>;

const SETUP_MS = 60_000;
/** One program, unchanged but for this name. */
const MODELS = ['gpt-4o-mini', 'claude-haiku-4-5', 'gemini-2.5-flash', 'us.anthropic.claude-haiku-4-5-20251001-v1:0'];
const WEATHER: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'weather',
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const CITY: OpenAI.Responses.ResponseTextConfig = {
  format: {
    type: 'json_schema',
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
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let shared: Promise<TestEnvironment> | undefined;
const sharedWorld = () => {
  shared ??= shareEnvironment({ kind: 'real', env: { REQUEST_TIMEOUT: '5s' } });
  return shared;
};
afterAll(async () => (await shared)?.close(), SETUP_MS);

describe.each(MODELS)('the official SDK and %s over Responses', (model) => {
  let world: TestEnvironment;
  let client: OpenAI;
  beforeAll(async () => {
    world = await sharedWorld();
    const { apiKey } = await createTestKey(world.gateway, { project: { cache_enabled: false } });
    client = new OpenAI({ apiKey, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
  }, SETUP_MS);
  beforeEach(() => world.upstream.control.reset());

  const next = (behaviour: FakeBehaviour) => world.upstream.control.enqueue(behaviour);
  const sent = () => JSON.stringify(world.upstream.requests.at(-1)?.body);
  const plain = (body: Body): Promise<Responses> => client.responses.create({ ...body, model });
  /** The SDK's accumulator throws on any slip in the order or the ids of events. */
  const streamed = async (body: Body): Promise<Responses> => {
    const runner = client.responses.stream({ ...body, model });
    const numbers: number[] = [];
    runner.on('event', (event) => numbers.push(event.sequence_number));
    const final = await runner.finalResponse();
    expect(numbers).toEqual(numbers.map((_, i) => i));
    return final;
  };
  const WAYS = [plain, streamed];
  const callsOf = ({ output }: Responses) =>
    output
      .flatMap((item) => (item.type === 'function_call' ? [item] : []))
      .map(({ name, arguments: args }) => [name, args]);
  const reasoningOf = ({ output }: Responses) =>
    output.flatMap((item) => (item.type === 'reasoning' ? item.summary.map(({ text }) => text) : [])).join('');

  test('words, their count and their price', async () => {
    for (const ask of WAYS) {
      next({ text: 'Grüße 🌍 to you', usage: { prompt: 12, completion: 7, cached: 4 } });
      const answer = await ask({ input: 'Hi', instructions: 'Be kind', temperature: 0, max_output_tokens: 50 });
      expect(answer).toMatchObject({
        object: 'response',
        status: 'completed',
        output_text: 'Grüße 🌍 to you',
        instructions: 'Be kind',
        max_output_tokens: 50,
        usage: { input_tokens: 12, output_tokens: 7, total_tokens: 19 },
      });
      expect(answer.usage?.input_tokens_details.cached_tokens).toBe(4);
      expect(answer).toHaveProperty('cost_usd', expect.any(Number));
      expect(answer.id).toMatch(/^resp_[0-9a-f]{32}$/);
      expect(sent()).toContain('Be kind');
    }
  });

  test('the row says which dialect, what was used and what it cost', async () => {
    const { data, request_id } = await client.responses.create({ model, input: 'row' }).withResponse();
    expect(data.status).toBe('completed');
    const row = await logRow(world.gateway, request_id ?? '');
    expect(row).toMatchObject({ dialect: 'openai-responses', status: 'success', tokens_in: 10, tokens_out: 20 });
    expect(row.cost_usd).toBeGreaterThan(0);
  });

  test('two parallel calls, whose items and results are sent back', async () => {
    for (const ask of WAYS) {
      next({
        toolCalls: [
          { name: 'weather', arguments: '{"city":"Zürich"}' },
          { name: 'weather', arguments: '{"city":"Bern"}' },
        ],
      });
      const body = { input: [{ role: 'user' as const, content: 'Weather?' }], tools: [WEATHER] };
      const called = await ask(body);
      expect(callsOf(called)).toEqual([
        ['weather', '{"city":"Zürich"}'],
        ['weather', '{"city":"Bern"}'],
      ]);
      const calls = called.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
      expect(new Set(calls.map(({ call_id }) => call_id)).size).toBe(2);
      const results = calls.map(({ call_id }, i) => ({
        type: 'function_call_output' as const,
        call_id,
        output: `result ${i}`,
      }));
      next({ text: 'Sunny in both.' });
      const input = [...body.input, ...called.output, ...results] as OpenAI.Responses.ResponseInput;
      expect((await ask({ ...body, input })).output_text).toBe('Sunny in both.');
      for (const part of ['Weather?', 'Zürich', 'Bern', 'result 0', 'result 1']) expect(sent()).toContain(part);
    }
  });

  test('an earlier answer is gone on from by its id, tools included', async () => {
    for (const ask of WAYS) {
      next({ toolCalls: [{ name: 'weather', arguments: '{"city":"Bern"}' }], reasoning: 'Look it up.' });
      const first = await ask({ input: 'Weather in Bern?', tools: [WEATHER] });
      const call = first.output.find((item) => item.type === 'function_call');
      next({ text: 'Sunny.' });
      const second = await ask({
        previous_response_id: first.id,
        tools: [WEATHER],
        input: [{ type: 'function_call_output', call_id: call?.call_id ?? '', output: 'result sunny' }],
      });
      expect(second).toMatchObject({ previous_response_id: first.id, output_text: 'Sunny.' });
      next({ text: 'Yes.' });
      await ask({ previous_response_id: second.id, input: 'Sure?' });
      const body = sent();
      for (const part of ['Weather in Bern?', '"city', 'result sunny', 'Sunny.', 'Sure?']) expect(body).toContain(part);
      expect(body).not.toContain('resp_');
      expect(body).not.toContain('_llm0');
    }
  });

  test('an answer that keeps to a JSON schema', async () => {
    for (const ask of WAYS) {
      next({ text: '{"city":"Bern"}' });
      const answer = await ask({ input: 'Which city?', text: CITY });
      expect(JSON.parse(answer.output_text)).toEqual({ city: 'Bern' });
      expect(sent()).toContain('city');
    }
  });

  test('an image arrives', async () => {
    for (const ask of WAYS) {
      next({ text: 'A pixel.' });
      const content: OpenAI.Responses.ResponseInputMessageContentList = [
        { type: 'input_text', text: 'What is this?' },
        { type: 'input_image', image_url: PIXEL, detail: 'auto' },
      ];
      expect((await ask({ input: [{ role: 'user', content }] })).output_text).toBe('A pixel.');
      expect(sent()).toContain(PIXEL.split(',')[1] ?? '');
    }
  });

  test('reasoning beside the answer, sent back with it', async () => {
    for (const ask of WAYS) {
      next({ reasoning: 'Six sevens…', text: '42' });
      const answer = await ask({ input: '6 × 7?', reasoning: { effort: 'medium', summary: 'auto' } });
      expect([reasoningOf(answer), answer.output_text]).toEqual(['Six sevens…', '42']);
      next({ text: '43' });
      const input = [{ role: 'user', content: '6 × 7?' }, ...answer.output, { role: 'user', content: 'plus 1?' }];
      expect((await ask({ input: input as OpenAI.Responses.ResponseInput })).output_text).toBe('43');
    }
  });

  test('the limit reached', async () => {
    for (const ask of WAYS) {
      next({ text: 'Once upon a', finishReason: 'length' });
      expect(await ask({ input: 'A story', max_output_tokens: 16 })).toMatchObject({
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        output_text: 'Once upon a',
      });
    }
  });

  test('an abort leaves the upstream', async () => {
    next({ chunks: 1000, gapMs: 10 });
    const stream = await client.responses.create({ model, input: 'long', stream: true });
    let seen = 0;
    for await (const event of stream) if (event.type === 'response.output_text.delta' && ++seen === 3) break;
    await waitUntil(() => world.upstream.control.counters.cancelled === 1);
  });

  test('a stream that breaks is an error, never an end', async () => {
    next({ chunks: 20, gapMs: 1, errorAfter: 5 });
    await expect(streamed({ input: 'breaks' })).rejects.toBeInstanceOf(OpenAI.APIError);
    next({ chunks: 20, gapMs: 1, errorAfter: 5 });
    const response = await client.responses.create({ model, input: 'breaks', stream: true }).asResponse();
    const text = await response.text();
    expect(text).toContain('event: error\n');
    expect(text).toContain('event: response.failed\n');
    expect(text).not.toContain('response.completed');
  });

  test('refusals of the gateway are the errors of the SDK', async () => {
    const refused = async (body: object) => await client.responses.create({ model, input: 'x', ...body } as never);
    await expect(refused({ background: true })).rejects.toMatchObject({ status: 400, param: 'background' });
    await expect(refused({ model: 'no-such-model' })).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(refused({ input: [] })).rejects.toMatchObject({ status: 400, param: 'input' });
    await expect(refused({ previous_response_id: 'resp_vendor1' })).rejects.toMatchObject({
      status: 400,
      param: 'previous_response_id',
    });
  });
});
