import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { EmbedOutcome } from '../../embedding/embedder';
import { judged, patient } from './judged-text.fixture';
import { passagesOf } from './passages';
import { checkSimilarity } from './similar-to';

/** A text's direction is how much of it is about cats. */
function embedCats() {
  const embedded: string[] = [];
  const embed = async (text: string): Promise<EmbedOutcome> => {
    embedded.push(text);
    if (text.includes('busy')) return { type: 'none', reason: 'busy' };
    const share = text.toLowerCase().includes('cat') ? 0.9 : 0.1;
    return { type: 'vector', vector: Float32Array.of(share, Math.sqrt(1 - share * share)) };
  };
  return { embed, embedded };
}

describe('topics by example', () => {
  test('the passages that are near to an example are found', async () => {
    const check = checkSimilarity({ examples: ['All about cats.'], threshold: 0.8 }, embedCats());
    const text = 'The weather is fine here today. I would like to have a cat of my own. And something else entirely.';
    const verdict = await check.judge(judged(text), patient);
    expect(verdict.spans?.map(({ start, end }) => text.slice(start, end))).toEqual([
      'I would like to have a cat of my own.',
    ]);
    expect(await check.judge(judged('Nothing of the kind.'), patient)).toMatchObject({ count: 0 });
    expect(await check.judge(judged(''), patient)).toMatchObject({ count: 0 });
  });

  test('examples are embedded once', async () => {
    const { embed, embedded } = embedCats();
    const check = checkSimilarity({ examples: ['cats'], threshold: 0.8 }, { embed });
    for (let i = 0; i < 3; i++) await check.judge(judged('a dog that barks at night'), patient);
    expect(embedded.filter((text) => text === 'cats')).toHaveLength(1);
  });

  test('texts without a vector are skipped; the next text is checked', async () => {
    const check = checkSimilarity({ examples: ['cats'], threshold: 0.8 }, embedCats());
    await expect(Promise.resolve(check.judge(judged('busy busy'), patient))).rejects.toThrow('busy');
    expect(await check.judge(judged('cats'), patient)).toMatchObject({ count: 1 });
    const long = 'This is a sentence of some length. '.repeat(201);
    await expect(Promise.resolve(check.judge(judged(long), patient))).rejects.toThrow('more than 200');
  });

  test.each([
    [[], 0.5],
    [[''], 0.5],
    [['x'.repeat(1001)], 0.5],
    [Array(201).fill('x'), 0.5],
    [['x'], 0],
    [['x'], 1.1],
  ])('%j and %d are refused', (examples, threshold) => {
    expect(() => checkSimilarity({ examples, threshold }, embedCats())).toThrow();
  });
});

test('passages are in order, of bounded length, and leave out nothing but space', () => {
  const piece = fc.constantFrom('word', '. ', '\n', ' ', 'x'.repeat(500), '😀', '3.5', '? ', '!');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const text = pieces.join('');
      const passages = passagesOf(text);
      const left = passages.map(({ start }, i) => text.slice(passages[i - 1]?.end ?? 0, start));
      expect([...left, text.slice(passages.at(-1)?.end ?? 0)].join('').trim()).toBe('');
      for (const { start, end } of passages) {
        expect(end - start).toBeGreaterThan(0);
        expect(end - start).toBeLessThanOrEqual(400);
      }
    }),
  );
});
