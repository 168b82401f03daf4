import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { FakeBehaviour } from '../fake-upstream/behaviour';
import { createTestKey } from '../stores/start-gateway';
import { ask, logRow, postChat, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;

describe('upstreams of every kind', () => {
  let world: TestEnvironment;
  let apiKey: string;
  beforeAll(async () => {
    world = await shareEnvironment({
      kind: 'real',
      env: { REQUEST_TIMEOUT: '1s', ANSWER_TIMEOUT: '1s', STREAM_IDLE_TIMEOUT: '1s' },
    });
    apiKey = (await createTestKey(world.gateway, { project: { cache_enabled: true } })).apiKey;
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);

  const stream = async (text: string, fake: FakeBehaviour) => {
    const answer = await postChat(world.gateway, apiKey, ask(text, { stream: true, x_fake: fake }));
    return { answer, text: await answer.text(), id: answer.headers.get('x-request-id') ?? '' };
  };
  const content = (text: string) =>
    text
      .split('\n\n')
      .filter((event) => event.startsWith('data: {'))
      .map(
        (event) =>
          (JSON.parse(event.slice(6)) as { choices: { delta: { content?: string } }[] }).choices[0]?.delta.content ??
          '',
      )
      .join('');

  test.each<[string, FakeBehaviour]>([
    ['half a UTF-8 character at a time', { splitCharacters: true, text: 'Grüße, 世界 🌍!' }],
    ['CRLF line ends', { lineEnd: 'crlf', text: 'Grüße, 世界 🌍!' }],
    ['CR line ends', { lineEnd: 'cr', text: 'Grüße, 世界 🌍!' }],
    ['comments between events', { comments: true, text: 'Grüße, 世界 🌍!' }],
    ['one byte at a time', { byteByByte: true, text: 'Grüße, 世界 🌍!' }],
    ['no [DONE]', { noDone: true, text: 'Grüße, 世界 🌍!' }],
    ['usage on the finish chunk', { usageOn: 'finish-chunk', text: 'Grüße, 世界 🌍!' }],
    ['a whole JSON body for a stream', { plainForStream: true, text: 'Grüße, 世界 🌍!' }],
  ])('%s: the caller gets the text whole and one metadata chunk', async (name, fake) => {
    const { answer, text, id } = await stream(name, fake);
    expect(answer.status).toBe(200);
    expect(content(text)).toBe('Grüße, 世界 🌍!');
    expect(text.match(/"usage":\{/g)).toHaveLength(1);
    expect(text.trimEnd()).toEndWith('data: [DONE]');
    expect(await logRow(world.gateway, id)).toMatchObject({ status: 'success', stream: true });
  });

  test.each<[string, FakeBehaviour]>([
    ['an error after 5 chunks', { errorAfter: 5 }],
    ['a reset after 5 chunks', { resetAfter: 5 }],
    ['the end after 5 chunks', { truncateAfter: 5 }],
    ['silence after 5 chunks', { hangAfter: 5 }],
  ])('%s: an error frame, no [DONE], tokens booked, nothing cached', async (name, fake) => {
    const { answer, text, id } = await stream(name, { chunks: 20, gapMs: 1, ...fake });
    expect(answer.status).toBe(200);
    expect(text).toContain('"error":{');
    expect(text).not.toContain('[DONE]');
    expect(text).not.toContain('"finish_reason":"stop"');
    const row = await logRow(world.gateway, id);
    expect(row.status).toBe('error');
    expect(row.cost_usd).toBeGreaterThan(0);
    const again = await postChat(
      world.gateway,
      apiKey,
      ask(name, { stream: true, x_fake: { chunks: 20, gapMs: 1, ...fake } }),
    );
    expect(again.headers.get('x-cache-hit')).toBe('miss');
    await again.body?.cancel();
  });

  // Whoever took a request and said nothing of use may bill it; whoever refused it does not.
  test.each<[string, FakeBehaviour, number, string, boolean]>([
    ['a 200 with HTML', { html: true }, 502, 'upstream_error', true],
    ['nothing at all', { empty: true }, 502, 'upstream_error', true],
    ['no answer', { hang: true }, 504, 'upstream_timeout', true],
    ['a 500', { status: 500 }, 502, 'upstream_error', false],
    ['a 401', { status: 401 }, 502, 'upstream_error', false],
    ['a 404', { status: 404 }, 404, 'model_not_found', false],
    ['a 429', { status: 429, retryAfter: '7' }, 429, 'upstream_rate_limited', false],
    ['its own 400', { status: 400 }, 400, 'upstream_rejected', false],
    ['its own 422', { status: 422 }, 422, 'upstream_rejected', false],
  ])(
    '%s: one clear error, booked only where it may be billed',
    async (name, fake, status, code, isBilled) => {
      for (const streamed of [false, true]) {
        const answer = await postChat(
          world.gateway,
          apiKey,
          ask(`${name} ${streamed}`, { stream: streamed, x_fake: fake }),
        );
        expect([name, streamed, answer.status]).toEqual([name, streamed, status]);
        const body = (await answer.json()) as { error: { code: string; message: string; attempts: unknown[] } };
        expect(body.error.code).toBe(code);
        expect(body.error.message).not.toContain('sk-fake');
        expect(body.error.attempts.length).toBeGreaterThan(0);
        if (status === 503) expect(answer.headers.get('retry-after')).toBe('7');
        const row = await logRow(world.gateway, answer.headers.get('x-request-id') ?? '');
        expect(row).toMatchObject({ status: 'error', http_status: status, error_code: code, cost_estimated: isBilled });
        expect([name, row.cost_usd > 0]).toEqual([name, isBilled]);
      }
    },
    20_000,
  );

  test(
    'an upstream that refuses connections is a 502 that names the provider and no secret',
    async () => {
      const other = await shareEnvironment({
        kind: 'real',
        allVendors: false,
        env: { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' },
      });
      try {
        const key = await createTestKey(other.gateway);
        const answer = await postChat(other.gateway, key.apiKey, ask('anybody there?'));
        expect(answer.status).toBe(502);
        const text = await answer.text();
        expect(text).toContain('openai');
        expect(text).not.toContain('127.0.0.1:1');
      } finally {
        await other.close();
      }
    },
    SETUP_MS,
  );

  test('every field reaches the upstream, and the answer keeps fields nobody knows', async () => {
    const body = ask('fields', {
      temperature: 0,
      top_p: 0.5,
      seed: 7,
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }],
      tool_choice: 'auto',
      response_format: { type: 'json_schema', json_schema: { name: 's', schema: { type: 'object' } } },
      some_new_field: { nested: [1, 2, 3] },
    });
    await postChat(world.gateway, apiKey, body);
    const sent = world.upstream.requests.at(-1);
    expect(sent?.body).toMatchObject(body);
    await postChat(world.gateway, apiKey, {
      ...body,
      seed: 8,
      stream: true,
      stream_options: { include_usage: false },
    });
    expect(world.upstream.requests.at(-1)?.body).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(world.upstream.requests.at(-1)?.headers.authorization).toBe('Bearer sk-fake-upstream-key');
    expect(JSON.stringify(world.upstream.requests.at(-1)?.headers)).not.toContain(apiKey);
  });
});
