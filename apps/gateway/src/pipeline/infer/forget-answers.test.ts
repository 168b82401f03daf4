// What an unsafe request has the gateway forget: https://www.rfc-editor.org/rfc/rfc9111#section-4.4
import { afterEach, describe, expect, test } from 'bun:test';
import { CACHE_KINDS, type InferOptions, type InferUnderTest, openInfer } from './open-infer.fixture';

let opened: InferUnderTest | undefined;
afterEach(async () => {
  await opened?.close();
  opened = undefined;
});

async function open(options: InferOptions = {}): Promise<InferUnderTest> {
  opened = await openInfer(options);
  return opened;
}

const cached = (body: BodyInit, more: Record<string, string> = {}) =>
  new Response(body, { headers: { 'cache-control': 'max-age=60', ...more } });
const cacheOf = (response: Response) => response.headers.get('x-cache');
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
});
