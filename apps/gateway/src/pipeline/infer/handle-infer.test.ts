import { describe, expect, test } from 'bun:test';
import { CACHE_KINDS, cached, cacheOf, inferForEachTest } from './open-infer.fixture';

const open = inferForEachTest();

describe.each(CACHE_KINDS)('backends behind a %s cache', (kind) => {
  test('hits cost nothing, and their rows say what they saved', async () => {
    const { ask, world, rows, hotStore } = await open({ kind });
    world.origin = () => cached('hello');
    await (await ask('/x')).text();
    const hit = await ask('/x');
    expect([cacheOf(hit), await hit.text(), hit.headers.get('x-provider')]).toEqual(['HIT', 'hello', 'infer:py']);
    expect(await rows()).toMatchObject([
      { costNanoUsd: 1000, cacheHit: false, costDetail: { fees: 1000 }, requestedModel: 'GET /x', model: 'py' },
      { costNanoUsd: 0, cacheHit: true, savedNanoUsd: 1000, dialect: 'infer', status: 'success', httpStatus: 200 },
    ]);
    expect(await hotStore.openHolds()).toBe(0);
  });

  test('a hit is served over a cap, as exact hits are; a miss is not', async () => {
    const { ask, world } = await open({ kind, project: { monthlyCapNanoUsd: 1500 } });
    world.origin = () => cached('hello');
    await (await ask('/x')).text();
    expect((await ask('/x')).status).toBe(200);
    expect((await ask('/y')).status).toBe(402);
    expect(world.asked).toHaveLength(1);
  });

  test('another process gets what this one kept, where the cache is shared', async () => {
    const { ask, other, world } = await open({ kind });
    world.origin = () => cached('hello');
    await (await ask('/x')).text();
    const there = await other()('/x');
    expect([cacheOf(there), await there.text()]).toEqual([kind === 'shared' ? 'HIT' : 'MISS', 'hello']);
    if (kind !== 'shared') return;
    await (await other()('/x', { method: 'POST', body: 'change' })).text();
    expect(cacheOf(await ask('/x'))).toBe('MISS');
  });

  test('binary bodies come back as they were', async () => {
    const { ask, world } = await open({ kind });
    const bytes = Uint8Array.from({ length: 1000 }, (_, index) => index % 256);
    world.origin = () => cached(bytes);
    await (await ask('/x')).bytes();
    expect([...(await (await ask('/x')).bytes())]).toEqual([...bytes]);
    const text = '\uFEFFü\n{"a":1}\n';
    world.origin = () => cached(text);
    await (await ask('/text')).bytes();
    expect(Buffer.from(await (await ask('/text')).bytes()).toString()).toBe(text);
  });

  test('one request is sent for many that are the same', async () => {
    const { ask, world, rows } = await open({ kind });
    const gate = Promise.withResolvers<void>();
    world.origin = async () => {
      await gate.promise;
      return cached('hello');
    };
    const all = Promise.all(Array.from({ length: 10 }, () => ask('/x')));
    await Bun.sleep(20);
    gate.resolve();
    const answers = await all;
    expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(Array(10).fill('hello'));
    expect(answers.map(cacheOf).sort()).toEqual([...Array(9).fill('HIT'), 'MISS']);
    expect(world.asked).toHaveLength(1);
    expect((await rows()).reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0)).toBe(1000);
  });

  test('a caller neither waits for nor gets an answer that was not stored', async () => {
    const { ask, world } = await open({ kind });
    const gate = Promise.withResolvers<void>();
    world.origin = async (_, seen) => {
      await gate.promise;
      return new Response(`own ${seen}`, { headers: { 'cache-control': 'private' } });
    };
    const all = Promise.all(Array.from({ length: 5 }, () => ask('/x')));
    await Bun.sleep(20);
    gate.resolve();
    const bodies = await Promise.all((await all).map((answer) => answer.text()));
    expect(new Set(bodies).size).toBe(5);
    expect(world.asked).toHaveLength(5);
  });

  test('followers continue when the first caller leaves', async () => {
    const { ask, world } = await open({ kind });
    let calls = 0;
    world.origin = (request) => {
      calls += 1;
      if (calls > 1) return cached('second');
      return new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(new Error('gone'))));
    };
    const stop = new AbortController();
    const leader = ask('/x', { signal: stop.signal });
    await Bun.sleep(10);
    const follower = ask('/x');
    await Bun.sleep(10);
    stop.abort();
    expect((await leader).status).toBe(499);
    expect(await (await follower).text()).toBe('second');
  });

  test('a stale answer is fetched anew once, however many get it', async () => {
    const { ask, world, wait, rows } = await open({ kind });
    world.origin = () => new Response('old', { headers: { 'cache-control': 'max-age=5, stale-while-revalidate=60' } });
    await (await ask('/x')).text();
    wait(10);
    const gate = Promise.withResolvers<void>();
    world.origin = async () => {
      await gate.promise;
      return cached('new');
    };
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask('/x')));
    expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(Array(5).fill('old'));
    expect(answers.map(cacheOf)).toEqual(Array(5).fill('STALE'));
    gate.resolve();
    await Bun.sleep(10);
    expect(world.asked).toHaveLength(2);
    const fresh = await ask('/x');
    expect([cacheOf(fresh), await fresh.text()]).toEqual(['HIT', 'new']);
    expect((await rows()).map(({ costNanoUsd }) => costNanoUsd)).toEqual([1000, 0, 0, 0, 0, 0, 0]);
  });

  test('projects without a cache have none', async () => {
    const { ask, world } = await open({ kind, project: { cacheEnabled: false } });
    world.origin = () => cached('hello');
    for (let i = 0; i < 2; i++) expect(cacheOf(await ask('/x'))).toBeNull();
    expect(world.asked).toHaveLength(2);
  });

  test('only-if-cached and nothing there: 504 for the caller, and no failure of the service', async () => {
    const { ask, world, rows, hotStore } = await open({ kind });
    const answer = await ask('/x', { headers: { 'cache-control': 'only-if-cached' } });
    const { error } = (await answer.json()) as { error: { code: string; type: string } };
    expect([answer.status, error.code, error.type]).toEqual([504, 'not_cached', 'invalid_request_error']);
    expect(world.asked).toEqual([]);
    expect(await rows()).toMatchObject([
      { status: 'aborted', httpStatus: 504, errorCode: 'not_cached', costNanoUsd: 0 },
    ]);
    expect(await hotStore.openHolds()).toBe(0);
  });

  test('X-LLM0-Cache switches it off, and renews', async () => {
    const { ask, world } = await open({ kind });
    world.origin = (_, seen) => cached(`answer ${seen}`);
    await (await ask('/x')).text();
    const off = await ask('/x', { headers: { 'x-llm0-cache': 'off' } });
    expect([cacheOf(off), await off.text()]).toEqual([null, 'answer 2']);
    expect(await (await ask('/x')).text()).toBe('answer 1');
    const anew = await ask('/x', { headers: { 'x-llm0-cache': 'refresh' } });
    expect([cacheOf(anew), await anew.text()]).toEqual(['MISS', 'answer 3']);
    expect(await (await ask('/x')).text()).toBe('answer 3');
    for (const said of ['max-age=1000', 'max-stale', 'only-if-cached', 'no-transform']) {
      const headers = { 'x-llm0-cache': 'refresh', 'cache-control': said };
      const still = await ask('/x', { headers });
      expect([said, cacheOf(still)]).toEqual([said, 'MISS']);
      expect(world.asked.at(-1)?.headers.get('cache-control')).toContain('no-cache');
    }
    const neither = { 'x-llm0-cache': 'refresh', 'cache-control': 'no-store' };
    await (await ask('/z', { headers: neither })).text();
    expect(cacheOf(await ask('/z'))).toBe('MISS');
  });

  test('a body longer than one entry may be is passed on whole, and not kept', async () => {
    const { ask, world } = await open({ kind, maxEntryBytes: 1000 });
    for (const length of [1001, 200_000]) {
      const streamed = () =>
        new ReadableStream({
          start(controller) {
            for (let at = 0; at < length; at += 1000) controller.enqueue(new Uint8Array(Math.min(1000, length - at)));
            controller.close();
          },
        });
      for (const body of [() => new Uint8Array(length), streamed]) {
        world.origin = () => cached(body());
        for (let i = 0; i < 2; i++) {
          const answer = await ask(`/${length}/${body.length}`);
          expect([cacheOf(answer), (await answer.bytes()).byteLength]).toEqual(['MISS', length]);
        }
      }
    }
  });

  test('an answer that breaks off is not kept', async () => {
    const { ask, world, rows } = await open({ kind });
    world.origin = () =>
      cached(
        new ReadableStream({
          async start(controller) {
            controller.enqueue(new Uint8Array(10));
            await Bun.sleep(5);
            controller.error(new Error('reset'));
          },
        }),
      );
    expect(
      await (await ask('/x')).bytes().then(
        () => 'whole',
        () => 'broken',
      ),
    ).toBe('broken');
    world.origin = () => cached('whole');
    const next = await ask('/x');
    expect([cacheOf(next), await next.text()]).toEqual(['MISS', 'whole']);
    expect((await rows()).map(({ status }) => status)).toEqual(['error', 'success']);
  });
});

