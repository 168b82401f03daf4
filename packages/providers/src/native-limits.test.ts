import { expect, test } from 'bun:test';
import { roundedNanoUsd } from '@llm0/core/pricing/compute-cost';
import { limitOf, timesCount } from './passthrough';

test.each([1.7976931348623157e308, 1e300, 0.5, 1e9 + 0.1])('a limit of %p can be counted with', (limit) => {
  const most = timesCount(limitOf({ max_tokens: limit }, 'max_tokens'), limit);
  expect(Number.isSafeInteger(most)).toBe(true);
  expect(Number.isSafeInteger(roundedNanoUsd([[most ?? 0, 10_000_000]]))).toBe(true);
});

test('a cost beyond all numbers stays one', () => {
  expect(roundedNanoUsd([[Number.POSITIVE_INFINITY, 1]])).toBe(Number.MAX_SAFE_INTEGER);
  expect(roundedNanoUsd([[1e300, 1e6]])).toBe(Number.MAX_SAFE_INTEGER);
});
