import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type HttpBackend, startHttpBackend } from '../fake-upstream/start-http-backend';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { logRow, ON_ONE_KIND, settledLedger, shareEnvironment, type TestEnvironment, waitUntil } from './environment';

const SETUP_MS = 60_000;

interface CallOptions extends RequestInit {
  readonly key?: string;
}

describe.each(ON_ONE_KIND)('plain HTTP backends on %s stores', (kind) => {
  let world: TestEnvironment;
  let apiKey: string;
  let backend: HttpBackend;
  beforeAll(async () => {
    backend = startHttpBackend();
    world = await shareEnvironment({
      kind,
      env: {
        ...{ PY_SERVICE_URL: `${backend.url}/base`, BACKEND_ECHO_URL: backend.url, MAX_BODY_BYTES: '3000000' },
        ...{ BACKEND_GONE_URL: 'http://127.0.0.1:9', STREAM_IDLE_TIMEOUT: '2s' },
      },
    });
  }, SETUP_MS);
  beforeEach(async () => {
    backend.seen.length = 0;
    backend.answer = () => Response.json({ ok: true });
    ({ apiKey } = await createTestKey(world.gateway));
  });
  afterAll(async () => {
    await world.close();
    await backend.stop();
  }, SETUP_MS);

  const call = (path: string, { key = apiKey, headers, ...init }: CallOptions = {}) =>
    fetch(`${world.gateway.url}/infer/${path}`, {
      redirect: 'manual',
      ...init,
      headers: { authorization: `Bearer ${key}`, ...(headers as Record<string, string>) },
    });
  const rowOf = (response: Response) => logRow(world.gateway, response.headers.get('x-request-id') ?? '');
  const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code;

  test("forwards a request without the gateway's headers and returns the answer", async () => {
    backend.answer = () =>
      new Response(new Uint8Array([0, 1, 255]), {
        status: 201,
        headers: {
          'content-type': 'application/x-thing',
          'x-own': 'yes',
          'set-cookie': 'a=b',
          'x-ratelimit-limit': '9',
        },
      });
    const response = await call('py/predict/a%20b?x=1&x=%2F', {
      method: 'POST',
      body: 'the body',
      headers: {
        ...{ 'x-api-key': 'k', 'api-key': 'k', 'x-goog-api-key': 'k', cookie: 'llm0=1', 'x-llm0-team': 'a' },
        ...{
          'x-forwarded-host': 'evil',
          'x-http-method-override': 'DELETE',
          connection: 'x-secret',
          'x-secret': 'hop',
        },
        ...{ 'content-type': 'text/weird', 'x-mine': 'kept', 'x-customer-id': 'ann' },
      },
    });
    expect(response.status).toBe(201);
    expect([...(await response.bytes())]).toEqual([0, 1, 255]);
    const [seen] = backend.seen;
    expect(seen).toMatchObject({ method: 'POST', target: '/base/predict/a%20b?x=1&x=%2F', body: 'the body' });
    expect(seen?.headers).toMatchObject({ 'content-type': 'text/weird' });
    expect(seen?.headers['x-request-id']).toBe(response.headers.get('x-request-id') ?? '');
    for (const name of [
      'authorization',
      'x-api-key',
      'api-key',
      'x-goog-api-key',
      'cookie',
      'x-llm0-team',
      'x-secret',
    ]) {
      expect([name, seen?.headers[name]]).toEqual([name, undefined]);
    }
    for (const name of ['x-mine', 'x-forwarded-host', 'x-http-method-override', 'x-customer-id']) {
      expect([name, seen?.headers[name]]).toEqual([name, undefined]);
    }
    expect(response.headers.get('content-type')).toBe('application/x-thing');
    expect(response.headers.get('x-own')).toBe('yes');
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(response.headers.get('x-ratelimit-limit')).toBeNull();
    expect(response.headers.get('x-provider')).toBe('infer:py');
    expect(await rowOf(response)).toMatchObject({
      ...{ status: 'success', http_status: 201, dialect: 'infer', provider: 'infer:py', model: 'py' },
      ...{ requested_model: 'POST /predict/a%20b', labels: { team: 'a' }, customer_id: 'ann' },
    } as object);
  });

  test("a caller's trace goes on to the backend and stands on the row", async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const response = await call('echo/traced', { headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` } });
    expect(backend.seen[0]?.headers.traceparent).toContain(traceId);
    expect(await rowOf(response)).toMatchObject({ trace_id: traceId } as object);
    await call('echo/untraced', { headers: { traceparent: 'odd', tracestate: 'x=y' } });
    expect(backend.seen[1]?.headers.traceparent).toBeUndefined();
  });

  test.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'GET'])('%s is passed on', async (method) => {
    const response = await call('echo/x', { method });
    expect([response.status, backend.seen[0]?.method]).toEqual([200, method]);
  });

  test('HEAD has the length and no body', async () => {
    backend.answer = () => new Response(null, { headers: { 'content-length': '123456' } });
    const response = await call('echo/head?no-cache', { method: 'HEAD', headers: { 'cache-control': 'no-store' } });
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect(response.headers.get('content-length')).toBe('123456');
  });

  test('a missing response gets 404 in the envelope and a row', async () => {
    const response = await call('nobody/x');
    expect([response.status, await codeOf(response)]).toEqual([404, 'not_found']);
    expect(await rowOf(response)).toMatchObject({ status: 'error', error_code: 'not_found' });
    expect((await fetch(`${world.gateway.url}/infer/echo/x`)).status).toBe(401);
    const gone = await call('gone/x');
    expect([gone.status, await codeOf(gone)]).toEqual([503, 'upstream_unavailable']);
    expect(await rowOf(gone)).toMatchObject({ status: 'error', error_code: 'upstream_unavailable', cost_usd: 0 });
    expect((await call('gone')).status).toBe(503);
  });

  test.each(['models', 'providers'])('a key that names %s may use only the backends it names', async (what) => {
    const { apiKey: key } = await createTestKey(world.gateway, { key: { [`allowed_${what}`]: ['infer:py'] } });
    expect((await call('py/x', { key })).status).toBe(200);
    const refused = await call('echo/x', { key });
    expect([refused.status, await codeOf(refused)]).toEqual([403, 'model_not_allowed']);
  });

  test('redirects come back as answers, and lead through the gateway', async () => {
    const locations: readonly [given: string, told: string][] = [
      [`${backend.url}/base/next?a=1`, '/infer/py/next?a=1'],
      ['/base/there', '/infer/py/there'],
      ['relative', 'relative'],
      ['../base/up', '/infer/py/up'],
      // To no other backend.
      ['../echo/up', '/echo/up'],
      ['/elsewhere', '/elsewhere'],
      ['https://other.test/x', 'https://other.test/x'],
    ];
    for (const [location, told] of locations) {
      backend.answer = () => new Response(null, { status: 302, headers: { location } });
      const response = await call('py/redirect');
      expect([response.status, response.headers.get('location')]).toEqual([302, told]);
    }
  });

  test('answers stream as they come, compressed ones untouched', async () => {
    const more = Promise.withResolvers<void>();
    backend.answer = () =>
      new Response(
        new ReadableStream({
          async start(controller) {
            controller.enqueue(new TextEncoder().encode('first'));
            await more.promise;
            controller.enqueue(new TextEncoder().encode('second'));
            controller.close();
          },
        }),
      );
    const response = await call('echo/stream');
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('first');
    more.resolve();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('second');
    expect((await reader.read()).done).toBe(true);

    const packed = Bun.gzipSync(Buffer.from('hello '.repeat(100)));
    backend.answer = () => new Response(packed, { headers: { 'content-encoding': 'gzip' } });
    const raw = await call('echo/packed', { headers: { 'accept-encoding': 'gzip' }, decompress: false } as CallOptions);
    expect(raw.headers.get('content-encoding')).toBe('gzip');
    expect(Buffer.from(await raw.bytes()).equals(packed)).toBe(true);
  });

  test('a body is sent on as fast as the backend takes it, within its bound', async () => {
    const big = Buffer.alloc(2_000_000, 'x');
    const response = await call('echo/upload', { method: 'POST', body: big });
    expect(response.status).toBe(200);
    expect(backend.seen[0]?.body.length).toBe(big.length);
    expect(backend.seen[0]?.headers['content-length']).toBe(String(big.length));
    const tooLarge = await call('echo/upload', { method: 'POST', body: Buffer.alloc(3_000_001) });
    expect([tooLarge.status, await codeOf(tooLarge)]).toEqual([413, 'request_too_large']);
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(500_000)),
    });
    const cut = await call('echo/upload', { method: 'POST', body: endless }).catch(() => undefined);
    if (cut !== undefined) expect(cut.status).toBe(413);
    expect(backend.seen.every(({ body }) => body.length <= 3_000_000)).toBe(true);
  });

  test('a caller that leaves cancels the backend, and its row says so', async () => {
    const cancelled = Promise.withResolvers<void>();
    backend.answer = (request) => {
      request.signal.addEventListener('abort', () => cancelled.resolve());
      return new Response(
        new ReadableStream({
          pull: async (controller) => {
            controller.enqueue(new Uint8Array(10));
            await Bun.sleep(20);
          },
          cancel: () => cancelled.resolve(),
        }),
      );
    };
    const stop = new AbortController();
    const response = await call('echo/endless', { signal: stop.signal });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    stop.abort();
    await cancelled.promise;
    expect(await rowOf(response)).toMatchObject({ status: 'aborted', http_status: 499 });
  });

  test('silence in the middle of an answer breaks it off', async () => {
    backend.answer = () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new Uint8Array(10)),
        }),
      );
    const response = await call('echo/silent');
    expect(
      await response.bytes().then(
        () => 'whole',
        () => 'broken',
      ),
    ).toBe('broken');
    expect(await rowOf(response)).toMatchObject({ status: 'error', error_code: 'upstream_timeout' });
  });

  const add = (body: object) =>
    callAdmin<{ id: string; name: string; forward_headers: string[] }>(world.gateway, '/backends', { body });
  const freeName = () => `b-${crypto.randomUUID().slice(0, 8)}`;

  test('the price is held and booked once; what the backend could not do costs nothing', async () => {
    const { name } = await add({
      name: freeName(),
      url: backend.url,
      price_per_request_usd: 0.25,
      cache: { enabled: false },
    });
    const made = await createTestKey(world.gateway, { project: { monthly_cap_usd: 0.6 } });
    const key = made.apiKey;
    const ask = (path: string) => call(`${name}/${path}`, { key });
    expect(await rowOf(await ask('one'))).toMatchObject({ cost_usd: 0.25, status: 'success' });
    backend.answer = () => new Response('no', { status: 500 });
    expect(await rowOf(await ask('two'))).toMatchObject({
      cost_usd: 0,
      http_status: 500,
      error_code: 'upstream_error',
    });
    backend.answer = () => new Response('no', { status: 404 });
    expect(await rowOf(await ask('three'))).toMatchObject({ cost_usd: 0.25, http_status: 404 });
    const refused = await ask('four');
    expect([refused.status, await codeOf(refused)]).toEqual([402, 'spend_cap_exceeded']);
    const ledger = await settledLedger(world.gateway);
    expect(ledger.ok).toBe(true);
    const own = ledger.projects.find(({ project_id: id }) => id === made.projectId);
    expect(own).toMatchObject({ counter_usd: 0.5, logs_usd: 0.5, diff_usd: 0 });
  });

  test('retries only safe requests, as often as configured', async () => {
    const { name } = await add({ name: freeName(), url: backend.url, retries: 2, cache: { enabled: false } });
    let left = 2;
    const failTwice = () => (left-- > 0 ? new Response('away', { status: 503 }) : Response.json({ fine: true }));
    backend.answer = failTwice;
    const response = await call(`${name}/x`);
    expect([response.status, backend.seen.length]).toEqual([200, 3]);
    expect(((await rowOf(response)) as unknown as { attempts: { outcome: string }[] }).attempts).toMatchObject([
      { outcome: 'server_error', status: 503 },
      { outcome: 'server_error', status: 503 },
      { outcome: 'ok', status: 200 },
    ]);
    left = 2;
    backend.seen.length = 0;
    expect((await call(`${name}/x`, { method: 'POST', body: 'x' })).status).toBe(503);
    expect(backend.seen).toHaveLength(1);
  });

  test('a backend that takes too long is given up', async () => {
    const { name } = await add({ name: freeName(), url: backend.url, timeout_ms: 200, retries: 0 });
    backend.answer = () => Bun.sleep(1000).then(() => new Response('late'));
    const late = await call(`${name}/x`);
    expect([late.status, await codeOf(late)]).toEqual([504, 'upstream_timeout']);
  });

  test('a backend that fails again and again is asked no more for a while, whatever its answers to single requests', async () => {
    const { name } = await add({ name: freeName(), url: backend.url, retries: 0, cache: { enabled: false } });
    backend.answer = () => new Response('mistake', { status: 500 });
    for (let i = 0; i < 6; i++) expect((await call(`${name}/x`)).status).toBe(500);
    backend.answer = () => new Response('away', { status: 502 });
    const statuses: number[] = [];
    for (let i = 0; i < 40; i++) statuses.push((await call(`${name}/x`)).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([502, 503]);
    const asked = backend.seen.length;
    const refused = await call(`${name}/x`);
    expect([refused.status, await codeOf(refused)]).toEqual([503, 'upstream_unavailable']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(backend.seen.length).toBe(asked);
    // It answers its probe by now, and requests to it are refused all the same.
    backend.answer = () => new Response('fine');
    const page = (await (await fetch(`${world.gateway.url}/healthz`)).json()) as { backends: Record<string, object> };
    expect(page.backends[name]).toMatchObject({ ok: false, breaker: 'open', detail: expect.any(String) });
  });

  test('one that asked to be left alone is asked again once its operator tests or changes it', async () => {
    const made = { name: freeName(), url: backend.url, retries: 0, cache: { enabled: false } };
    let { id } = await add(made);
    const admin = (method: string, body?: object, path = '') =>
      callAdmin(world.gateway, `/backends/${id}${path}`, { method, body });
    const busy = () => new Response('busy', { status: 503, headers: { 'retry-after': '86400' } });
    const reopening: readonly (() => Promise<unknown>)[] = [
      () => admin('POST', { path: '/' }, '/test'),
      () => admin('PATCH', { is_active: false }).then(() => admin('PATCH', { is_active: true })),
      () => admin('PATCH', { url: `${backend.url}/moved` }),
      async () => {
        await admin('DELETE');
        ({ id } = await add(made));
      },
    ];
    for (const reopen of reopening) {
      backend.answer = busy;
      expect(await (await call(`${made.name}/x`)).text()).toBe('busy');
      backend.answer = () => new Response('fine');
      const refused = (await (await call(`${made.name}/x`)).json()) as { error: { message: string } };
      expect(refused.error.message).toContain('sent Retry-After: the next call is at 20');
      await reopen();
      expect(await (await call(`${made.name}/x`)).text()).toBe('fine');
    }
  });

  test('headers of the operator are added, in place of the caller’s', async () => {
    const headers = { Authorization: 'Bearer of-the-backend', 'X-Tenant': 'gateway' };
    const { name } = await add({ name: freeName(), url: backend.url, headers });
    await call(`${name}/x`, { headers: { 'x-tenant': 'forged' } });
    expect(backend.seen[0]?.headers).toMatchObject({ authorization: 'Bearer of-the-backend', 'x-tenant': 'gateway' });
  });

  test('headers of callers go on where the operator named them, from the very next request', async () => {
    const { id, name, forward_headers } = await add({
      name: freeName(),
      url: backend.url,
      forward_headers: ['X-Mine'],
    });
    expect(forward_headers).toEqual(['X-Mine']);
    const headers = { 'x-mine': 'a', x_mine: 'b', 'remote-groups': 'admins' };
    await call(`${name}/x`, { headers });
    expect(backend.seen[0]?.headers).toMatchObject({ 'x-mine': 'a' });
    for (const left of ['x_mine', 'remote-groups']) expect(backend.seen[0]?.headers[left]).toBeUndefined();
    const change = (given: unknown) =>
      callAdmin(world.gateway, `/backends/${id}`, { method: 'PATCH', body: { forward_headers: given } });
    await change(null);
    await call(`${name}/x`, { headers });
    expect(backend.seen[1]?.headers['x-mine']).toBeUndefined();
    for (const never of [['Authorization'], ['x-llm0-cache'], ['Cookie'], ['a b'], ['Host'], 'X-Mine'])
      await expect(change(never)).rejects.toThrow('400');
  });

  test('a change holds from the very next request', async () => {
    const { id, name } = await add({ name: freeName(), url: backend.url });
    await call(`${name}/x`);
    await callAdmin(world.gateway, `/backends/${id}`, { method: 'PATCH', body: { url: `${backend.url}/moved` } });
    await call(`${name}/x`);
    expect(backend.seen.map(({ target }) => target)).toEqual(['/x', '/moved/x']);
    await callAdmin(world.gateway, `/backends/${id}`, { method: 'PATCH', body: { is_active: false } });
    expect((await call(`${name}/x`)).status).toBe(404);
    await callAdmin(world.gateway, `/backends/${id}`, { method: 'DELETE' });
    expect((await call(`${name}/x`)).status).toBe(404);
  });

  test('/healthz shows each backend', async () => {
    const page = (await (await fetch(`${world.gateway.url}/healthz`)).json()) as { ok: boolean; backends: object };
    expect(page.ok).toBe(true);
    expect(page.backends).toMatchObject({ py: { ok: true }, echo: { ok: true }, gone: { ok: false } });
  });

  test('a key over its rate is refused before the backend is asked', async () => {
    const { apiKey: key } = await createTestKey(world.gateway, { key: { rate_limit_per_minute: 2 } });
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await call(`echo/rate?${i}`, { key })).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
    expect(backend.seen).toHaveLength(2);
    await waitUntil(() => true);
  });
});