describe('stored data', () => {
  test('is bounded by entries and bytes: what was used longest ago goes', async () => {
    const { ask, world, backends } = await open({ maxEntries: 5, maxBytes: 20_000 });
    world.origin = () => cached('x');
    for (let i = 0; i < 50; i++) await (await ask(`/${i}`)).text();
    expect(backends.cache.stats.entries).toBe(5);
    expect(cacheOf(await ask('/49'))).toBe('HIT');
    expect(cacheOf(await ask('/0'))).toBe('MISS');
    world.origin = () => cached('x'.repeat(9000));
    for (let i = 100; i < 120; i++) await (await ask(`/${i}`)).text();
    expect(backends.cache.stats.bytes).toBeLessThanOrEqual(20_000);
  });

  test('is purged by project, backend and age', async () => {
    const { ask, world, wait, backends } = await open();
    const { cache } = backends;
    world.origin = () => cached('x');
    await (await ask('/old')).text();
    wait(30);
    await (await ask('/new')).text();
    for (const none of [{ projectId: 'other' }, { provider: 'openai' }, { model: 'py' }, { cacheKey: 'x' }]) {
      expect(cache.purge(none)).toBe(0);
    }
    expect(cache.purge({ projectId: 'project', olderThanMs: 10_000 })).toBe(1);
    expect(cacheOf(await ask('/new'))).toBe('HIT');
    const again = await ask('/old');
    expect([cacheOf(again), await again.text()]).toEqual(['MISS', 'x']);
    expect(cache.purge({ provider: 'infer:py' })).toBe(2);
    expect(cache.stats.entries).toBe(0);
  });

  test('of one resource is bounded, whatever Vary distinguishes', async () => {
    const { ask, world, backends } = await open({ backend: { forwardHeaders: ['x-any'] } });
    world.origin = () => cached('x', { vary: 'x-any' });
    for (let i = 0; i < 300; i++) await (await ask('/x', { headers: { 'x-any': String(i) } })).text();
    expect(backends.cache.stats.entries).toBeLessThanOrEqual(64);
  });
});

