import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { OpenAI as LangchainOpenAI } from '@langchain/openai';
import OpenAI from 'openai';
import { shareEnvironment, type TestEnvironment } from '../e2e/environment';
import { createTestKey } from '../stores/start-gateway';

const SETUP_MS = 60_000;
/** One that continues text by itself, and some that are asked through chat. */
const MODELS = ['gpt-3.5-turbo-instruct', 'gpt-4o-mini', 'claude-haiku-4-5', 'gemini-2.5-flash'];

let world: TestEnvironment;
let apiKey: string;
beforeAll(async () => {
  world = await shareEnvironment({ kind: 'real' });
  ({ apiKey } = await createTestKey(world.gateway, { project: { cache_enabled: false } }));
}, SETUP_MS);
afterAll(() => world?.close(), SETUP_MS);
beforeEach(() => world.upstream.control.reset());

const baseURL = () => `${world.gateway.url}/v1`;

describe.each(MODELS)('completions of the official SDK and %s', (model) => {
  const client = () => new OpenAI({ apiKey, baseURL: baseURL(), maxRetries: 0 });

  test('plain', async () => {
    world.upstream.control.setDefault({ text: ' upon a time', usage: { prompt: 3, completion: 4 } });
    const { data, request_id } = await client()
      .completions.create({ model, prompt: 'Once', max_tokens: 20 })
      .withResponse();
    expect(data).toMatchObject({
      object: 'text_completion',
      choices: [{ index: 0, text: ' upon a time', finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    });
    expect(request_id).toBeTruthy();
  });

  test('streamed', async () => {
    world.upstream.control.setDefault({ text: 'one two three', chunks: 3, usage: { prompt: 3, completion: 3 } });
    for (const stream_options of [undefined, { include_usage: true }]) {
      const body = { model, prompt: 'count', max_tokens: 20, stream: true, stream_options } as const;
      let text = '';
      let finish: string | undefined;
      let total: number | undefined;
      for await (const chunk of await client().completions.create(body)) {
        const [choice] = chunk.choices;
        // Only who asked for usage meets a chunk without a choice.
        if (stream_options === undefined) expect(choice).toBeDefined();
        text += choice?.text ?? '';
        finish = choice?.finish_reason ?? finish;
        total = chunk.usage?.total_tokens ?? total;
      }
      expect([text, finish, total]).toEqual(['one two three', 'stop', 6]);
    }
  });

  test('an array of prompts, echoed', async () => {
    world.upstream.control.setDefault({ text: '!' });
    const { choices } = await client().completions.create({ model, prompt: ['a', 'b'], max_tokens: 20, echo: true });
    expect(choices.map(({ index, text }) => [index, text])).toEqual([
      [0, 'a!'],
      [1, 'b!'],
    ]);
  });

  test('errors are of its own classes', async () => {
    world.upstream.control.setDefault({ status: 422 });
    const failure = (name: string) =>
      client()
        .completions.create({ model: name, prompt: 'x', max_tokens: 20 })
        .then(
          () => 'nothing was refused',
          (error: unknown) => error,
        );
    expect(await failure(model)).toMatchObject({ status: 422, code: 'upstream_rejected' });
    expect(await failure('no-such-model')).toBeInstanceOf(OpenAI.NotFoundError);
  });
});

/** It refuses names of chat models that it knows; by their provider it does not know them. */
const LANGCHAIN_MODELS = MODELS.map((model) => model.replace(/^gpt-4/, 'openai/gpt-4'));

describe.each(LANGCHAIN_MODELS)("LangChain's OpenAI() and %s", (model) => {
  const llm = (more: object = {}) =>
    new LangchainOpenAI({
      model,
      apiKey,
      maxTokens: 20,
      maxRetries: 0,
      configuration: { baseURL: baseURL() },
      ...more,
    });

  test('asks, streams, and asks for several prompts at once', async () => {
    world.upstream.control.setDefault({ text: 'one two three', chunks: 3 });
    expect(await llm().invoke('count')).toBe('one two three');
    let text = '';
    for await (const piece of await llm().stream('count')) text += piece;
    expect(text).toBe('one two three');
    const { generations, llmOutput } = await llm({ n: 1 }).generate(['a', 'b', 'c']);
    expect(generations.map(([one]) => one?.text)).toEqual(['one two three', 'one two three', 'one two three']);
    expect(llmOutput?.tokenUsage).toMatchObject({ totalTokens: expect.any(Number) });
    expect(world.upstream.requests.every(({ path }) => path !== '/v1/responses')).toBe(true);
  });
});
