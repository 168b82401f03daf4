import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  balanced,
  describeRow,
  evenly,
  moved,
  parseRows,
  readRows,
  showRows,
  showWeighted,
  sumOfShares,
  toShares,
} from './prepare-targets';

const row = (share: string, model = 'm') => ({ provider: 'openai', model, share });

describe('targets in rows', () => {
  test('rows stand as text and come back, half-filled ones too', () => {
    const rows = [
      row('75', 'a/b x3'),
      { provider: '', model: '', share: '' },
      { provider: 'groq', model: '', share: '0' },
    ];
    expect(parseRows(showRows(rows))).toEqual(rows);
    expect(parseRows('')).toEqual([]);
  });

  test('weights become percentages that add up to 100, and percentages the same weights again', () => {
    expect(toShares([3, 1])).toEqual(['75', '25']);
    expect(toShares([1, 1, 1])).toEqual(['33.34', '33.33', '33.33']);
    expect(toShares([0, 0])).toEqual(['0', '0']);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 1, maxLength: 20 }), (weights) => {
        const shares = toShares(weights).map(Number);
        const sum = shares.reduce((total, share) => total + Math.round(share * 100), 0);
        expect(sum).toBe(weights.some((weight) => weight > 0) ? 10_000 : 0);
      }),
    );
    const targets = [
      { provider: 'openai', model: 'a', weight: 3 },
      { provider: 'groq', model: 'b', weight: 1 },
      { provider: 'groq', model: 'c', weight: 0 },
    ];
    expect(readRows(showWeighted(targets), [], true)).toEqual(targets);
    expect(readRows(showWeighted(targets), [], false)).toEqual(
      targets.map(({ provider, model }) => ({ provider, model })),
    );
  });

  test.each([
    ['openai/a ×60 %\ngroq/b ×30 %', 'The shares add up to 90 %, not to 100 %'],
    ['openai/a ×x %', 'Row 1: enter a share from 0 to 100 %'],
    ['opnai/a ×100 %', 'Row 1: there is no provider "opnai". Did you mean "openai"?'],
    ['openai/ ×100 %', 'Row 1: choose a model'],
    ['/a ×100 %', 'Row 1: choose a provider'],
    ['openai/a ×50 %\nopenai/a ×50 %', 'Row 2: openai/a is already in the list'],
    ['/', 'needs at least one target'],
  ])('%p is refused: %s', (text, message) => {
    expect(() => readRows(text, ['openai', 'groq'], true)).toThrow(message);
  });

  test('shares are brought to 100 %, split evenly, summed up', () => {
    expect(balanced([row('60'), row('30')]).map(({ share }) => share)).toEqual(['66.67', '33.33']);
    expect(evenly([row('60'), row('')]).map(({ share }) => share)).toEqual(['50', '50']);
    expect([sumOfShares([row('60'), row('30.5')]), sumOfShares([row('60'), row('')])]).toEqual([90.5, null]);
  });

  test('a row moves by one place, and nowhere at the end', () => {
    expect(moved(['a', 'b', 'c'], 1, -1)).toEqual(['b', 'a', 'c']);
    expect(moved(['a', 'b'], 1, 1)).toEqual(['a', 'b']);
  });

  test('explains a row', () => {
    const rows = [row('75'), row('25'), row('0')];
    const say = (index: number, strategy: Parameters<typeof describeRow>[2]) => describeRow(rows, index, strategy);
    expect(say(0, 'weighted')).toBe('Tried first for 75 % of requests.');
    expect(say(2, 'weighted')).toBe('Tried only when the others fail.');
    expect(say(1, 'priority')).toBe('Tried when the one above fails.');
    expect(say(2, 'chain')).toBe('Used as a fallback when the 2 above fail.');
  });
});
