import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { logRow, ON_ONE_KIND, settledLedger, shareEnvironment, type TestEnvironment, waitUntil } from './environment';

const SETUP_MS = 60_000;

/** What the echoing vendor saw of one request. */
interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly bytes: number;
}

/** Every provider of these suites. */
const ALLOWED = ['openai', 'anthropic', 'gemini', 'bedrock', 'groq', 'xai'];
/** Besides inference. */
const LISTED = [
  ...['GET /v1/files', 'POST /v1/files', 'GET /v1/models', 'POST /v1/audio/transcriptions'],
  ...['GET /v1/redirect', 'GET /v1/unauthorized', 'GET /v1/teapot'],
];

/** A vendor that tells what it got. */
function startEcho() {
  const seen: Seen[] = [];
  let uploading = 0;
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    async fetch(request) {
      const url = new URL(request.url);
      let bytes = 0;
      if (request.body !== null) {
        for await (const chunk of request.body) {
          bytes += chunk.byteLength;
          uploading = bytes;
          if (url.searchParams.has('slow')) await Bun.sleep(20);
        }
      }
      const entry = {
        method: request.method,
        path: url.pathname + url.search,
        headers: Object.fromEntries(request.headers),
        bytes,
      };
      seen.push(entry);
      if (url.pathname.endsWith('/redirect'))
        return new Response(null, { status: 302, headers: { location: 'http://127.0.0.1:1/' } });
      if (url.pathname.endsWith('/unauthorized')) {
        return Response.json({ error: { message: 'Incorrect API key provided: echo-vendor-key' } }, { status: 401 });
      }
      if (url.pathname.endsWith('/teapot')) {
        return Response.json(
          { error: { message: `you sent ${request.headers.get('authorization')}` } },
          { status: 418 },
        );
      }
      return new Response(new Uint8Array([0, 1, 2, 255]), {
        headers: {
          'content-type': 'application/octet-stream',
          'set-cookie': 'session=1',
          'openai-organization': 'secret-org',
          'x-request-id': 'vendor-id',
          'x-ratelimit-remaining-tokens': '7',
          'access-control-allow-origin': '*',
        },
      });
    },
  });
  return { seen, url: `http://127.0.0.1:${server.port}`, uploaded: () => uploading, stop: () => server.stop(true) };
}

