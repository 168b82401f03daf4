import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { readInput } from './read-input';

async function* cut(bytes: Uint8Array, sizes: readonly number[]) {
  let at = 0;
  for (const size of sizes) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
  yield bytes.subarray(at);
}

const collect = async (pieces: AsyncIterable<Uint8Array>, maxBytes = 1000) => {
  const lines: { at: number; length: number; number: number; text: string }[] = [];
  for await (const line of readInput(pieces, maxBytes)) lines.push(line);
  return lines;
};

test('however the file is cut, its lines are the same, and each is at its place', async () => {
  const line = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.constant(''), fc.constant('  '));
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        line.map((text) => text.replaceAll(/[\n\r\uFEFF]/g, '')),
        { maxLength: 12 },
      ),
      fc.constantFrom('\n', '\r\n'),
      fc.array(fc.nat(9), { maxLength: 40 }),
      async (texts, end, sizes) => {
        const bytes = Buffer.from(texts.join(end));
        const lines = await collect(cut(bytes, sizes));
        const wanted = texts.flatMap((text, index) => {
          const shown = Buffer.from(text).toString().trim();
          return shown === '' ? [] : [[index + 1, shown]];
        });
        expect(lines.map(({ number, text }) => [number, text])).toEqual(wanted as [number, string][]);
        for (const { at, length, text } of lines) {
          expect(
            bytes
              .subarray(at, at + length)
              .toString()
              .trim(),
          ).toBe(text);
        }
      },
    ),
  );
});

test('a line beyond the bound is refused with its number', async () => {
  const file = Buffer.from(`short\n${'x'.repeat(50)}\n`);
  await expect(collect(cut(file, [3, 10, 20]), 40)).rejects.toThrow('Line 2 has more than 40 bytes.');
});
