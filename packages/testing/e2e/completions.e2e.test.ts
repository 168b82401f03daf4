import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import type { FakeBehaviour } from '../fake-upstream/behaviour';
import { createTestKey } from '../stores/start-gateway';
import { logRow, ON_ONE_KIND, settledLedger, shareEnvironment, type TestEnvironment, waitUntil } from './environment';

const SETUP_MS = 60_000;
/** Continues text by itself, at $1.50 and $2.00. */
const NATIVE = 'gpt-3.5-turbo-instruct';
/** One model of each way of asking in a conversation. */
const THROUGH_CHAT = [
  'gpt-4o-mini',
  'claude-haiku-4-5',
  'gemini-2.5-flash',
  'amazon.nova-2-lite-v1:0',
  'groq/llama-guard-3-8b',
  'demo-chat',
] as const;

const vendors = (upstream: { baseUrl: string }) => {
  const names = ['DEEPSEEK', 'MISTRAL', 'TOGETHER', 'FIREWORKS', 'OPENROUTER', 'GROQ'];
  const settings = names.flatMap((name) => [
    [`${name}_API_KEY`, 'fake-upstream-key'],
    [`${name}_BASE_URL`, upstream.baseUrl],
  ]);
  return { ...Object.fromEntries(settings), DEMO_PROVIDER: 'on' };
};