describe.each(ON_ONE_KIND)('native APIs passed through on %s stores', (kind) => {
  let world: TestEnvironment;
  let apiKey: string;
  const echo = startEcho();
  beforeAll(async () => {
    world = await shareEnvironment({
      kind,
      env: {
        ...{ GROQ_API_KEY: 'echo-vendor-key', GROQ_BASE_URL: `${echo.url}/openai/v1`, MAX_BODY_BYTES: '3000000' },
        ...{ XAI_API_KEY: 'key', XAI_BASE_URL: 'https://nobody-is-here.invalid/v1' },
      },
    });
    await callAdmin(world.gateway, '/providers', { body: { name: 'groq', passthrough_paths: LISTED } });
  }, SETUP_MS);
  beforeEach(async () => {
    world.upstream.control.reset();
    echo.seen.length = 0;
    ({ apiKey } = await createKey());
  });
  afterAll(async () => {
    await world.close();
    await echo.stop();
  }, SETUP_MS);

  const createKey = (settings: Parameters<typeof createTestKey>[1] = {}) =>
    createTestKey(world.gateway, { ...settings, project: { passthrough: ALLOWED, ...settings.project } });
  const call = (path: string, init: RequestInit & { key?: string } = {}) => {
    const { key = apiKey, headers, ...rest } = init;
    return fetch(`${world.gateway.url}/passthrough/${path}`, {
      ...rest,
      headers: { authorization: `Bearer ${key}`, ...(headers as Record<string, string>) },
    });
  };
  const json = (body: unknown, more: RequestInit & { key?: string } = {}) => ({
    ...more,
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...(more.headers as Record<string, string>) },
  });
  const rowOf = (response: Response) => logRow(world.gateway, response.headers.get('x-request-id') ?? '');
  const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code;
  const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] };

  test('the official SDK against the native path: the very body, the provider key, usage and cost', async () => {
    const client = new OpenAI({ apiKey, baseURL: `${world.gateway.url}/passthrough/openai/v1`, maxRetries: 0 });
    world.upstream.control.enqueue({ text: 'native', usage: { prompt: 12, completion: 3 } });
    const { data, response } = await client.chat.completions
      .create({ ...chat, messages: [{ role: 'user', content: 'Hi' }], ...{ odd_field: [1] } })
      .withResponse();
    expect(data.choices[0]?.message.content).toBe('native');
    expect(data).not.toHaveProperty('cost_usd');
    const [sent] = world.upstream.requests;
    expect(sent?.body).toEqual({ ...chat, odd_field: [1] });
    expect(sent?.headers.authorization).toBe('Bearer sk-fake-upstream-key');
    expect(await rowOf(response)).toMatchObject({
      ...{ status: 'success', dialect: 'passthrough', model: 'gpt-4o-mini', tokens_in: 12, tokens_out: 3 },
      ...{ cost_usd: 0.0000036, cost_estimated: false, stream: false },
    });
  });

  test.each([
    ['openai/v1/chat/completions', { ...chat, stream: true, stream_options: { include_usage: true } }, false],
    ['openai/v1/chat/completions', { ...chat, stream: true }, false],
    ['openai/v1/completions', { model: 'gpt-3.5-turbo-instruct', prompt: 'Hi' }, false],
    ['openai/v1/completions', { model: 'gpt-3.5-turbo-instruct', prompt: 'Hi', stream: true }, false],
    ['anthropic/v1/messages', { ...chat, model: 'claude-haiku-4-5', max_tokens: 50, stream: true }, false],
    ['anthropic/v1/messages', { ...chat, model: 'claude-haiku-4-5', max_tokens: 50 }, false],
    [
      'gemini/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
      { contents: [{ parts: [{ text: 'Hi' }] }] },
      false,
    ],
    ['gemini/v1beta/models/gemini-2.5-flash:generateContent', { contents: [{ parts: [{ text: 'Hi' }] }] }, false],
    [
      'bedrock/model/amazon.nova-2-lite-v1%3A0/converse',
      { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] },
      false,
    ],
    [
      'bedrock/model/amazon.nova-2-lite-v1%3A0/converse-stream',
      { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] },
      false,
    ],
    ['openai/v1/embeddings', { model: 'text-embedding-3-small', input: 'six words that are to count' }, false],
  ])('%s: bytes untouched, usage read from a copy', async (path, body, estimated) => {
    world.upstream.control.setDefault({ text: 'one two three four', chunks: 4, usage: { prompt: 9, completion: 4 } });
    const direct = await fetch(`${world.upstream.url}/${path.slice(path.indexOf('/') + 1)}`, json(body));
    const response = await call(path, json(body));
    expect([response.status, await response.text()]).toEqual([200, await direct.text()]);
    expect(response.headers.get('content-type')).toBe(direct.headers.get('content-type'));
    const row = await rowOf(response);
    expect([row.status, row.cost_estimated]).toEqual(['success', estimated]);
    if (!estimated) expect([row.tokens_in, row.tokens_out]).toEqual(path.includes('embeddings') ? [6, 0] : [9, 4]);
    expect(row.cost_usd).toBeGreaterThan(0);
  });

  test('keys in any vendor header; credentials, cookies and hops never reach the vendor', async () => {
    for (const name of ['x-api-key', 'x-goog-api-key']) {
      const response = await fetch(`${world.gateway.url}/passthrough/groq/v1/files?key=llm0_live_x&limit=2`, {
        headers: {
          ...{
            [name]: apiKey,
            cookie: 'a=b',
            'x-forwarded-for': '10.0.0.1',
            'x-llm0-team': 'blue',
            'x-customer-id': 'c1',
          },
          ...{
            'openai-organization': 'org-other',
            'openai-beta': 'assistants=v2',
            connection: 'close, x-hop',
            'x-hop': '1',
          },
        },
      });
      expect(new Uint8Array(await response.arrayBuffer())).toEqual(new Uint8Array([0, 1, 2, 255]));
      const seen = echo.seen.at(-1);
      expect([seen?.method, seen?.path]).toEqual(['GET', '/openai/v1/files?limit=2']);
      expect(seen?.headers).toMatchObject({ authorization: 'Bearer echo-vendor-key', 'openai-beta': 'assistants=v2' });
      for (const gone of [
        'cookie',
        'x-forwarded-for',
        'x-llm0-team',
        'x-customer-id',
        'openai-organization',
        'x-hop',
        'x-api-key',
        'x-goog-api-key',
      ]) {
        expect(seen?.headers).not.toHaveProperty(gone);
      }
      expect(response.headers.get('x-upstream-request-id')).toBe('vendor-id');
      expect(response.headers.get('x-ratelimit-remaining-tokens')).toBe('7');
      for (const gone of ['set-cookie', 'openai-organization', 'access-control-allow-origin']) {
        expect(response.headers.has(gone)).toBe(false);
      }
      const row = await rowOf(response);
      expect(row).toMatchObject({ status: 'success', cost_usd: 0, labels: { team: 'blue' }, model: 'passthrough' });
    }
    const refused = await fetch(`${world.gateway.url}/passthrough/groq/v1/files`);
    expect([refused.status, await codeOf(refused)]).toEqual([401, 'missing_api_key']);
  });

  test('multipart bodies go on as they come, as fast as the vendor takes them', async () => {
    const form = new FormData();
    form.set('purpose', 'assistants');
    form.set('file', new Blob([new Uint8Array(1_000_000)]), 'data.bin');
    const response = await call('groq/v1/files', { method: 'POST', body: form });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-warning')).toBe('unpriced');
    const seen = echo.seen.at(-1);
    expect(seen?.headers['content-type']).toStartWith('multipart/form-data; boundary=');
    expect(seen?.bytes).toBe(Number(seen?.headers['content-length']));
    expect(seen?.bytes).toBeGreaterThan(1_000_000);
    const row = (await rowOf(response)) as unknown as { cost_usd: number; cost_detail: unknown };
    expect([row.cost_usd, row.cost_detail]).toEqual([0, { price_source: 'unpriced' }]);
    expect(echo.uploaded()).toBe(seen?.bytes ?? 0);
  });

  test('a body past the limit is refused, declared or not', async () => {
    const declared = await call('groq/v1/files', { method: 'POST', body: new Uint8Array(3_000_001) });
    expect([declared.status, await codeOf(declared)]).toEqual([413, 'request_too_large']);
    let sent = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 500_000;
        controller.enqueue(new Uint8Array(500_000));
        if (sent >= 6_000_000) controller.close();
      },
    });
    const chunked = await call('groq/v1/files', {
      method: 'POST',
      body: stream,
      headers: { 'content-type': 'audio/wav' },
    });
    expect([chunked.status, await codeOf(chunked)]).toEqual([413, 'request_too_large']);
    expect((await settledLedger(world.gateway)).open_holds).toBe(0);
  });

  test.each([
    '/passthrough/groq/v1/../../secret',
    '/passthrough/groq/%2e%2e/secret',
    '/passthrough/groq/v1/%2e%2e/%2e%2e/secret',
    '/passthrough/groq/v1/..%2f..%2fsecret',
    '/passthrough/groq/v1/%252e%252e/secret',
    '/passthrough/groq//evil.example/v1',
    '/passthrough/groq/v1/..%5csecret',
    '/passthrough/groq/@evil.example/%00',
  ])('a path that leaves the vendor never gets there: %s', async (path) => {
    const answer = await rawRequest(world.gateway.url, path, apiKey);
    expect(answer).toMatch(/^HTTP\/1\.1 (400|404) /);
    expect(echo.seen).toEqual([]);
  });

  test('the gateway’s own errors come in the vendor’s envelope, where its clients look for them', async () => {
    const wrong = `llm0_live_${'0'.repeat(64)}`;
    const baseURL = `${world.gateway.url}/passthrough/anthropic`;
    const anthropic = new Anthropic({ apiKey: wrong, baseURL, maxRetries: 0 });
    const message = { model: 'claude-haiku-4-5', max_tokens: 5, messages: [{ role: 'user' as const, content: 'x' }] };
    const refused = await anthropic.messages.create(message).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Anthropic.AuthenticationError);
    expect(refused).toMatchObject({ status: 401, type: 'authentication_error', requestID: expect.any(String) });
    const gemini = await call('gemini/v1beta/models/gemini-2.5-flash:generateContent', { ...json({}), key: wrong });
    const body = (await gemini.json()) as { error: unknown };
    expect([gemini.status, body.error]).toMatchObject([401, { code: 401, status: 'UNAUTHENTICATED' }]);
    const limited = await createKey({ key: { allowed_models: ['gpt-4o-mini'] } });
    const nova = { ...json({ messages: [] }), key: limited.apiKey };
    const bedrock = await call('bedrock/model/amazon.nova-2-lite-v1%3A0/converse', nova);
    expect([bedrock.status, bedrock.headers.get('x-amzn-errortype')]).toEqual([403, 'AccessDeniedException']);
    expect(await bedrock.json()).toMatchObject({ code: 'model_not_allowed', message: expect.any(String) });
    const unknown = await call('nobody/v1/x');
    expect([unknown.status, await codeOf(unknown)]).toEqual([404, 'not_found']);
  });

  test('an Idempotency-Key goes on, but never the same one for two callers', async () => {
    const other = await createKey();
    for (const key of [apiKey, apiKey, other.apiKey]) {
      const headers = { 'Idempotency-Key': 'mine' };
      await (await call('openai/v1/chat/completions', { ...json(chat, { headers }), key })).text();
    }
    const [first, second, third] = world.upstream.requests.map((request) => request.headers['idempotency-key']);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  test('a vendor whose host has no address is away: 503 with a time to come back', async () => {
    const away = await call('xai/v1/chat/completions', json(chat));
    const { error } = (await away.json()) as { error: { code: string; message: string } };
    expect([away.status, error.code, away.headers.get('retry-after')]).toEqual([503, 'upstream_unavailable', '1']);
    expect(error.message).toContain('xai');
    expect(await rowOf(away)).toMatchObject({ status: 'error', error_code: 'upstream_unavailable' });
  });

  test('a redirect and a refused operator key become gateway errors', async () => {
    const redirected = await call('groq/v1/redirect', { redirect: 'manual' });
    expect([redirected.status, await codeOf(redirected)]).toEqual([502, 'upstream_error']);
    const refused = await call('groq/v1/unauthorized');
    const text = await refused.text();
    expect(refused.status).toBe(502);
    expect(text).not.toContain('echo-vendor-key');
    const odd = await call('groq/v1/teapot');
    expect([odd.status, (await odd.text()).includes('echo-vendor-key')]).toEqual([418, false]);
    expect(await rowOf(odd)).toMatchObject({
      status: 'error',
      http_status: 418,
      error_code: 'upstream_rejected',
      cost_usd: 0,
    });
  });

  test('nobody to pass it to', async () => {
    for (const path of ['nowhere/v1/models', 'demo/v1/models', '']) {
      const response = await call(path);
      expect([response.status, await codeOf(response)]).toEqual([404, 'not_found']);
    }
  });

  test('the caller leaves: the vendor is cancelled, the tokens so far are booked', async () => {
    world.upstream.control.enqueue({ chunks: 500, gapMs: 10 });
    const leaving = new AbortController();
    const response = await call(
      'openai/v1/chat/completions',
      json({ ...chat, stream: true }, { signal: leaving.signal }),
    );
    const reader = response.body?.getReader();
    for (let i = 0; i < 5; i++) await reader?.read();
    leaving.abort();
    await waitUntil(() => world.upstream.control.counters.cancelled === 1, 1000);
    const row = await rowOf(response);
    expect(row).toMatchObject({ status: 'aborted', cost_estimated: true });
    expect(row.tokens_out).toBeGreaterThan(0);
    expect((await settledLedger(world.gateway)).ok).toBe(true);
  });

  test('a stream that breaks is cut, never ended', async () => {
    world.upstream.control.enqueue({ chunks: 20, resetAfter: 5 });
    const response = await call('openai/v1/chat/completions', json({ ...chat, stream: true }));
    await expect(response.text()).rejects.toBeDefined();
    expect(await rowOf(response)).toMatchObject({ status: 'error', error_code: 'upstream_error' });
  });

  test('limits hold: caps, requests, allowed models, unknown prices', async () => {
    const cap = await createKey({ project: { monthly_cap_usd: 0.000001 } });
    const refused = await call('openai/v1/chat/completions', json(chat, { key: cap.apiKey }));
    expect([refused.status, await codeOf(refused)]).toEqual([402, 'spend_cap_exceeded']);
    const unknown = await call('groq/v1/audio/transcriptions', json({ model: 'whisper' }, { key: cap.apiKey }));
    expect([unknown.status, await codeOf(unknown)]).toEqual([400, 'model_not_priced']);
    expect((await call('groq/v1/models', { key: cap.apiKey })).status).toBe(200);
    const slow = await createKey({ key: { rate_limit_per_minute: 1 } });
    expect((await call('groq/v1/models', { key: slow.apiKey })).status).toBe(200);
    expect((await call('groq/v1/models', { key: slow.apiKey })).status).toBe(429);
    const narrow = await createKey({ key: { allowed_models: ['gpt-4o-mini'] } });
    expect((await call('openai/v1/chat/completions', json(chat, { key: narrow.apiKey }))).status).toBe(200);
    for (const path of ['groq/v1/files', 'groq/v1/models']) {
      const other = await call(path, { key: narrow.apiKey });
      expect([other.status, await codeOf(other)]).toEqual([403, 'model_not_allowed']);
    }
    expect(
      (await call('openai/v1/chat/completions', json({ ...chat, model: 'gpt-4o' }, { key: narrow.apiKey }))).status,
    ).toBe(403);
    await callAdmin(world.gateway, `/projects/${narrow.projectId}/keys/${narrow.keyId}`, { method: 'DELETE' });
    expect((await call('openai/v1/chat/completions', json(chat, { key: narrow.apiKey }))).status).toBe(401);
  });

  test('under strict caps only what has a bound', async () => {
    const { apiKey: key } = await createKey({ project: { strict_caps: true, monthly_cap_usd: 1 } });
    const bounded = { ...chat, max_tokens: 20 };
    const path = 'openai/v1/chat/completions';
    expect((await call(path, json(bounded, { key }))).status).toBe(200);
    const image = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x.example/a.png' } }] }];
    // Usage is asked for where the caller did not, and nobody sees it.
    const streamed = await call(path, json({ ...bounded, stream: true }, { key }));
    expect([streamed.status, (await streamed.text()).includes('"usage":{')]).toEqual([200, false]);
    expect(world.upstream.requests.at(-1)?.body.stream_options).toEqual({ include_usage: true });
    for (const body of [
      chat,
      { ...bounded, max_tokens: '20' },
      { ...bounded, n: '5' },
      { ...bounded, provider: { only: ['dear'] } },
      { ...bounded, web_search_options: {} },
      { ...bounded, messages: image },
      { ...bounded, tools: [{ type: 'web_search' }] },
    ]) {
      const response = await call(path, json(body, { key }));
      expect([response.status, await codeOf(response)]).toEqual([400, 'request_over_limit']);
    }
    const tools = [
      { type: 'function', function: { name: 'f', parameters: { properties: { file: { type: 'string' } } } } },
    ];
    expect((await call(path, json({ ...bounded, tools }, { key }))).status).toBe(200);
    expect((await call('groq/v1/files', json({}, { key }))).status).toBe(400);
  });
});

/** One request as it stands, without a client that tidies its path. */
function rawRequest(url: string, path: string, apiKey: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  const socket = connect(Number(port), hostname, () => {
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${apiKey}\r\nConnection: close\r\n\r\n`,
    );
  });
  socket.on('data', (data) => {
    text += data.toString();
  });
  socket.on('close', () => resolve(text));
  socket.on('error', reject);
  return promise;
}