describe('cache poisoning', () => {
  const UNKEYED = [
    ...['X-Forwarded-Host', 'X-Forwarded-Scheme', 'X-Forwarded-Proto', 'X-Forwarded-For', 'Forwarded', 'X-Host'],
    ...[
      'X-Original-URL',
      'X-Rewrite-URL',
      'X-Original-Host',
      'X-HTTP-Method-Override',
      'X-HTTP-Method',
      'X-Method-Override',
    ],
    ...[
      'True-Client-IP',
      'X-Client-IP',
      'X-Real-IP',
      'CF-Connecting-IP',
      'Cookie',
      'X-Customer-ID',
      'X-LLM0-Team',
      'Via',
    ],
    ...['X-Envoy-Original-Path', 'X-Middleware-Subrequest', 'Proxy-Authorization'],
  ];

  test.each(UNKEYED)('%s of one caller does not affect the next request', async (name) => {
    const { ask, world } = await open();
    world.origin = (request) => cached(`for ${request.headers.get(name)}`);
    await (await ask('/x', { headers: { [name]: 'evil.test' } })).text();
    const next = await ask('/x');
    expect([cacheOf(next), await next.text()]).toEqual(['HIT', 'for null']);
  });

  test('a Host of the caller’s is none of the backend’s', async () => {
    const { ask, world } = await open();
    world.origin = (request) => cached(new URL(request.url).host);
    expect(await (await ask('/x', { headers: { host: 'evil.test' } })).text()).toBe('origin.test');
  });

  test('a GET with a body is refused: no cache could tell it from one without', async () => {
    const { ask, world } = await open();
    for (const headers of [new Headers({ 'content-length': '5' }), new Headers({ 'transfer-encoding': 'chunked' })]) {
      expect((await ask('/x', { headers })).status).toBe(400);
    }
    expect(world.asked).toHaveLength(0);
  });

  test('an error of the moment is not kept for others', async () => {
    const { ask, world } = await open();
    for (const status of [400, 403, 404, 429, 500, 502, 503]) {
      world.origin = () => new Response('no', { status });
      await (await ask(`/${status}`)).text();
      world.origin = () => cached('yes');
      expect(await (await ask(`/${status}`)).text()).toBe('yes');
    }
  });

  test('a backend does not write the gateway’s own headers, nor cookies of its host', async () => {
    const { ask, world } = await open();
    const forged = {
      ...{ 'x-request-id': 'forged', 'x-cache': 'HIT', 'x-spend-usd': '0', 'x-ratelimit-remaining': '99' },
      ...{
        'access-control-allow-origin': '*',
        'set-cookie': 'llm0_session=x',
        'x-llm0-dropped': 'y',
        'clear-site-data': '*',
      },
    };
    world.origin = () => new Response('x', { headers: forged });
    const answer = await ask('/x');
    expect(answer.headers.get('x-request-id')).not.toBe('forged');
    expect(cacheOf(answer)).toBe('MISS');
    for (const name of ['set-cookie', 'access-control-allow-origin', 'x-llm0-dropped', 'clear-site-data']) {
      expect([name, answer.headers.get(name)]).toEqual([name, null]);
    }
  });
});

