import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import {
  ask,
  ON_ONE_KIND,
  postChat,
  settledLedger,
  shareEnvironment,
  type TestEnvironment,
  waitUntil,
} from './environment';

const SETUP_MS = 60_000;
/** Room for two or three answers of `LONG` characters. */
const CACHE_MAX_BYTES = 10_000;
const LONG = 'x'.repeat(3000);
const TOOLS = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }];
const CALLS = { toolCalls: [{ name: 'weather', arguments: JSON.stringify({ city: LONG }) }] };
const withTools = (text: string, more: object = {}) => ask(text, { tools: TOOLS, x_fake: CALLS, ...more });

for (const kind of ON_ONE_KIND) {
  describe(`answers that call tools (${kind} stores)`, () => {
    let world: TestEnvironment;
    beforeAll(async () => {
      world = await shareEnvironment({ kind, env: { CACHE_MAX_BYTES: String(CACHE_MAX_BYTES) } });
    }, SETUP_MS);
    afterAll(() => world.close(), SETUP_MS);
    beforeEach(() => world.upstream.control.reset());

    const keyFor = (cacheToolCalls?: boolean, key?: Record<string, unknown>) =>
      createTestKey(world.gateway, { project: { cache_tool_calls: cacheToolCalls }, key });
    const change = (projectId: string, cacheToolCalls: boolean) =>
      callAdmin(world.gateway, `/projects/${projectId}`, {
        method: 'PATCH',
        body: { cache_tool_calls: cacheToolCalls },
      });
    const hit = async (apiKey: string, body: unknown) => {
      const answer = await postChat(world.gateway, apiKey, body);
      expect((await answer.text()).includes('weather')).toBe(true);
      return answer.headers.get('x-cache-hit');
    };
    const post = (apiKey: string, path: string, body: object) =>
      fetch(`${world.gateway.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const received = () => world.upstream.control.counters.received;

    test('are made anew each time, plain and streamed; text in their place is kept', async () => {
      const { apiKey } = await keyFor();
      for (const stream of [false, true, false]) {
        expect(await hit(apiKey, withTools('weather?', { stream }))).toBe('miss');
      }
      const legacy = { functions: [{ name: 'weather' }], x_fake: CALLS };
      for (const _ of [1, 2]) expect(await hit(apiKey, ask('weather, as of old?', legacy))).toBe('miss');
      const spoken = withTools('weather, in words?', { x_fake: { text: 'weather is fine' } });
      expect([await hit(apiKey, spoken), await hit(apiKey, spoken)]).toEqual(['miss', 'exact']);
    });

    test('are kept where the project wants it, and are served no more once it does not', async () => {
      const { apiKey, projectId } = await keyFor(true, { rate_limit_per_minute: 7 });
      expect([await hit(apiKey, withTools('kept?')), await hit(apiKey, withTools('kept?'))]).toEqual(['miss', 'exact']);
      await change(projectId, false);
      expect([await hit(apiKey, withTools('kept?')), await hit(apiKey, withTools('kept?'))]).toEqual(['miss', 'miss']);
      await change(projectId, true);
      expect([await hit(apiKey, withTools('kept?')), await hit(apiKey, withTools('kept?'))]).toEqual(['miss', 'exact']);
    });

    test('the warm tier does not bring them back', async () => {
      const { apiKey, projectId } = await keyFor(true);
      const warmEntries = async () =>
        (await callAdmin<{ warm_entries: number }>(world.gateway, '/cache/stats')).warm_entries;
      const before = await warmEntries();
      expect(await hit(apiKey, withTools('warm?'))).toBe('miss');
      for (let i = 0; i < 5; i++) await hit(apiKey, ask(crypto.randomUUID(), { x_fake: { text: `weather ${LONG}` } }));
      for (let i = 0; (await warmEntries()) < before + 6; i++) {
        if (i === 100) throw new Error('the warm tier was not written');
        await Bun.sleep(50);
      }
      await change(projectId, false);
      expect(await hit(apiKey, withTools('warm?'))).toBe('miss');
      await change(projectId, true);
      // The hot tier has no entry of it: only the warm one can know.
      expect(await hit(apiKey, withTools('warm?'))).toBe('exact');
    });

    test('a replay by Idempotency-Key stays one', async () => {
      const { apiKey } = await keyFor();
      const headers = { 'Idempotency-Key': 'tools' };
      const texts = [];
      for (const _ of [1, 2]) {
        const answer = await postChat(world.gateway, apiKey, withTools('once?'), { headers });
        texts.push(JSON.parse(await answer.text()).choices[0].message.tool_calls);
      }
      expect([received(), texts[0]]).toEqual([1, texts[1]]);
    });

    /** Asks for all of these at the same moment; gives the bodies and what the caches said. */
    async function atOnce(apiKey: string, bodies: readonly object[], calls: number, path = '/v1/chat/completions') {
      world.upstream.control.hold();
      const pending = [];
      for (const body of bodies) {
        pending.push(post(apiKey, path, body));
        await waitUntil(() => received() >= Math.min(pending.length, calls));
      }
      // The last ones have no call of their own to wait for.
      await Bun.sleep(300);
      world.upstream.control.release();
      const answers = await Promise.all(pending);
      const texts = await Promise.all(answers.map((answer) => answer.text()));
      return { texts, hits: answers.map((answer) => answer.headers.get('x-cache-hit')) };
    }

    test('identical requests at once each get one of their own, unless the project keeps them', async () => {
      const own = await atOnce((await keyFor()).apiKey, [withTools('at once'), withTools('at once')], 2);
      expect([received(), own.hits]).toEqual([2, ['miss', 'miss']]);
      world.upstream.control.reset();
      const shared = await atOnce((await keyFor(true)).apiKey, [withTools('at once'), withTools('at once')], 1);
      expect([received(), shared.hits]).toEqual([1, ['miss', 'exact']]);
    });

    test.each([[[false, true, true]], [[true, false, false]]])(
      'identical questions at once are one call, each answered in its own way (stream: %j)',
      async (streams) => {
        const { apiKey, projectId } = await keyFor();
        const fake = { text: 'one two three', usage: { prompt: 7, completion: 3 } };
        const bodies = streams.map((stream) => ask('all at once', { stream, x_fake: fake }));
        const { texts, hits } = await atOnce(apiKey, bodies, 1);
        expect([received(), hits]).toEqual([1, ['miss', 'exact', 'exact']]);
        for (const [i, text] of texts.entries()) {
          const { said, total, finish } = streams[i] ? readStream(text) : readPlain(text);
          expect([said, total, finish]).toEqual(['one two three', 10, 'stop']);
        }
        const ledger = await settledLedger(world.gateway);
        expect(ledger.projects.find((one) => one.project_id === projectId)).toMatchObject({
          counter_usd: (7 * 0.15 + 3 * 0.6) / 1e6,
          diff_usd: 0,
        });
      },
    );

    const DIALECTS = [
      ['/v1/messages', 'claude-haiku-4-5', { max_tokens: 50 }],
      ['/v1/messages', 'gpt-4o-mini', { max_tokens: 50 }],
      ['/v1/responses', 'gpt-4o-mini', {}],
      ['/v1/responses', 'gemini-2.5-flash', {}],
    ] as const;
    test.each(DIALECTS)('so they are at %s of %s', async (path, model, more) => {
      const { apiKey } = await keyFor();
      for (const streams of [
        [true, false],
        [false, true],
      ]) {
        const text = `the same here ${streams[0]}`;
        const said = path.endsWith('responses') ? { input: text } : { messages: ask(text).messages };
        world.upstream.control.reset();
        world.upstream.control.setDefault({ text: 'one two three' });
        const bodies = streams.map((stream) => ({ model, ...said, ...more, stream }));
        const { texts, hits } = await atOnce(apiKey, bodies, 1, path);
        expect([received(), hits]).toEqual([1, ['miss', 'exact']]);
        for (const [i, answer] of texts.entries()) {
          const deltas = [...answer.matchAll(/"(?:delta|text)":"([^"]*)"/g)].map(([, piece]) => piece);
          if (streams[i]) expect(deltas.join('')).toContain('one two three');
          else expect(answer).toContain('"one two three"');
          if (streams[i]) expect(answer).toMatch(/event: (message_stop|response\.completed)/);
        }
      }
    });

    test('a stream that breaks is an error for who has seen of it; who is answered plainly asks again', async () => {
      const { apiKey } = await keyFor();
      const fake = { chunks: 10, errorAfter: 3 };
      const bodies = [true, false].map((stream) => ask('breaks for all', { stream, x_fake: fake }));
      const { texts } = await atOnce(apiKey, bodies, 1);
      expect(received()).toBe(2);
      expect(readStream(texts[0] ?? '')).toMatchObject({ said: 'word word word ', finish: undefined });
      expect(readPlain(texts[1] ?? '').finish).toBe('stop');
    });
  });
}

function readPlain(text: string) {
  const { choices, usage } = JSON.parse(text);
  return { said: choices[0].message.content, total: usage.total_tokens, finish: choices[0].finish_reason };
}

function readStream(text: string) {
  const read = { said: '', total: undefined, finish: undefined };
  for (const line of text.split('\n')) {
    if (!line.startsWith('data: {')) continue;
    const { choices = [], usage } = JSON.parse(line.slice('data: '.length));
    read.said += choices[0]?.delta.content ?? '';
    read.finish = choices[0]?.finish_reason ?? read.finish;
    read.total = usage?.total_tokens ?? read.total;
  }
  return read;
}
