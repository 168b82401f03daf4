import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { formatUsd, formatUsdShort, formatUsdText, parseUsd } from './format-usd';

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

test.each([
  [0, '$0.00'],
  [1, '$0.000000001'],
  [123_456, '$0.0001235'],
  [12_000_000, '$0.012'],
  [900_000_000, '$0.90'],
  [999_999_999, '$1.00'],
  [1_234_567_890, '$1.23'],
  [12_345_000_000_000, '$12345.00'],
  [-500_000, '-$0.0005'],
])('%d nano-USD in a sentence are %s', (nano, text) => {
  expect(formatUsdText(nano)).toBe(text);
});

test('invalid amounts are refused', () => {
  for (const bad of ['', '1.0000000001', 'abc', '1e3', '99999999', Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(parseUsd(bad)).toBeUndefined();
  }
});
