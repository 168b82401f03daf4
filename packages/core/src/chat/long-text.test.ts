import { expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { LongText } from './long-text';

async function joined(pieces: readonly string[], mostBytes?: number): Promise<string> {
  const long = new LongText(mostBytes);
  for (const piece of pieces) long.add(piece);
  return long.text();
}

test('any pieces come out as they went in, halves of pairs too', async () => {
  const unit = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\ud800', '\udc00', 'é', '“', '\0', ''));
  await fc.assert(
    fc.asyncProperty(fc.array(unit, { maxLength: 12 }), async (pieces) => {
      expect(await joined(pieces)).toBe(pieces.join(''));
    }),
    { numRuns: runs(200) },
  );
});

test('wide and narrow pieces that exceed the first buffer work too', async () => {
  const pieces = Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? '“wide”' : 'narrow é').repeat(9_000 + 800 * i));
  pieces.push('x'.repeat(3_000_000), '→'.repeat(1_200_000));
  expect(await joined(pieces)).toBe(pieces.join(''));
});

test('a long text of narrow letters alone stays as it is when its bytes are given back', async () => {
  const pieces = Array.from({ length: 100 }, (_, i) => `é${i}`.repeat(20_000));
  const text = await joined(pieces);
  Bun.gc(true);
  expect(text).toBe(pieces.join(''));
});

test('a bound that is exact is enough', async () => {
  const pieces = Array.from({ length: 100 }, (_, i) => `a😀${i}“`.repeat(5_000));
  const bytes = Buffer.byteLength(pieces.join(''));
  expect(await joined(pieces, bytes)).toBe(pieces.join(''));
});
