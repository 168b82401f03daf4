import { describe, expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import { threadMs } from '@llm0/testing/thread-time';
import fc from 'fast-check';
import { parseJson } from './json';
import { checkJsonBounds, findJsonExcess, JsonLook, MAX_JSON_DEPTH, MAX_JSON_TOKENS } from './json-bounds';

/** Beyond what is taken for harmless by its length. */
const LONG = `"${'x'.repeat(20_000)}"`;
const nested = (depth: number) => `${'['.repeat(depth)}${LONG}${']'.repeat(depth)}`;

describe('limits of a JSON text', () => {
  test('depth, to the level', () => {
    expect(findJsonExcess(nested(MAX_JSON_DEPTH))).toBeUndefined();
    expect(findJsonExcess(nested(MAX_JSON_DEPTH + 1))).toBe('depth');
    expect(findJsonExcess('{"a":'.repeat(10_000))).toBe('depth');
    expect(parseJson(nested(MAX_JSON_DEPTH + 1))).toBeUndefined();
  });

  test('values and separators, where they are bounded', () => {
    const numbers = `[${Array(MAX_JSON_TOKENS / 2 + 1)
      .fill('1')
      .join(',')}]`;
    expect(findJsonExcess(numbers)).toBeUndefined();
    expect(() => checkJsonBounds(numbers)).toThrow('200000 JSON values and separators');
    expect(() =>
      checkJsonBounds(
        `[${Array(MAX_JSON_TOKENS / 2 - 2)
          .fill('1')
          .join(',')}]`,
      ),
    ).not.toThrow();
    expect((parseJson(numbers) as number[]).length).toBe(MAX_JSON_TOKENS / 2 + 1);
  });

  test('lists, objects and names, where they are bounded by themselves', () => {
    const objects = JSON.stringify(Array.from({ length: 5_000 }, () => ({ a: 1 })));
    const numbers = JSON.stringify(Array(20_000).fill(1));
    expect(findJsonExcess(objects, { maxTokens: 100_000, maxParts: 10_001 })).toBeUndefined();
    expect(findJsonExcess(objects, { maxTokens: 100_000, maxParts: 10_000 })).toBe('tokens');
    expect(findJsonExcess(numbers, { maxTokens: 100_000, maxParts: 1 })).toBeUndefined();
  });

  test.each([
    ['a number', `{"a":1${'0'.repeat(20_000)}}`],
    ['a number behind the point', `[0.${'1'.repeat(20_000)}]`],
    ['a name', `{"${'a'.repeat(70_000)}":1}`],
    ['space', `{"a":${' '.repeat(70_000)}1}`],
  ])('%s without an end', (_name, text) => {
    expect(findJsonExcess(text)).toBe('length');
    expect(() => checkJsonBounds(text)).toThrow('holds a name or a space');
  });

  test('texts may be long, and pictures', () => {
    expect(findJsonExcess(JSON.stringify({ a: 'x'.repeat(200_000), ['b'.repeat(60_000)]: 1e100 }))).toBeUndefined();
  });

  test('is the same in pieces, wherever they are cut', () => {
    const piece = fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ':', 'a', ' ', '1');
    const texts = fc.array(piece, { minLength: 1, maxLength: 60 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(texts, fc.array(fc.nat(60), { maxLength: 5 }), (text, cuts) => {
        const bounds = { maxTokens: 12, maxParts: 5 };
        const look = new JsonLook(bounds);
        const places = [0, ...cuts.toSorted((a, b) => a - b), text.length];
        const found = places.map((from, i) => look.push(text.slice(from, places[i + 1] ?? text.length)));
        expect(found.find((excess) => excess !== undefined)).toBe(new JsonLook(bounds).push(text));
      }),
      { numRuns: runs(2_000) },
    );
  });

  test('brackets and quotes within strings are none', () => {
    const text = `["${'[{'.repeat(20_000)}", "\\"[[${'\\\\'.repeat(9)}", "${'\\"['.repeat(20_000)}"]`;
    expect(findJsonExcess(text, { maxTokens: 20 })).toBeUndefined();
    expect(JSON.parse(text)).toHaveLength(3);
  });

  test('honest JSON passes, however its strings are escaped', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 10 }),
        fc.string({ minLength: 17_000, maxLength: 18_000 }),
        (value, text) => {
          expect(findJsonExcess(JSON.stringify([value, text]), { maxTokens: MAX_JSON_TOKENS })).toBeUndefined();
        },
      ),
      { numRuns: runs(50) },
    );
  });

  test.each([
    ['brackets', '['.repeat(19_000_000)],
    ['objects', '{"":'.repeat(4_000_000)],
    ['escaped quotes', `"${'\\"'.repeat(9_000_000)}`],
    ['backslashes', `"${'\\'.repeat(19_000_000)}"`],
    ['empty strings', '"",'.repeat(6_000_000)],
    ['an endless string', `"${'a'.repeat(19_000_000)}`],
    ['spaces', ' '.repeat(19_000_000)],
  ])('19 MB of %s are judged in no time', (_name, text) => {
    const startMs = threadMs();
    findJsonExcess(text, { maxTokens: MAX_JSON_TOKENS });
    expect(threadMs() - startMs).toBeLessThan(500);
  });
});
