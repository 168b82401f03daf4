import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { formatUsd, formatUsdShort, parseUsd } from './format-usd';

test('nano-USD to text and back is exact for every amount', () => {
  fc.assert(
    fc.property(fc.integer({ min: -9_000_000_000_000_000, max: 9_000_000_000_000_000 }), (nano) => {
      expect(parseUsd(formatUsd(nano))).toBe(nano === 0 ? 0 : nano);
      expect(parseUsd(formatUsdShort(nano))).toBe(nano === 0 ? 0 : nano);
      expect(() => JSON.parse(formatUsdShort(nano))).not.toThrow();
    }),
  );
});

test('shapes', () => {
  expect(formatUsd(0)).toBe('0.000000000');
  expect(formatUsdShort(0)).toBe('0');
  expect(formatUsdShort(10_000_000_000)).toBe('10');
  expect(formatUsdShort(1)).toBe('0.000000001');
  expect(parseUsd(1e-9)).toBe(1);
  expect(parseUsd(0.1)).toBe(100_000_000);
});

test('what is no amount is refused', () => {
  for (const bad of ['', '1.0000000001', 'abc', '1e3', '99999999', Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(parseUsd(bad)).toBeUndefined();
  }
});
