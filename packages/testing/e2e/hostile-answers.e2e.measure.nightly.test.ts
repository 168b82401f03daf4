import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { createTestKey } from '../stores/start-gateway';
import { ask, logRow, postChat, startEnvironment, type TestEnvironment } from './environment';
import { type Watched, watchGateway } from './watch-gateway';

const MIB = 1024 * 1024;
let env: TestEnvironment;
let key: string;
beforeAll(async () => {
  env = await startEnvironment({
    kind: 'embedded',
    env: { REQUEST_TIMEOUT: '2s', ANSWER_TIMEOUT: '2s', STREAM_IDLE_TIMEOUT: '50ms', FAILOVER_MODE: 'cloud_only' },
  });
  ({ apiKey: key } = await createTestKey(env.gateway, { project: { passthrough: ['openai'] } }));
});
afterAll(() => env.close());
afterEach(() => env.upstream.control.reset());

let asked = 0;
const question = (more: Record<string, unknown> = {}) => {
  asked += 1;
  return ask(`question ${asked}`, more);
};

/** After an ordinary request, so that what is loaded once does not count. */
async function watched(run: () => Promise<void>): Promise<Watched> {
  await (await postChat(env.gateway, key, question())).text();
  return watchGateway(env.gateway, run);
}

const MODELS = {
  '/v1/chat/completions': 'gpt-4o-mini',
  '/v1/messages': 'claude-haiku-4-5',
  '/v1/responses': 'gpt-4o-mini',
} as const;

describe('compressed answers', () => {
  test.each(['gzip', 'br', 'deflate', 'zstd'] as const)(
    'in %s are understood, plain and streamed',
    async (compress) => {
      env.upstream.control.setDefault({ compress, text: 'two', chunks: 1 });
      const plain = await postChat(env.gateway, key, question());
      expect(await plain.json()).toMatchObject({ choices: [{ message: { content: 'two' } }] });
      expect(plain.headers.get('content-encoding')).toBeNull();
      const streamed = await (await postChat(env.gateway, key, question({ stream: true }))).text();
      expect(streamed).toContain('two');
      expect(streamed).toEndWith('data: [DONE]\n\n');
    },
  );

  test('that become huge get 502, without time or memory', async () => {
    env.upstream.control.setDefault({ hostile: 'bomb' });
    const { livezMs, grewMib } = await watched(async () => {
      const response = await postChat(env.gateway, key, question());
      expect([response.status, await response.json()]).toMatchObject([502, { error: { code: 'upstream_error' } }]);
      env.upstream.control.setDefault({ hostile: 'bomb-stream' });
      expect((await postChat(env.gateway, key, question({ stream: true }))).status).toBe(502);
      const native = await fetch(`${env.gateway.url}/passthrough/openai/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...question(), x_fake: { hostile: 'bomb' } }),
      });
      expect(native.status).toBe(200);
      // It was on its way already when it turned out to be one: the connection breaks.
      expect(await native.text().catch(() => 'broken')).toBe('broken');
    });
    expect(grewMib).toBeLessThan(200);
    expect(livezMs).toBeLessThan(150);
  });

  test.each(['unknown-encoding', 'broken-encoding'] as const)('in an %s are 502', async (hostile) => {
    env.upstream.control.setDefault({ hostile });
    const response = await postChat(env.gateway, key, question());
    expect([response.status, await response.json()]).toMatchObject([502, { error: { code: 'upstream_error' } }]);
  });
});

describe('answers without an end', () => {
  test.each(['huge-plain', 'endless-line', 'comments', 'empty-events', 'empty-deltas'] as const)(
    '%s: 502 or 504 in the envelope, within bounds',
    async (hostile) => {
      env.upstream.control.setDefault({ hostile });
      const { livezMs, grewMib } = await watched(async () => {
        const response = await postChat(env.gateway, key, question({ stream: hostile !== 'huge-plain' }));
        const text = await response.text();
        expect([200, 502, 504]).toContain(response.status);
        expect(text).toMatch(/"code":"upstream_(error|timeout)"/);
        expect(text).not.toContain('[DONE]');
      });
      expect(grewMib).toBeLessThan(200);
      expect(livezMs).toBeLessThan(150);
    },
    20_000,
  );

  test('a stream of 244 MB ends with an error beyond 8 MiB of text, and is booked', async () => {
    env.upstream.control.setDefault({ hostile: 'huge-stream' });
    let requestId = '';
    const { livezMs, grewMib } = await watched(async () => {
      const response = await postChat(env.gateway, key, question({ stream: true }));
      requestId = response.headers.get('x-request-id') ?? '';
      let tail = '';
      for await (const chunk of response.body ?? []) tail = (tail + Buffer.from(chunk).toString()).slice(-2000);
      expect(tail).toContain('more text than any model writes');
      expect(tail).not.toContain('[DONE]');
    });
    expect(grewMib).toBeLessThan(200);
    expect(livezMs).toBeLessThan(150);
    const row = await logRow(env.gateway, requestId);
    expect(row).toMatchObject({ status: 'error', error_code: 'upstream_error', cost_estimated: true });
    expect(row.tokens_out).toBeGreaterThan((7 * MIB) / 5);
  }, 20_000);

  test('a trickling body ends in 504', async () => {
    env.upstream.control.setDefault({ hostile: 'trickle' });
    const startMs = performance.now();
    const response = await postChat(env.gateway, key, question());
    expect([response.status, await response.json()]).toMatchObject([504, { error: { code: 'upstream_timeout' } }]);
    expect(performance.now() - startMs).toBeLessThan(12_000);
  }, 20_000);

  test('a header of a megabyte does no harm', async () => {
    env.upstream.control.setDefault({ hostile: 'header' });
    expect((await postChat(env.gateway, key, question())).status).toBe(502);
  });

  test.each(Object.entries(MODELS))('%s says so in its own words', async (path, model) => {
    env.upstream.control.setDefault({ hostile: 'broken-encoding' });
    const input = { model, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };
    const body = path === '/v1/responses' ? { model, input: 'hi' } : input;
    const response = await fetch(`${env.gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect([response.status, await response.json()]).toMatchObject([502, { error: {} }]);
  });
});
