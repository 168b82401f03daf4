import { describe, expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { nanoFromUsd, usdFromNano } from './money';

describe('money', () => {
  test('nano-USD survives the way through text', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (nano) => {
        expect(nanoFromUsd(usdFromNano(nano))).toBe(nano === 0 ? 0 : nano);
      }),
      { numRuns: runs(1_000) },
    );
  });

  test.each([
    [0, '0.000000000'],
    [1, '0.000000001'],
    [-1_500, '-0.000001500'],
    [9_007_199_254_740_991, '9007199.254740991'],
  ])('%p is %p', (nano, usd) => {
    expect(usdFromNano(nano)).toBe(usd);
    expect(nanoFromUsd(usd)).toBe(nano);
  });

  test.each([
    ['5', 5_000_000_000],
    ['0.1', 100_000_000],
    ['1.50000000000', 1_500_000_000],
    ['-0', 0],
  ])('reads %p', (usd, nano) => {
    expect(nanoFromUsd(usd)).toBe(nano);
  });

  test.each(['', '1e3', '0.0000000001', 'NaN', '1.', ' 1'])('refuses %p', (usd) => {
    expect(() => nanoFromUsd(usd)).toThrow(RangeError);
  });

  test.each([0.5, Number.NaN, 2 ** 53])('refuses %p nano-USD', (nano) => {
    expect(() => usdFromNano(nano)).toThrow(RangeError);
  });
});
