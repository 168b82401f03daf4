// What an unsafe request has the gateway forget: https://www.rfc-editor.org/rfc/rfc9111#section-4.4
import { describe, expect, test } from 'bun:test';
import { CACHE_KINDS, cached, cacheOf, type InferUnderTest, inferForEachTest } from './open-infer.fixture';

const open = inferForEachTest();
/** Its first bytes come, the others never; it breaks with its request, as the runtime's do. */
const dripping = ({ signal }: AbortController) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(10));
      signal.addEventListener('abort', () => controller.error(new Error('aborted')));
    },
  });

describe.each(CACHE_KINDS)('a change through a %s cache', (kind) => {
  test('counts once its status is there, whatever becomes of the rest of the answer', async () => {
    const { ask, world } = await open({ kind });
    const bodies: readonly [string, (stop: AbortController) => Response][] = [
      ['the caller leaves', (stop) => new Response(dripping(stop))],
      ['a short one stalls', (stop) => new Response(dripping(stop), { headers: { 'content-length': '100' } })],
      ['it says it is too long', () => new Response('x', { headers: { 'content-length': '5000000' } })],
      ['it is too long', () => new Response(new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(65_536)) }))],
    ];
    for (const [name, answer] of bodies) {
      world.origin = () => cached('before');
      await (await ask(`/${name.length}`)).text();
      const stop = new AbortController();
      world.origin = () => answer(stop);
      setTimeout(() => stop.abort(), 30);
      const change = await ask(`/${name.length}`, { method: 'POST', signal: stop.signal }).catch(() => undefined);
      await change?.bytes().catch(() => {});
      world.origin = () => cached('after');
      const next = await ask(`/${name.length}`);
      expect([name, cacheOf(next), await next.text()]).toEqual([name, 'MISS', 'after']);
    }
  });

  /** A request whose answer waits for `go`, and is sent already. */
  async function fetchSlowly({ world, ask }: InferUnderTest, init: { headers?: Record<string, string> } = {}) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = world.asked.length;
    world.origin = async () => {
      await promise;
      return cached('before');
    };
    const answer = ask('/x', init);
    while (world.asked.length === before) await Bun.sleep(1);
    return { answer, go: resolve };
  }

  test('outlives no answer that was on its way before it, and nobody later joins that one', async () => {
    const opened = await open({ kind });
    const { ask, world, wait } = opened;
    const slow = await fetchSlowly(opened);
    world.origin = () => new Response('changed');
    await (await ask('/x', { method: 'POST' })).text();
    wait(1);
    world.origin = () => cached('after');
    const joined = await ask('/x');
    expect([cacheOf(joined), await joined.text()]).toEqual(['MISS', 'after']);
    slow.go();
    expect(await (await slow.answer).text()).toBe('before');
    const next = await ask('/x');
    expect([cacheOf(next), await next.text()]).toEqual(['HIT', 'after']);
  });

  test('outlives no validation that was on its way before it', async () => {
    const { ask, world } = await open({ kind });
    const gate = Promise.withResolvers<void>();
    world.origin = async (request) => {
      if (!request.headers.has('if-none-match')) return cached('before', { etag: '"1"' });
      await gate.promise;
      return new Response(null, { status: 304, headers: { etag: '"1"', 'cache-control': 'max-age=60' } });
    };
    await (await ask('/x')).text();
    const renewing = ask('/x', { headers: { 'cache-control': 'no-cache' } });
    while (world.asked.length < 2) await Bun.sleep(1);
    world.origin = () => new Response('changed');
    await (await ask('/x', { method: 'POST' })).text();
    gate.resolve();
    expect(await (await renewing).text()).toBe('before');
    world.origin = () => cached('after');
    expect(await (await ask('/x')).text()).toBe('after');
  });

  test('a purge outlives what was on its way before it, too', async () => {
    const opened = await open({ kind });
    const { ask, world, backends } = opened;
    const slow = await fetchSlowly(opened);
    backends.cache.purge({ projectId: 'project' });
    slow.go();
    await (await slow.answer).text();
    world.origin = () => cached('after');
    const next = await ask('/x');
    expect([cacheOf(next), await next.text()]).toEqual(['MISS', 'after']);
  });

  test('forgets every value of Vary, more than a process lists too', async () => {
    const { ask, other, world } = await open({ kind, backend: { forwardHeaders: ['x-any'] } });
    const there = other();
    const one = (from: typeof ask, value: number) => from('/x', { headers: { 'x-any': String(value) } });
    world.origin = () => cached('before', { vary: 'x-any' });
    for (let value = 0; value < 71; value++) await (await one(ask, value)).text();
    await (await one(there, 1000)).text();
    world.origin = () => new Response('changed');
    await (await ask('/x', { method: 'POST' })).text();
    world.origin = () => cached('after', { vary: 'x-any' });
    for (const value of [0, 1, 63, 64, 70, 1000]) expect(await (await one(ask, value)).text()).toBe('after');
    if (kind === 'memory') return;
    // What the others hear of it.
    for (const value of [0, 2, 1000]) expect(await (await one(there, value)).text()).toBe('after');
  });
});

test('a process hears of a change that another one passed on, and drops what is on its way', async () => {
  const { ask, other, world } = await open({ kind: 'shared' });
  const there = other();
  const gate = Promise.withResolvers<void>();
  world.origin = async () => {
    await gate.promise;
    return cached('before');
  };
  const slow = there('/x');
  while (world.asked.length === 0) await Bun.sleep(1);
  world.origin = () => new Response('changed');
  await (await ask('/x', { method: 'POST' })).text();
  gate.resolve();
  await (await slow).text();
  world.origin = () => cached('after');
  for (const from of [ask, there]) expect(await (await from('/x')).text()).toBe('after');
});
