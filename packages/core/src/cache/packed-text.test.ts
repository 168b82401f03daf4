import { describe, expect, test } from 'bun:test';
import { Held, Room } from '../async/room';
import { splitBatch } from '../chat/replay';
import { ZERO_USAGE } from '../chat/usage';
import { type CachedAnswer, decodeCachedAnswer, encodeCachedAnswer, packResponse } from './cached-answer';
import { packText, unpackText } from './packed-text';

const text = '日本 "text"\n😀'.repeat(50_000);
const response = { choices: [{ index: 0, text, finishReason: 'stop' as const }] };

describe('large answers are stored compressed', () => {
  test('and reads as before', async () => {
    const packed = await packText([Buffer.from(text)]);
    expect(packed.length).toBeLessThan(text.length / 100);
    expect((await unpackText(packed)) === text).toBe(true);
    expect(await unpackText('{"not":"packed"}')).toBe('{"not":"packed"}');
  });

  test('in caches, where a damaged one is a miss', async () => {
    const { text: packed, bytes } = await packResponse(response, Number.POSITIVE_INFINITY);
    expect(bytes).toBe(Buffer.byteLength(JSON.stringify(response)));
    const answer: CachedAnswer = {
      v: 1,
      provider: 'a',
      model: 'm',
      response,
      usage: ZERO_USAGE,
      costNanoUsd: 7,
      packed,
    };
    const value = encodeCachedAnswer(answer);
    expect(value.length).toBeLessThan(bytes / 100);
    expect(await decodeCachedAnswer(value)).toEqual(answer);
    expect(await decodeCachedAnswer(value.replace(packed ?? '', 'AAAA'))).toBeUndefined();
  });

  test('takes room while it is read, and less until it has gone out', async () => {
    const { text: packed, bytes } = await packResponse(response, Number.POSITIVE_INFINITY);
    const kept = { v: 1, provider: 'a', model: 'm', response, usage: ZERO_USAGE, costNanoUsd: 7 } as const;
    const value = encodeCachedAnswer({ ...kept, packed, packedBytes: bytes });
    const held = new Held(new Room());
    const reading = decodeCachedAnswer(value, held);
    expect(held.bytes).toBe(4 * bytes);
    await reading;
    expect(held.bytes).toBe(2 * bytes);
    const full = new Room({ maxBytes: bytes, maxWaitMs: 5 });
    expect(new Held(full).tryTake(1)).toBe(true);
    await expect(decodeCachedAnswer(value, new Held(full))).rejects.toMatchObject({ kind: 'overloaded' });
  });

  test('takes room as it comes, where nobody said how long it is', async () => {
    const packed = await packText([Buffer.from(text)]);
    const held = new Held(new Room());
    await unpackText(packed, held);
    expect(held.bytes).toBe(8 * Buffer.byteLength(text));
    const full = new Room({ maxBytes: 100_000, maxWaitMs: 5 });
    expect(new Held(full).tryTake(1)).toBe(true);
    await expect(unpackText(packed, new Held(full))).rejects.toMatchObject({ kind: 'overloaded' });
  });

  test('but for what is longer than the cache takes', async () => {
    expect(await packResponse(response, 1000)).toEqual({ bytes: expect.any(Number) });
  });
});

test('a large batch says the same in pieces, no character of which is cut', () => {
  const long = '😀'.repeat(100_001);
  const pieces = splitBatch({ events: [{ type: 'text', choice: 0, text: `x${long}` }] }).flatMap(
    ({ events }) => events,
  );
  const texts = pieces.map((event) => ('text' in event ? event.text : ''));
  expect(texts.join('') === `x${long}`).toBe(true);
  expect(texts.length).toBeGreaterThan(2);
  expect(texts.every((piece) => piece.isWellFormed())).toBe(true);
});
