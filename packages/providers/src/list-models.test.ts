import { afterAll, describe, expect, test } from 'bun:test';
import { listModels } from './list-models';
import { createProviderRegistry } from './registry';

const MIB = 1024 * 1024;
let cancelled = 0;

const endless = () =>
  new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(MIB).fill(10)),
    cancel: () => {
      cancelled += 1;
    },
  });

const LISTS: Readonly<Record<string, () => Response>> = {
  '/honest/models': () => Response.json({ data: [{ id: 'llama3.2:3b' }, { id: 'qwen2.5:14b' }] }),
  '/endless/models': () => new Response(endless()),
  '/deep/models': () => new Response('['.repeat(1_000_000)),
  '/values/models': () => Response.json({ data: Array.from({ length: 500_000 }, () => 1) }),
  '/many/models': () => Response.json({ data: Array.from({ length: 30_000 }, (_, i) => ({ id: `m${i}` })) }),
  '/long/models': () => Response.json({ data: [{ id: 'x'.repeat(100_000) }, { id: 'short' }] }),
  '/moved/models': () => Response.redirect('/honest/models', 302),
  '/list/models': () => Response.json(['a']),
};

const server = Bun.serve({
  port: 0,
  idleTimeout: 0,
  fetch: ({ url }) => LISTS[new URL(url).pathname]?.() ?? new Response('', { status: 404 }),
});
afterAll(() => server.stop(true));

const provider = createProviderRegistry().get('ollama');
if (provider === undefined) throw new Error('there is no such provider');

const ask = (path: string) => {
  const connection = { baseUrl: `${server.url.origin}/${path}` };
  const given = { ...provider, modelsUrl: () => ({ url: `${connection.baseUrl}/models`, headers: {} }) };
  return listModels({ provider: given, connection, fetch, timeoutMs: 2_000 });
};

describe('the models that a server says it has', () => {
  test('are the names of its list', async () => {
    expect(await ask('honest')).toEqual(new Set(['llama3.2:3b', 'qwen2.5:14b']));
    expect(await ask('none')).toBeUndefined();
    expect(await ask('moved')).toBeUndefined();
    expect(await ask('list')).toBeUndefined();
  });

  test('are refused when endless or too large', async () => {
    const before = process.memoryUsage().rss;
    await expect(ask('endless')).rejects.toThrow('sent more than');
    await expect(ask('endless')).rejects.toThrow('sent more than');
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MIB);
    const startMs = performance.now();
    while (cancelled < 2 && performance.now() - startMs < 2_000) await Bun.sleep(10);
    expect(cancelled).toBe(2);
    await expect(ask('deep')).rejects.toThrow('depth');
    await expect(ask('values')).rejects.toThrow('tokens');
  });

  test('have a bound in number and length', async () => {
    expect((await ask('many'))?.size).toBe(20_000);
    expect(await ask('long')).toEqual(new Set(['short']));
  });
});
