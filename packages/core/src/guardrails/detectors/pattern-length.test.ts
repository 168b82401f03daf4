import { expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { lengthOfPattern, matchesNoText } from './pattern-length';

test.each<[string, number | undefined]>([
  ['abc', 7],
  ['a{2,5}|bc', 11],
  ['(?i)\\bproject-[a-z]{1,8}\\d{0,3}', 39],
  ['(?:ab?){0,2}', 9],
  ['\\pL', 3],
  ['\\Qa{2}\\E', 9],
  ['(?i:a)b', 5],
  ['a*', undefined],
  ['(?:a|b+)c', undefined],
  // Where the text's own beginning, end or lines count, pieces of it are not enough.
  ['\\Aabc', undefined],
  ['abc\\z', undefined],
  ['^abc', undefined],
  ['(?m)abc$', undefined],
])('a match of %p has %p characters at the most, with one behind it', (pattern, expected) => {
  expect(lengthOfPattern(RE2JS.compile(pattern))).toBe(expected);
});

const pattern = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('a', 'b', '.', '[ab]', '\\A', '\\z', '^', '$', '\\b', '\\B', '(?:)', ''),
    fc.tuple(tie('any'), tie('any')).map(([one, other]) => one + other),
    fc.tuple(tie('any'), tie('any')).map(([one, other]) => `(?:${one}|${other})`),
    fc.tuple(tie('any'), fc.constantFrom('*', '?', '{0}', '{2}')).map(([one, count]) => `(?:${one})${count}`),
  ),
})).any;
const TEXTS = ['a', 'b', 'ab', 'aa', 'ba', 'a b', 'abab', ' a ', 'bbaa b'];

test('an expression that matches no text finds nothing', () => {
  fc.assert(
    fc.property(pattern, (written) => {
      const compiled = RE2JS.compile(written);
      const findsText = TEXTS.some((text) => {
        const matcher = compiled.matcher(text);
        for (let from = 0; from <= text.length && matcher.find(from); from = matcher.start() + 1)
          if (matcher.end() > matcher.start()) return true;
        return false;
      });
      if (findsText) expect([written, matchesNoText(compiled)]).toEqual([written, false]);
      const length = lengthOfPattern(compiled);
      for (const text of TEXTS) {
        const matcher = compiled.matcher(text);
        if (length !== undefined && matcher.find()) expect(matcher.end() - matcher.start()).toBeLessThan(length);
      }
    }),
    { numRuns: runs(500) },
  );
});
