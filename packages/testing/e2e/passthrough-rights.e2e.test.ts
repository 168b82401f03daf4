import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { hostGateway } from '../stores/host-gateway';
import { callAdmin, createTestKey, type GatewayProcess } from '../stores/start-gateway';
import { logRow, ON_ONE_KIND, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] };

/** A vendor that keeps what it was sent, byte by byte. */
function startRecorder() {
  const seen: { method: string; url: string; body: string; headers: Record<string, string> }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const headers = Object.fromEntries(request.headers);
      // The gateway asks Ollama for its models by itself.
      if (pathname === '/v1/models') return Response.json({ data: [] });
      seen.push({ method: request.method, url: pathname + search, body: await request.text(), headers });
      if (pathname === '/api/chat') {
        const lines = [
          { message: { role: 'assistant', content: 'Hello' }, done: false },
          { done: true, prompt_eval_count: 5, eval_count: 2 },
        ];
        const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
        return new Response(text, { headers: { 'content-type': 'application/x-ndjson' } });
      }
      return Response.json({ usage: { prompt_tokens: 3, completion_tokens: 1 }, choices: [] });
    },
  });
  return { seen, url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

describe.each(ON_ONE_KIND)('native API rights of a key, on %s stores', (kind) => {
  let world: TestEnvironment;
  const gateways: GatewayProcess[] = [];
  const vendor = startRecorder();
  beforeAll(async () => {
    world = await shareEnvironment({
      kind,
      env: {
        ...{ GROQ_API_KEY: 'groq-vendor-key', GROQ_BASE_URL: `${vendor.url}/api/v1`, OLLAMA_BASE_URL: vendor.url },
      },
    });
    gateways.push(world.gateway);
    // Beside embedded stores there can be no other.
    if (kind === 'real') gateways.push(await hostGateway({ env: world.env }));
  }, SETUP_MS);
  beforeEach(() => {
    vendor.seen.length = 0;
  });
  afterAll(async () => {
    await gateways[1]?.kill();
    await world.close();
    await vendor.stop();
  }, SETUP_MS);

  interface Call {
    readonly key: string;
    readonly method?: string;
    readonly body?: BodyInit | object;
    readonly headers?: Record<string, string>;
    readonly gateway?: GatewayProcess;
  }
  const call = (path: string, { key, method = 'POST', body, headers, gateway = world.gateway }: Call) => {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array || body instanceof FormData;
    return fetch(`${gateway.url}/passthrough/${path}`, {
      method,
      body: isRaw ? (body as BodyInit) : body === undefined ? undefined : JSON.stringify(body),
      headers: {
        authorization: `Bearer ${key}`,
        ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
  };
  const keyFor = (passthrough: string[] | null, key: Record<string, unknown> = {}) =>
    createTestKey(world.gateway, { project: { passthrough }, key });
  const messageOf = async (response: Response) => {
    const body = (await response.json()) as { message?: string; error?: { message: string } };
    return body.error?.message ?? body.message ?? '';
  };
  const list = (name: string, passthrough_paths: string[]) =>
    callAdmin(world.gateway, `/providers/${name}`, { method: 'PATCH', body: { passthrough_paths } });

  test('is off by default: 403 in each envelope, with the fix, and a row', async () => {
    const { apiKey: key } = await createTestKey(world.gateway);
    const asked = [
      ['openai/v1/chat/completions', CHAT],
      ['anthropic/v1/messages', { ...CHAT, model: 'claude-haiku-4-5', max_tokens: 5 }],
      ['gemini/v1beta/models/gemini-2.5-flash:generateContent', { contents: [] }],
      ['bedrock/model/amazon.nova-2-lite-v1%3A0/converse', { messages: [] }],
      ['groq/v1/files', {}],
    ] as const;
    for (const [path, body] of asked) {
      const response = await call(path, { key, body });
      const id = response.headers.get('x-request-id') ?? '';
      expect([path, response.status]).toEqual([path, 403]);
      expect(await messageOf(response)).toContain(`{"passthrough": ["${path.split('/')[0]}"]}`);
      expect(await logRow(world.gateway, id)).toMatchObject({ status: 'error', http_status: 403, cost_usd: 0 });
    }
    expect(world.upstream.control.counters.received).toBe(0);
    expect(vendor.seen).toEqual([]);
    // What the gateway itself offers in a vendor's format is no pass-through.
    const own = await fetch(`${world.gateway.url}/v1beta/models/gemini-2.5-flash:generateContent`, {
      method: 'POST',
      headers: { 'x-goog-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ contents: [{ parts: [{ text: 'Hi' }] }] }),
    });
    expect(own.status).toBe(200);
  });

  test('a key’s list counts before its project’s, an empty one too', async () => {
    const statusOf = async (project: string[] | null, key: Record<string, unknown>) =>
      (await call('groq/v1/chat/completions', { key: (await keyFor(project, key)).apiKey, body: CHAT })).status;
    expect(await statusOf(['groq'], {})).toBe(200);
    expect(await statusOf(['openai'], {})).toBe(403);
    expect(await statusOf(['groq'], { passthrough: [] })).toBe(403);
    expect(await statusOf(null, { passthrough: ['groq'] })).toBe(200);
    expect(await statusOf(['groq'], { passthrough: ['openai'] })).toBe(403);
  });

  test('switches hold from the very next request in every process', async () => {
    const { apiKey: key, projectId, keyId } = await keyFor(null);
    const ofProject = `/projects/${projectId}`;
    const ofKey = `${ofProject}/keys/${keyId}`;
    const patch = (path: string, body: object) => callAdmin(world.gateway, path, { method: 'PATCH', body });
    const statuses = (path: string, method = 'POST') =>
      Promise.all(
        gateways.map(
          async (gateway) =>
            (await call(path, { key, gateway, method, ...(method === 'POST' ? { body: CHAT } : {}) })).status,
        ),
      );
    const all = (status: number) => gateways.map(() => status);
    const path = 'groq/v1/chat/completions';
    expect(await statuses(path)).toEqual(all(403));
    for (const [where, on, off] of [
      [ofProject, ['groq'], null],
      [ofKey, ['groq'], null],
    ] as const) {
      await patch(where, { passthrough: on });
      expect(await statuses(path)).toEqual(all(200));
      await patch(where, { passthrough: off });
      expect(await statuses(path)).toEqual(all(403));
    }
    await patch(ofProject, { passthrough: ['openai'] });
    expect(await statuses('openai/v1/models', 'GET')).toEqual(all(403));
    await callAdmin(world.gateway, '/providers', { body: { name: 'openai', passthrough_paths: ['GET /v1/models'] } });
    expect(await statuses('openai/v1/models', 'GET')).toEqual(all(200));
    await callAdmin(world.gateway, '/providers/openai', { method: 'DELETE' });
    expect(await statuses('openai/v1/models', 'GET')).toEqual(all(403));
  });

  test('allows inference only, unless the operator lists method and path', async () => {
    const { apiKey: key } = await keyFor(['openai', 'groq', 'ollama', 'anthropic', 'gemini']);
    const refused = [
      ['GET', 'groq/v1/models'],
      ['DELETE', 'groq/v1/models/ft:gpt-4o:acme::1'],
      ['POST', 'groq/v1/files'],
      ['POST', 'groq/v1/fine_tuning/jobs'],
      ['GET', 'groq/v1/organization/users'],
      ['POST', 'groq/v1/batches'],
      ['GET', 'groq/v1/chat/completions'],
      ['DELETE', 'groq/v1/chat/completions'],
      ['POST', 'groq/v1/CHAT/completions'],
      ['POST', 'groq/v1/chat/completions/'],
      ['POST', 'groq/v1/chat%2fcompletions'],
      ['POST', 'groq/v1/chat/completions;x=y'],
      ['POST', 'groq/v1/files/x/chat/completions'],
      ['POST', 'groq/v1/organization/../chat/completions/x'],
      ['POST', 'groq/openai/deployments/gpt-4o-mini/chat/completions'],
      ['POST', 'anthropic/v1/messages/batches'],
      ['POST', 'gemini/v1beta/cachedContents'],
      ['DELETE', 'gemini/v1beta/tunedModels/mine'],
      ['POST', 'ollama/api/pull'],
      ['POST', 'ollama/api/create'],
      ['POST', 'ollama/api/copy'],
      ['POST', 'ollama/api/push'],
      ['DELETE', 'ollama/api/delete'],
      ['HEAD', 'ollama/api/blobs/sha256:0'],
    ] as const;
    for (const [method, path] of refused) {
      const response = await call(path, { key, method, ...(method === 'POST' ? { body: CHAT } : {}) });
      expect([method, path, response.status]).toEqual([method, path, 403]);
    }
    expect(vendor.seen).toEqual([]);
    await callAdmin(world.gateway, '/providers', {
      body: { name: 'groq', passthrough_paths: ['POST /v1/files', 'GET /v1/files/*'] },
    });
    expect((await call('groq/v1/files', { key, body: CHAT })).status).toBe(200);
    expect((await call('groq/v1/files/file-1', { key, method: 'GET' })).status).toBe(200);
    for (const path of ['groq/v1/files/file-1/content', 'groq/v1/files/a%2fb', 'groq/v1/files/a;b']) {
      expect([path, (await call(path, { key, method: 'GET' })).status]).toEqual([path, 403]);
    }
    // Asked by one method, never meant as another.
    await call('groq/v1/files?_method=DELETE&key=1&purpose=x', {
      ...{ key, body: CHAT },
      headers: { 'X-HTTP-Method-Override': 'DELETE', 'X-Original-URL': '/v1/models', 'X-Method-Override': 'DELETE' },
    });
    expect(vendor.seen.at(-1)).toMatchObject({ method: 'POST', url: '/api/v1/files?purpose=x' });
    expect(Object.keys(vendor.seen.at(-1)?.headers ?? {}).filter((name) => /override|original/.test(name))).toEqual([]);
    await list('groq', []);
    expect((await call('groq/v1/files', { key, body: CHAT })).status).toBe(403);
  });

  test('a base URL keeps its own path as the root', async () => {
    const { apiKey: key } = await keyFor(['groq', 'ollama']);
    for (const path of ['groq/v1/chat/completions', 'groq/chat/completions']) {
      expect((await call(path, { key, body: CHAT })).status).toBe(200);
      expect(vendor.seen.at(-1)?.url).toBe('/api/v1/chat/completions');
    }
    await list('groq', ['GET /**']);
    for (const [asked, sent] of [
      ['groq/v2/admin', '/api/v1/v2/admin'],
      ['groq/admin', '/api/v1/admin'],
      ['groq/api/admin', '/api/v1/api/admin'],
    ]) {
      await call(asked ?? '', { key, method: 'GET' });
      expect(vendor.seen.at(-1)?.url).toBe(sent);
    }
    const count = vendor.seen.length;
    const odd = ['v1/..%2fadmin', 'v1/%2e%2e/%2e%2e/admin', 'v1/..;/admin', 'v1//admin', 'v1/%EF%BC%8E%EF%BC%8E/admin'];
    for (const path of [...odd, 'v1/..%5cadmin', 'v1/x%EF%BC%8F..%EF%BC%8Fadmin', 'v1/%252e%252e%252fadmin']) {
      const response = await call(`groq/${path}`, { key, method: 'GET' });
      const sent = vendor.seen.slice(count).map(({ url }) => url);
      expect([path, response.status >= 400 && response.status < 500, sent]).toEqual([path, true, []]);
    }
    await list('groq', []);
    const native = await call('ollama/api/chat', { key, body: { model: 'llama3', messages: [] } });
    await native.text();
    expect([native.status, vendor.seen.at(-1)?.url]).toEqual([200, '/api/chat']);
    expect(await logRow(world.gateway, native.headers.get('x-request-id') ?? '')).toMatchObject({
      ...{ tokens_in: 5, tokens_out: 2, cost_usd: 0, cost_estimated: false, model: 'llama3' },
    });
  });

  test('the gateway forwards the checked JSON, not the original bytes', async () => {
    const { apiKey: key } = await keyFor(['groq'], { allowed_models: ['gpt-4o-mini'] });
    const path = 'groq/v1/chat/completions';
    const sendsModel = async (body: BodyInit, headers?: Record<string, string>) => {
      vendor.seen.length = 0;
      const { status } = await call(path, { key, body, headers });
      const text = vendor.seen[0]?.body;
      // As servers read it that take the first of two names.
      const first = text === undefined ? undefined : /"model"\s*:\s*"([^"]*)"/.exec(text)?.[1];
      return [status, first, vendor.seen[0]?.headers['content-type']];
    };
    const json = 'application/json';
    expect(await sendsModel('{"model":"gpt-4o","messages":[],"model":"gpt-4o-mini"}')).toEqual([
      200,
      'gpt-4o-mini',
      json,
    ]);
    expect(await sendsModel('{"model":"gpt-4o-mini","messages":[],"model":"gpt-4o"}')).toEqual([
      403,
      undefined,
      undefined,
    ]);
    expect(await sendsModel('{"mod\\u0065l":"gpt-4o","model":"gpt-4o-mini"}')).toEqual([200, 'gpt-4o-mini', json]);
    const bom = new Uint8Array([0xef, 0xbb, 0xbf, ...Buffer.from(JSON.stringify(CHAT))]);
    expect(await sendsModel(bom)).toEqual([200, 'gpt-4o-mini', json]);
    expect(vendor.seen[0]?.body.startsWith('{')).toBe(true);
    const utf16 = new Uint8Array(Buffer.from(JSON.stringify(CHAT), 'utf16le'));
    expect((await sendsModel(utf16, { 'content-type': 'application/json; charset=utf-16' }))[0]).toBe(400);
    expect((await sendsModel(new Uint8Array([123, 34, 255, 34, 58, 49, 125])))[0]).toBe(400);
    const utf7 = { 'content-type': 'application/json; charset=utf-7', 'content-encoding': 'identity' };
    expect(await sendsModel(JSON.stringify(CHAT), utf7)).toEqual([200, 'gpt-4o-mini', json]);
    expect(await sendsModel(JSON.stringify(CHAT), { 'content-type': 'text/plain' })).toEqual([
      200,
      'gpt-4o-mini',
      json,
    ]);
    const gzipped = { 'content-encoding': 'gzip' };
    expect((await sendsModel(Bun.gzipSync(JSON.stringify(CHAT)) as Uint8Array<ArrayBuffer>, gzipped))[0]).toBe(400);
    for (const body of ['[]', '"x"', '', '{"model":"gpt-4o-mini"']) expect((await sendsModel(body))[0]).toBe(400);
    // A large one is read and written in turns.
    const large = `{"model":"gpt-4o","messages":[{"role":"user","content":"${'x'.repeat(600_000)}"}],"model":"gpt-4o-mini"}`;
    expect(await sendsModel(large)).toEqual([200, 'gpt-4o-mini', json]);
    expect((await sendsModel(`${large}}`))[0]).toBe(400);
    const form = new FormData();
    form.set('model', 'gpt-4o');
    const asForm = await call(path, { key, body: form });
    expect([asForm.status, vendor.seen]).toEqual([400, []]);
  });

  test('operator headers replace the caller’s in any spelling, and no caller chooses the account', async () => {
    const headers = { 'OpenAI-Beta': 'operators', 'X-Team': 'operators' };
    await callAdmin(world.gateway, '/providers/groq', {
      ...{ method: 'PATCH', body: { headers, passthrough_paths: [] } },
    });
    const { apiKey: other } = await keyFor(['groq']);
    const response = await call('groq/v1/chat/completions', {
      ...{ key: other, body: CHAT },
      headers: {
        ...{ 'openai-beta': 'callers', 'x-team': 'callers', 'X-Auth-Token': 'mine', 'OpenAI-Organization': 'org-1' },
        ...{ 'X-Goog-User-Project': 'mine', 'OpenAI-Project': 'proj', Cookie: 'a=b', 'X-Amz-Security-Token': 't' },
        ...{ 'Anthropic-Workspace-Id': 'w', 'X-Forwarded-Host': 'evil', 'x-stainless-lang': 'js' },
      },
    });
    expect(response.status).toBe(200);
    const seen = vendor.seen.at(-1)?.headers ?? {};
    expect(seen).toMatchObject({ 'openai-beta': 'operators', 'x-team': 'operators', 'x-stainless-lang': 'js' });
    expect(seen.authorization).toBe('Bearer groq-vendor-key');
    const never = ['x-auth-token', 'openai-organization', 'openai-project', 'x-goog-user-project', 'cookie'];
    for (const name of [...never, 'x-amz-security-token', 'anthropic-workspace-id', 'x-forwarded-host']) {
      expect([name, name in seen]).toEqual([name, false]);
    }
  });
});