test.each([
  ...[
    '/..',
    '/a/../b',
    '/%2e%2e/x',
    '/a/%2e%2e%2fb',
    '/.%2e/x',
    '//x',
    '/a//b',
    '/a%2f%2fb',
    '/a%2f..%2fb',
    '/%252e%252e/x',
  ],
  ...['/a\\b', '/a%5cb', '/a%00b', '/a%0d%0ab', '/..;/x', '/a/..;x=1/b', '/%zz', '/%c0%ae%c0%ae/x', '/\u2025/x'],
])('the path %j is refused, and the backend is not asked', async (path) => {
  const { world, services } = await open();
  const { readTarget } = await import('./read-target');
  const url = `http://gateway.test/infer/py${path}`;
  const request = { method: 'GET', url, headers: new Headers(), body: null };
  expect(() => readTarget(request)).toThrow();
  expect(services.backends.list()).toHaveLength(1);
  expect(world.asked).toHaveLength(0);
});

test.each(['/a%20b', '/a%2Fb', '/a.b', '/.well-known/x', '/a;b=1', '/ä', '/a:b@c', '/...', '/a..b'])(
  'the path %j goes on as it is',
  async (path) => {
    const { readTarget } = await import('./read-target');
    const url = `http://gateway.test/infer/py${path}?a=..//..&b=%0a`;
    const target = readTarget({ method: 'GET', url, headers: new Headers(), body: null });
    expect(target).toEqual({ backend: 'py', method: 'GET', path, search: '?a=..//..&b=%0a' });
  },
);

describe('a backend of a project with guardrails', () => {
  const rule = { name: 'mail', on: 'both', check: { type: 'pii' }, onError: 'block' } as const;
  const policy = (mode: 'enforce' | 'shadow', action: 'redact' | 'flag') =>
    ({ mode, pseudonymScope: 'request', version: 1, rules: [{ ...rule, action }] }) as const;

  test('is refused where they act: nobody judges what goes there', async () => {
    const { ask, world, rows } = await open({ policy: policy('enforce', 'redact') });
    const refused = await ask('/x', { method: 'POST', body: 'ann@example.com' });
    expect([refused.status, world.asked.length]).toEqual([403, 0]);
    expect(((await refused.json()) as { error: { message: string } }).error.message).toContain('"infer:py"');
    expect(await rows()).toMatchObject([{ status: 'error', httpStatus: 403 }]);
  });

  test.each([
    ['the key names it', { policy: policy('enforce', 'redact'), key: { allowedModels: ['infer:py'] } }, 200],
    ['the key may use all of them', { policy: policy('enforce', 'redact'), key: { allowedModels: ['infer:*'] } }, 403],
    ['they only watch', { policy: policy('shadow', 'redact') }, 200],
    ['they only flag', { policy: policy('enforce', 'flag') }, 200],
  ])('where %s', async (_case, options, status) => {
    const { ask } = await open(options);
    expect((await ask('/x')).status).toBe(status);
  });

  test('is refused a request that asks for more rules', async () => {
    const { ask } = await open({ policy: policy('enforce', 'flag'), key: { allowedModels: ['infer:py'] } });
    const asked = (name: string) => ask('/x', { headers: { 'x-llm0-guardrail': name } });
    expect([(await asked('mail')).status, (await asked('other')).status, (await ask('/x')).status]).toEqual([
      403, 400, 200,
    ]);
  });
});
