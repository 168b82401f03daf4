import { describe, expect, test } from 'bun:test';
import { Held, Room } from '@llm0/core/async/room';
import { Readers } from '../../observe/readers';
import { begunStream, PIECE_BYTES, takenStream, takenWhole } from './taken-stream';

function open() {
  const readers = new Readers({ timeoutMs: 1000, tickMs: 1e9 });
  const gone = new AbortController();
  const held = new Held(new Room());
  const request = new Request('http://gateway.test/', { signal: gone.signal });
  return { readers, gone, held, by: { readers, request, held, key: 'k1' } };
}
const bytes = (length: number) => new Uint8Array(length).fill(120);

describe('the body of an answer', () => {
  test('comes in pieces, as they are taken', async () => {
    const { readers, by } = open();
    const chunks = [bytes(10), bytes(2 * PIECE_BYTES + 5), bytes(1)];
    const log: string[] = [];
    const stream = takenStream(by, {
      next: () => {
        log.push('next');
        return chunks.shift();
      },
      onGone: () => log.push('gone'),
    });
    const lengths = (await Array.fromAsync(stream)).map(({ byteLength }) => byteLength);
    expect(lengths).toEqual([10, PIECE_BYTES, PIECE_BYTES, 5, 1]);
    expect(log).toEqual(['next', 'next', 'next', 'next']);
    expect(readers.count).toBe(0);
  });

  test('tells once that its caller left, before or after the first piece', async () => {
    for (const pieces of [0, 1]) {
      const { readers, gone, by } = open();
      let left = 0;
      const stream = takenStream(by, { next: () => bytes(10), onGone: () => (left += 1) });
      const reader = stream.getReader();
      for (let piece = 0; piece < pieces; piece++) await reader.read();
      gone.abort();
      await reader.cancel();
      expect([left, readers.count]).toEqual([1, 0]);
    }
  });

  test('is no answer where its source breaks off before its first bytes', async () => {
    const { readers, by } = open();
    const broken = { next: () => Promise.reject(new Error('broken')), onGone: () => {} };
    await expect(begunStream(by, broken)).rejects.toThrow('broken');
    const chunks = [bytes(1), bytes(2)];
    const stream = await begunStream(by, { next: () => chunks.shift(), onGone: () => {} });
    expect((await Array.fromAsync(stream)).map(({ byteLength }) => byteLength)).toEqual([1, 2]);
    expect(readers.count).toBe(0);
  });

  test('breaks off where its source does', async () => {
    const { readers, by } = open();
    const source = { next: () => Promise.reject(new Error('broken')), onGone: () => {} };
    expect(await new Response(takenStream(by, source)).text().catch(String)).toBe('Error: broken');
    expect(readers.count).toBe(0);
  });

  test('is held while it goes out, where it is long; what was read for it is given back before', async () => {
    const { held, by } = open();
    await held.takeAnswer(1_000_000);
    const text = 'ä'.repeat(500_000);
    const body = await takenWhole(by, text);
    held.end();
    expect(held.bytes).toBe(text.length);
    expect(await new Response(body).text()).toBe(text);
    expect(held.bytes).toBe(0);
    expect(await takenWhole(by, 'short')).toBe('short');
  });

  test('is held no longer than its caller is there', async () => {
    const { held, by } = open();
    const body = (await takenWhole(by, bytes(1_000_000))) as ReadableStream<Uint8Array>;
    held.end();
    expect(held.bytes).toBe(1_000_000);
    await body.cancel();
    expect(held.bytes).toBe(0);
  });
});
