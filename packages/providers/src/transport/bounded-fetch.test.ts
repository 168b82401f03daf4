import { afterAll, describe, expect, test } from 'bun:test';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { longestStretch } from '@llm0/core/guardrails/longest-stretch.fixture';
import { createBoundedFetch } from './bounded-fetch';

const MIB = 1024 * 1024;
const text = JSON.stringify({ words: Array.from({ length: 2000 }, (_, i) => `word ${i} ${Math.random()}`) });
/** 10 MB that compress well, as streams do. */
const long = Array.from(
  { length: 60_000 },
  (_, i) => `data: {"choices":[{"index":0,"delta":{"content":"w${i}"}}],"padding":"${'-'.repeat(120)}"}\n\n`,
).join('');
const bomb = gzipSync(Buffer.alloc(300 * MIB, 32));
/** Its highest quality takes minutes. */
const brotli = (bytes: string | Uint8Array) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
const ENCODED: Readonly<Record<string, (bytes: string) => Uint8Array>> = {
  gzip: gzipSync,
  'X-Gzip': gzipSync,
  deflate: deflateSync,
  br: brotli,
  zstd: zstdCompressSync,
  'gzip, br': (bytes) => brotli(gzipSync(bytes)),
  identity: (bytes) => Buffer.from(bytes),
};
let cancelled = 0;
const server = Bun.serve({
  port: 0,
  fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    const encoding = searchParams.get('encoding') ?? '';
    const headers = { 'content-encoding': encoding, 'content-type': 'application/json' };
    if (pathname === '/long') return new Response(ENCODED[encoding]?.(long) as BodyInit, { headers });
    if (pathname === '/plain') return new Response(text);
    if (pathname === '/bomb') return new Response(bomb, { headers: { 'content-encoding': 'gzip' } });
    if (pathname === '/broken') return new Response('no gzip at all', { headers: { 'content-encoding': 'gzip' } });
    if (pathname === '/asked') return Response.json(request.headers.get('accept-encoding'));
    if (pathname === '/endless') return new Response(endless(), { headers: { 'content-encoding': 'gzip' } });
    return new Response((ENCODED[encoding]?.(text) ?? text) as BodyInit, { headers });
  },
});
afterAll(() => server.stop(true));

/** Noise, which does not compress, for as long as somebody reads. */
function endless(): ReadableStream<Uint8Array> {
  const stream = new CompressionStream('gzip');
  const writer = stream.writable.getWriter();
  const write = async () => {
    for (;;) await writer.write(crypto.getRandomValues(new Uint8Array(65_536)));
  };
  write().catch(() => {
    cancelled += 1;
  });
  return stream.readable as ReadableStream<Uint8Array>;
}

const fetchAt = (path: string, maxBytes = 64 * MIB) =>
  createBoundedFetch(globalThis.fetch, maxBytes)(`${server.url}${path}`);

describe('a bounded fetch', () => {
  test.each(Object.keys(ENCODED))('decodes %s', async (encoding) => {
    const response = await fetchAt(`?encoding=${encodeURIComponent(encoding)}`);
    expect(response.headers.get('content-encoding')).toBeNull();
    expect(await response.text()).toBe(text);
  });

  test('leaves plain answers as they are, and asks for nothing by itself', async () => {
    const response = await fetchAt('plain');
    expect(response.headers.get('content-length')).toBe(String(text.length));
    expect(await response.text()).toBe(text);
    expect(await (await fetchAt('asked')).json()).toBeNull();
  });

  test.each(['exi', 'gzip, exi', 'constructor', 'gzip,gzip,gzip,gzip'])('refuses %s', async (encoding) => {
    await expect(fetchAt(`?encoding=${encodeURIComponent(encoding)}`)).rejects.toThrow('unknown encoding');
  });

  test.each(['gzip', 'br', 'zstd', 'gzip, br'])(
    'takes a long answer in %s for what it is',
    async (encoding) => {
      const response = await fetchAt(`long?encoding=${encodeURIComponent(encoding)}`);
      expect((await response.text()) === long).toBe(true);
    },
    20_000,
  );

  test('stops a small body that becomes huge, before it has cost anything', async () => {
    expect(bomb.byteLength).toBeLessThan(2 * MIB);
    Bun.gc(true);
    const before = process.memoryUsage.rss();
    const response = await fetchAt('bomb');
    await expect(response.bytes()).rejects.toThrow('grows without end');
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * MIB);
  });

  test('stops what is larger than the bound, and its sender', async () => {
    const response = await fetchAt('endless', 2 * MIB);
    await expect(response.bytes()).rejects.toThrow('larger than 2097152 bytes (MAX_RESPONSE_BYTES)');
    const byMs = performance.now() + 3000;
    while (cancelled === 0 && performance.now() < byMs) await Bun.sleep(10);
    expect(cancelled).toBe(1);
  });

  test('tells of what cannot be decoded', async () => {
    await expect((await fetchAt('broken')).text()).rejects.toThrow();
  });

  test('holds nobody up while it decodes', async () => {
    const worstMs = await longestStretch(async () => {
      const response = await fetchAt('bomb');
      await response.bytes().catch(() => {});
    });
    expect(worstMs).toBeLessThan(40);
  });
});