for (const kind of ON_ONE_KIND) {
  describe(`POST /v1/completions (${kind} stores)`, () => {
    let world: TestEnvironment;
    let apiKey: string;
    let projectId: string;
    beforeAll(async () => {
      world = await shareEnvironment({ kind, localModels: ['qwen2.5-coder'], env: vendors });
      ({ apiKey, projectId } = await createTestKey(world.gateway, { project: { monthly_cap_usd: 100 } }));
    }, SETUP_MS);
    afterAll(() => world.close(), SETUP_MS);
    beforeEach(() => world.upstream.control.reset());

    const post = (body: object, headers: Record<string, string> = {}, by = apiKey) =>
      fetch(`${world.gateway.url}/v1/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${by}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: NATIVE, ...body }),
      });
    // biome-ignore lint/suspicious/noExplicitAny: the answers of a wire format, read field by field
    const ask = async (body: object, headers?: Record<string, string>): Promise<any> =>
      (await post(body, headers)).json();
    const read = async (body: object, headers?: Record<string, string>) =>
      readStream(await (await post(body, headers)).text());
    const next = (...behaviours: FakeBehaviour[]) => world.upstream.control.enqueue(...behaviours);
    const always = (behaviour: FakeBehaviour) => world.upstream.control.setDefault(behaviour);
    const received = () => world.upstream.control.counters.received;
    const sent = (): JsonObject[] => world.upstream.requests.map(({ path, body }) => ({ path, ...body }));

    describe('for a model that continues text', () => {
      test('goes there as it is: every field, unknown ones too', async () => {
        next({ text: ' upon a time', usage: { prompt: 2, completion: 4 } });
        const body = {
          ...{ prompt: 'Once', max_tokens: 9, temperature: 0, top_p: 0.5, n: 1, best_of: 2, logprobs: 1, echo: true },
          ...{ stop: ['\n'], presence_penalty: 0.5, frequency_penalty: 0.25, logit_bias: { 50256: -100 }, user: 'u' },
          ...{ suffix: ' ever after', seed: 7, vendor_extra: { deep: [1, null] } },
        };
        const response = await post(body);
        const { path, ...upstream } = sent()[0] ?? {};
        expect([path, upstream as object]).toEqual(['/v1/completions', { model: NATIVE, ...body }]);
        expect(await response.json()).toMatchObject({
          ...{ id: 'cmpl-fake', object: 'text_completion', model: NATIVE, created: 1_760_000_000 },
          choices: [
            {
              ...{ index: 0, text: 'Once upon a time', finish_reason: 'stop' },
              logprobs: { tokens: [' upon a time'], token_logprobs: [-0.5], text_offset: [0] },
            },
          ],
          usage: { prompt_tokens: 2, completion_tokens: 4, total_tokens: 6 },
          ...{ system_fingerprint: 'fp_fake', cost_usd: (2 * 1.5 + 4 * 2) / 1e6, latency_ms: expect.any(Number) },
        });
        const row = await logRow(world.gateway, response.headers.get('x-request-id') ?? '');
        expect(row as object).toMatchObject({
          ...{ dialect: 'openai-completions', model: NATIVE, provider: 'openai', tokens_in: 2, tokens_out: 4 },
          ...{ status: 'success', http_status: 200, stream: false, cost_usd: (2 * 1.5 + 4 * 2) / 1e6 },
        });
        expect(Number(response.headers.get('x-cost-usd'))).toBe(row.cost_usd);
      });

      test('streams: text in chunks, one finish, one chunk with usage and cost', async () => {
        next({ text: 'one two three', chunks: 3, usage: { prompt: 5, completion: 3 } });
        const { text, finishes, chunks, isDone } = await read({ prompt: 'count', stream: true, logprobs: 0 });
        expect([text, finishes, isDone]).toEqual([{ 0: 'one two three' }, { 0: 'stop' }, true]);
        for (const chunk of chunks) {
          expect(chunk).toMatchObject({ id: 'cmpl-fake', object: 'text_completion', model: NATIVE });
          expect(typeof chunk.choices[0].text).toBe('string');
        }
        expect(chunks.slice(0, -1).every(({ usage }) => usage === undefined)).toBe(true);
        expect(
          chunks
            .slice(0, 3)
            .map(({ choices }) => choices[0].logprobs.tokens.join(''))
            .join(''),
        ).toBe('one two three');
        expect(chunks.at(-1)).toMatchObject({
          ...{ usage: { total_tokens: 8 }, cost_usd: (5 * 1.5 + 3 * 2) / 1e6, provider: 'openai', cache: 'miss' },
          choices: [{ index: 0, text: '', finish_reason: null }],
        });
        const asked = await read({
          prompt: 'count',
          stream: true,
          logprobs: 0,
          stream_options: { include_usage: true },
        });
        expect(asked.chunks.at(-1)).toMatchObject({ choices: [], cache: 'exact', usage: { total_tokens: 8 } });
      });

      test('takes arrays of texts and of tokens in one request', async () => {
        next({ text: '!', n: 2 });
        const texts = await ask({ prompt: ['a', 'b'], n: 2 });
        expect(texts.choices.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2, 3]);
        next({ text: '!' }, { text: '!' });
        await ask({ prompt: [15, 16] });
        await ask({ prompt: [[15, 16], [17]] });
        expect(sent().map(({ prompt }) => prompt as unknown)).toEqual([
          ['a', 'b'],
          [15, 16],
          [[15, 16], [17]],
        ]);
      });

      test('max_tokens 0 with echo gives probabilities of the prompt alone', async () => {
        next({ text: '', chunks: 1, usage: { prompt: 3, completion: 0 } });
        const { choices } = await ask({ prompt: 'only this', echo: true, max_tokens: 0, logprobs: 1 });
        expect([choices[0].text, sent()[0]?.max_tokens]).toEqual(['only this', 0]);
      });
    });

    const FILL = { prompt: 'def fib(a):', suffix: 'return fib(a-1)', max_tokens: 20 };
    test.each<[string, string, object]>([
      ['deepseek-chat', '/beta/completions', FILL],
      ['codestral-latest', '/v1/fim/completions', FILL],
      ['fireworks/accounts/fireworks/models/starcoder2-7b', '/v1/completions', FILL],
      ['together/codellama/CodeLlama-34b', '/v1/completions', FILL],
      ['ollama/qwen2.5-coder', '/v1/completions', FILL],
    ])('%s fills in the middle at %s', async (model, path, body) => {
      for (const stream of [false, true]) {
        always({ text: '\n  if a < 2: ', usage: { prompt: 9, completion: 5 } });
        const own = await createTestKey(world.gateway, { project: { unknown_model_policy: 'allow_unpriced' } });
        const answer = await post({ model, ...body, stream, stream_options: { include_usage: true } }, {}, own.apiKey);
        const text = await answer.text();
        const said = stream ? readStream(text).text[0] : JSON.parse(text).choices[0].text;
        expect([answer.status, said]).toEqual([200, '\n  if a < 2: ']);
        expect(sent().at(-1)).toMatchObject({ path, ...body });
      }
    });

    test('a vendor without a field refuses it, or leaves it out where that is wished', async () => {
      const body = { model: 'codestral-latest', prompt: 'x', best_of: 3, user: 'u', n: 1 };
      expect(await ask(body)).toMatchObject({ error: { code: 'unsupported_parameter', param: 'best_of' } });
      const answer = await post(body, { 'X-LLM0-Drop-Params': 'true' });
      expect([answer.status, answer.headers.get('x-llm0-dropped')?.split(',').sort()]).toEqual([
        200,
        ['best_of', 'user'],
      ]);
    });

    describe.each(THROUGH_CHAT)('through chat, of %s', (model) => {
      const isDemo = model === 'demo-chat';

      test('is the same format, plain and streamed', async () => {
        always({ text: 'one two', usage: { prompt: 4, completion: 2 } });
        const plain = await ask({ model, prompt: `say ${model}`, max_tokens: 50, temperature: 0.5, stop: ['END'] });
        expect(plain).toMatchObject({
          object: 'text_completion',
          choices: [{ index: 0, finish_reason: expect.any(String) }],
        });
        expect(plain.choices[0].logprobs).toBeNull();
        if (!isDemo) expect([plain.choices[0].text, plain.usage.total_tokens]).toEqual(['one two', 6]);
        const { text, finishes, isDone, chunks } = await read({ model, prompt: `tell ${model}`, stream: true });
        expect([Object.keys(text), Object.keys(finishes), isDone]).toEqual([['0'], ['0'], true]);
        if (!isDemo) expect(text[0]).toBe('one two');
        expect(chunks.at(-1).usage.total_tokens).toBeGreaterThan(0);
      });

      test('several prompts are a call each, in their order, and one bill', async () => {
        always({ sayBack: true, usage: { prompt: 4, completion: 2 } });
        const prompts = Array.from({ length: 11 }, (_, i) => `part ${i} of ${model}`);
        const response = await post({ model, prompt: prompts, max_tokens: 50, echo: true });
        const { choices, usage } = JSON.parse(await response.text());
        expect(choices.map(({ index }: { index: number }) => index)).toEqual(prompts.map((_, i) => i));
        for (const [i, prompt] of prompts.entries()) {
          const said: string = choices[i].text;
          expect(said).toStartWith(prompt);
          if (!isDemo) expect(said).toBe(`${prompt}<${prompt}>`);
        }
        if (!isDemo) expect([received(), usage.prompt_tokens, usage.completion_tokens]).toEqual([11, 44, 22]);
        const row = await logRow(world.gateway, response.headers.get('x-request-id') ?? '');
        expect([row.tokens_in, row.tokens_out]).toEqual([usage.prompt_tokens, usage.completion_tokens]);
        const streamed = await read({ model, prompt: prompts.slice(0, 3), stream: true, max_tokens: 51 });
        if (!isDemo) expect(Object.values(streamed.text)).toEqual(prompts.slice(0, 3).map((prompt) => `<${prompt}>`));
        expect(Object.keys(streamed.finishes)).toEqual(['0', '1', '2']);
      });

      test.each([
        ['suffix', { suffix: 'end' }],
        ['best_of', { best_of: 2 }],
        ['logprobs', { echo: true, logprobs: 1 }],
        ['max_tokens', { max_tokens: 0 }],
        ['prompt', { prompt: [1, 2, 3] }],
        ['prompt', { prompt: ['a', [1]] }],
      ])('%s has no place there', async (param, body) => {
        const before = received();
        const answer = await post({ model, prompt: 'x', ...body });
        const { error } = JSON.parse(await answer.text());
        expect([answer.status, error.code, error.param, received()]).toEqual([
          400,
          'unsupported_parameter',
          param,
          before,
        ]);
      });
    });

    test('parameters unknown to chat are dropped if allowed, and named', async () => {
      always({ text: 'said' });
      const headers = { 'X-LLM0-Drop-Params': 'true' };
      for (const model of ['gpt-4o-mini', 'claude-haiku-4-5']) {
        const body = { suffix: 'end', best_of: 2, echo: true, logprobs: 1, max_tokens: 0 };
        const answer = await post({ model, prompt: 'x', ...body }, headers);
        const { choices } = JSON.parse(await answer.text());
        expect([answer.headers.get('x-llm0-dropped')?.split(',').sort(), choices[0].text]).toEqual([
          ...[['best_of', 'logprobs', 'max_tokens', 'suffix'], 'xsaid'],
        ]);
        for (const name of ['suffix', 'best_of', 'logprobs', 'top_logprobs', 'echo']) {
          expect(sent().at(-1)).not.toHaveProperty(name);
        }
        expect(sent().at(-1)?.max_tokens).not.toBe(0);
      }
      expect((await post({ model: 'gpt-4o-mini', prompt: [1, 2] }, headers)).status).toBe(400);
    });

    test('fields of a vendor reach the caller, plain and streamed', async () => {
      const choice = { index: 0, text: 'hi', logprobs: null, finish_reason: 'stop', stop_reason: 'END' };
      const body = JSON.stringify({ id: 'x', object: 'text_completion', created: 1, model: 'm', choices: [choice] });
      next({ body }, { body });
      expect(await ask({ prompt: 'own field' })).toMatchObject({ choices: [{ text: 'hi', stop_reason: 'END' }] });
      const { chunks, text } = await read({ prompt: 'own field, streamed', stream: true });
      expect([text[0], chunks[0].choices[0].stop_reason]).toEqual(['hi', 'END']);
    });

    test('the models are listed', async () => {
      const headers = { authorization: `Bearer ${apiKey}` };
      const listed = await (await fetch(`${world.gateway.url}/v1/models`, { headers })).text();
      expect(listed).toContain(`"id":"${NATIVE}"`);
    });

    test('probabilities come in this format also from chat', async () => {
      const [top_logprobs, bytes] = [[{ token: 'on', logprob: -0.1 }], null];
      const content = [
        { token: 'on', logprob: -0.1, bytes, top_logprobs },
        { token: 'e', logprob: -0.2, bytes, top_logprobs: [] },
      ];
      const choice = {
        index: 0,
        message: { role: 'assistant', content: 'one' },
        logprobs: { content },
        finish_reason: 'stop',
      };
      next({ body: JSON.stringify({ id: 'x', object: 'chat.completion', created: 1, model: 'm', choices: [choice] }) });
      const { choices } = await ask({ model: 'gpt-4o-mini', prompt: 'abc', logprobs: 1 });
      expect(choices[0].logprobs).toEqual({
        ...{ tokens: ['on', 'e'], token_logprobs: [-0.1, -0.2], top_logprobs: [{ on: -0.1 }, {}], text_offset: [3, 5] },
      });
      expect(sent()[0]).toMatchObject({ path: '/v1/chat/completions', logprobs: true, top_logprobs: 1 });
    });

    test.each([
      ['prompt', {}],
      ['prompt', { messages: [{ role: 'user', content: 'x' }] }],
      ['prompt', { prompt: [] }],
      ['prompt[1]', { prompt: ['a', 1] }],
      ['prompt[0]', { prompt: [[]] }],
      ['prompt', { prompt: { text: 'x' } }],
      ['suffix', { prompt: 'x', suffix: 1 }],
      ['echo', { prompt: 'x', echo: 'yes' }],
      ['logprobs', { prompt: 'x', logprobs: -1 }],
      ['best_of', { prompt: 'x', n: 3, best_of: 2 }],
      ['max_tokens', { prompt: 'x', max_tokens: -1 }],
      ['temperature', { prompt: 'x', temperature: 9 }],
    ])('%s is checked: %j', async (param, body) => {
      const answer = await post(body);
      expect([answer.status, await answer.json()]).toEqual([
        400,
        { error: { message: expect.any(String), type: 'invalid_request_error', code: 'invalid_request', param } },
      ]);
      expect(received()).toBe(0);
    });

    test('hits are free, plain and streamed; another suffix, echo or prompt is another question', async () => {
      always({ text: 'kept' });
      const body = { prompt: 'cache me', max_tokens: 5 };
      const hit = async (more: object) => {
        const answer = await post({ ...body, ...more });
        expect(await answer.text()).toContain('kept');
        return answer.headers.get('x-cache-hit');
      };
      expect([await hit({}), await hit({ stream: true }), await hit({ user: 'x' })]).toEqual([
        'miss',
        'exact',
        'exact',
      ]);
      for (const more of [
        { suffix: 'y' },
        { echo: true },
        { prompt: ['cache me', 'too'] },
        { best_of: 2 },
        { logprobs: 1 },
      ]) {
        expect(await hit(more)).toBe('miss');
      }
      const chat = { model: 'gpt-4o-mini', prompt: 'the very same' };
      await ask(chat);
      const messages = [{ role: 'user', content: chat.prompt }];
      const conversation = await fetch(`${world.gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}` },
        body: JSON.stringify({ model: chat.model, messages }),
      });
      expect(conversation.headers.get('x-cache-hit')).toBe('miss');
    });

    test('a replay by Idempotency-Key is the first answer; identical ones at once are one call', async () => {
      always({ text: 'once' });
      const headers = { 'Idempotency-Key': 'c1', 'X-LLM0-Cache': 'off' };
      const first = await (await post({ prompt: 'idem' }, headers)).text();
      const again = await post({ prompt: 'idem' }, headers);
      expect([again.headers.get('x-idempotent-replay'), await again.text(), received()]).toEqual(['true', first, 1]);
      world.upstream.control.hold();
      const both = [post({ prompt: 'at once' }), post({ prompt: 'at once', stream: true })];
      await waitUntil(() => received() === 2);
      await Bun.sleep(200);
      world.upstream.control.release();
      const texts = await Promise.all(both.map(async (answer) => (await answer).text()));
      expect([received(), JSON.parse(texts[0] ?? '').choices[0].text, readStream(texts[1] ?? '').text[0]]).toEqual([
        ...[2, 'once', 'once'],
      ]);
    });

    test('limits and caps hold, counting every prompt and candidate', async () => {
      const poor = await createTestKey(world.gateway, { project: { monthly_cap_usd: 0.001 } });
      const one = { prompt: 'x', max_tokens: 100 };
      for (const more of [{ n: 5 }, { best_of: 5 }, { prompt: ['x', 'x', 'x', 'x', 'x'] }]) {
        const refused = await post({ ...one, ...more }, {}, poor.apiKey);
        expect([refused.status, (await refused.json()) as object]).toMatchObject([
          402,
          { error: { code: 'spend_cap_exceeded' } },
        ]);
      }
      expect((await post(one, {}, poor.apiKey)).status).toBe(200);
      const slow = await createTestKey(world.gateway, { key: { rate_limit_per_minute: 1 } });
      expect((await post({ prompt: 'first' }, {}, slow.apiKey)).status).toBe(200);
      expect((await post({ prompt: 'second' }, {}, slow.apiKey)).status).toBe(429);
      expect((await post({ prompt: 'x' }, {}, 'wrong')).status).toBe(401);
      const picky = await createTestKey(world.gateway, { key: { allowed_models: ['gpt-4o'] } });
      expect((await post({ prompt: 'x' }, {}, picky.apiKey)).status).toBe(403);
    });

    test('strict caps send a limit, natively too', async () => {
      const strict = { strict_caps: true, monthly_cap_usd: 10, default_output_tokens: 33 };
      const own = await createTestKey(world.gateway, { project: strict });
      for (const model of [NATIVE, 'gpt-4o-mini']) {
        expect((await post({ model, prompt: 'x' }, {}, own.apiKey)).status).toBe(200);
        expect(sent().at(-1)).toMatchObject({ max_tokens: 33 });
      }
    });

    test('many prompts are measured one by one against the context, not together', async () => {
      always({ text: 'ok' });
      const long = 'word '.repeat(2000);
      expect((await post({ prompt: [long, long, long], max_tokens: 5 })).status).toBe(200);
    });

    test('fails over before the first output, from text to chat', async () => {
      next({ status: 500 }, { status: 500 }, { text: 'from another' });
      const answer = await post({ model: 'gpt-4o-mini', prompt: 'fails over' });
      expect([answer.headers.get('x-failover'), JSON.parse(await answer.text()).choices[0].text]).toEqual([
        ...['true', 'from another'],
      ]);
      next({ status: 429 });
      always({ sayBack: true });
      const many = await post({ model: 'claude-haiku-4-5', prompt: ['a1', 'b2', 'c3'], max_tokens: 9 });
      const { choices } = JSON.parse(await many.text());
      expect(choices.map(({ text }: { text: string }) => text)).toEqual(['<a1>', '<b2>', '<c3>']);
    });

    test('one prompt that fails for good fails the request', async () => {
      const own = await createTestKey(world.gateway);
      next({ status: 400 }, { status: 400 });
      const answer = await post({ model: 'gpt-4o-mini', prompt: ['fine', 'bad'] }, {}, own.apiKey);
      expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([
        400,
        'upstream_rejected',
      ]);
      const ledger = await settledLedger(world.gateway);
      expect(ledger.projects.every(({ diff_usd }) => diff_usd === 0)).toBe(true);
    });

    test('a stream that breaks ends with an error; a caller who leaves cancels every call', async () => {
      next({ chunks: 10, errorAfter: 3 });
      const broken = await read({ prompt: 'breaks', stream: true });
      expect([broken.text[0], broken.error, broken.isDone]).toEqual(['word word word ', 'upstream_error', false]);
      always({ chunks: 1000, gapMs: 10 });
      const leaving = new AbortController();
      const answer = await fetch(`${world.gateway.url}/v1/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}` },
        body: JSON.stringify({ model: 'gpt-4o-mini', prompt: ['leave a', 'leave b', 'leave c'], stream: true }),
        signal: leaving.signal,
      });
      await (answer.body as ReadableStream<Uint8Array>).getReader().read();
      const before = world.upstream.control.counters.cancelled;
      leaving.abort();
      await waitUntil(() => world.upstream.control.counters.cancelled === before + 3, 3000);
      const row = await logRow(world.gateway, answer.headers.get('x-request-id') ?? '');
      expect(row).toMatchObject({ status: 'aborted', http_status: 499 });
    });

    test('the wrong method, and the ledger', async () => {
      expect((await fetch(`${world.gateway.url}/v1/completions`)).status).toBe(405);
      const ledger = await settledLedger(world.gateway);
      expect(ledger.projects.find((one) => one.project_id === projectId)?.diff_usd).toBe(0);
      expect(ledger.open_holds).toBe(0);
    });
  });
}

function readStream(body: string) {
  const text: Record<number, string> = {};
  const finishes: Record<number, string> = {};
  // biome-ignore lint/suspicious/noExplicitAny: chunks of a wire format, read field by field
  const chunks: any[] = [];
  let error: string | undefined;
  for (const line of body.split('\n')) {
    if (!line.startsWith('data: {')) continue;
    const chunk = JSON.parse(line.slice('data: '.length));
    if (chunk.error !== undefined) {
      error = chunk.error.code;
      continue;
    }
    chunks.push(chunk);
    for (const { index, text: piece, finish_reason } of chunk.choices) {
      if (piece !== '') text[index] = (text[index] ?? '') + piece;
      if (finish_reason !== null) finishes[index] = finish_reason;
    }
  }
  return { text, finishes, chunks, error, isDone: body.includes('data: [DONE]') };
}
