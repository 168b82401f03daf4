import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { SseDecoder } from '@llm0/core/sse/decode-sse';
import type { FakeBehaviour } from '../fake-upstream/behaviour';
import { createTestKey } from '../stores/start-gateway';
import { ask, ON_ONE_KIND, postChat, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
/** One model of each way of streaming. */
const MODELS = [
  'gpt-4o-mini',
  'claude-haiku-4-5',
  'gemini-2.5-flash',
  'amazon.nova-2-lite-v1:0',
  'openai/gpt-5.2-codex',
  'demo-chat',
] as const;
const TOOLS = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }];

interface Walked {
  readonly text: string;
  readonly calls: string;
  readonly finishes: readonly string[];
  /** How many choices each chunk with usage had. */
  readonly usages: readonly number[];
  readonly error?: string;
}

/** As programs do that know of nothing but deltas: each chunk's first choice is read as if it were there. */
function walk(body: string): Walked {
  const seen = { text: '', calls: '', finishes: [] as string[], usages: [] as number[] };
  for (const { data } of new SseDecoder().push(new TextEncoder().encode(body))) {
    if (data === '[DONE]') continue;
    const chunk = JSON.parse(data);
    if (chunk.error !== undefined) return { ...seen, error: chunk.error.code };
    const { delta, finish_reason } = chunk.choices[0];
    seen.text += delta.content ?? '';
    for (const call of delta.tool_calls ?? []) seen.calls += call.function.arguments;
    if (finish_reason !== null) seen.finishes.push(finish_reason);
    if (chunk.usage != null) seen.usages.push(chunk.choices.length);
  }
  return seen;
}

for (const kind of ON_ONE_KIND) {
  describe(`each chunk of a stream has a choice (${kind} stores)`, () => {
    let world: TestEnvironment;
    let apiKey: string;
    beforeAll(async () => {
      world = await shareEnvironment({ kind, env: { DEMO_PROVIDER: 'on' } });
      apiKey = (await createTestKey(world.gateway)).apiKey;
    }, SETUP_MS);
    afterAll(() => world.close(), SETUP_MS);
    beforeEach(() => world.upstream.control.reset());

    const post = (text: string, more: Record<string, unknown> = {}, headers?: Record<string, string>) =>
      postChat(world.gateway, apiKey, ask(text, { stream: true, ...more }), { headers });
    const read = async (answer: Promise<Response>) => walk(await (await answer).text());
    const next = (...behaviours: FakeBehaviour[]) => world.upstream.control.enqueue(...behaviours);

    test.each(MODELS)('%s: plain text, then its hit', async (model) => {
      next({ text: 'one two three' });
      const first = await read(post(`shape ${model}`, { model }));
      expect(first).toMatchObject({ finishes: ['stop'], usages: [1] });
      if (model !== 'demo-chat') expect(first.text).toBe('one two three');
      const again = await post(`shape ${model}`, { model });
      expect(again.headers.get('x-cache-hit')).toBe('exact');
      expect(walk(await again.text())).toEqual(first);
    });

    test.each(MODELS.filter((model) => model !== 'demo-chat'))('%s: tools', async (model) => {
      next({ toolCalls: [{ name: 'weather', arguments: '{"city":"Bern"}' }] });
      const { calls, finishes, usages } = await read(post(`tools ${model}`, { model, tools: TOOLS }));
      expect([JSON.parse(calls), finishes, usages]).toEqual([{ city: 'Bern' }, ['tool_calls'], [1]]);
    });

    test('include_usage adds a chunk without choices, also on a hit', async () => {
      for (const hit of ['miss', 'exact']) {
        const answer = await post('usage asked', { stream_options: { include_usage: true } });
        expect(answer.headers.get('x-cache-hit')).toBe(hit);
        const last = (await answer.text()).split('\n\n').at(-3) ?? '';
        expect(JSON.parse(last.slice('data: '.length))).toMatchObject({ choices: [], usage: expect.any(Object) });
      }
      expect((await read(post('usage asked'))).usages).toEqual([1]);
    });

    test('n > 1', async () => {
      next({ text: 'twice', n: 2 });
      expect(await read(post('two', { n: 2 }))).toMatchObject({ text: 'twicetwice', finishes: ['stop', 'stop'] });
    });

    test('after a failover', async () => {
      next({ status: 500 }, { status: 500 }, { text: 'from the second' });
      const answer = await post('fails over');
      expect(answer.headers.get('x-failover')).toBe('true');
      expect(walk(await answer.text())).toMatchObject({ text: 'from the second', finishes: ['stop'], usages: [1] });
    });

    test('an error after the first output is a frame of its own', async () => {
      next({ chunks: 10, errorAfter: 3 });
      expect(await read(post('breaks'))).toMatchObject({
        text: 'word word word ',
        error: 'upstream_error',
        finishes: [],
      });
    });

    test('a replay by Idempotency-Key', async () => {
      const headers = { 'Idempotency-Key': `shape ${kind}`, 'X-LLM0-Cache': 'off' };
      next({ text: 'once' });
      const first = await read(post('idempotent', {}, headers));
      expect(first).toMatchObject({ text: 'once', usages: [1] });
      expect(await read(post('idempotent', {}, headers))).toEqual(first);
    });

    test('until the caller leaves', async () => {
      next({ chunks: 100, gapMs: 10 });
      const leaving = new AbortController();
      const body = ask('leaves', { stream: true });
      const answer = await postChat(world.gateway, apiKey, body, { signal: leaving.signal });
      const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
      let text = '';
      for (let i = 0; i < 5; i++) text += new TextDecoder().decode((await reader.read()).value);
      leaving.abort();
      const whole = text.slice(0, text.lastIndexOf('\n\n') + 2);
      expect(walk(whole).text).toStartWith('word ');
    });
  });
}
