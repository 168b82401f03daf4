import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { judged, patient } from './judged-text.fixture';
import { checkLength } from './length';

test('a text is too long exactly where it has more characters, however many units these take', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.nat(40), (text, max) => {
      const verdict = checkLength({ max }).judge(judged(text), patient);
      expect(verdict).toMatchObject({ count: [...text].length > max ? 1 : 0 });
    }),
  );
});

test.each([-1, 1.5, Number.NaN])('%p is no length', (max) => {
  expect(() => checkLength({ max })).toThrow('whole number');
});
