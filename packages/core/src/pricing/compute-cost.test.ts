import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ZERO_USAGE } from '../chat/usage';
import { computeCost, priceOf, roundedNanoUsd } from './compute-cost';

const prices = {
  input: 2_500_000,
  output: 10_000_000,
  cache_read: 1_250_000,
  input_priority: 4_250_000,
  input_above_200k: 5_000_000,
};

describe('computeCost', () => {
  test('adds every class at its own price', () => {
    const usage = { ...ZERO_USAGE, inputTokens: 100, cacheReadTokens: 20, outputTokens: 7, reasoningTokens: 3 };
    expect(computeCost(usage, { prices }).costNanoUsd).toBe((100 * 2500 + 20 * 1250 + 10 * 10_000) as number);
  });

  test('a class without a price of its own is billed at its fallback', () => {
    const usage = { ...ZERO_USAGE, cacheWrite1hTokens: 1000 };
    expect(computeCost(usage, { prices }).costNanoUsd).toBe(1000 * 2500);
    expect(computeCost(usage, { prices: { ...prices, cache_write: 3_000_000 } }).costNanoUsd).toBe(1000 * 3000);
  });

  test('a long prompt takes the whole request to the dearer tier, at exactly one token more', () => {
    const context = (promptTokens: number) => ({ promptTokens });
    expect(priceOf(prices, 'input', context(200_000))).toBe(2_500_000);
    expect(priceOf(prices, 'input', context(200_001))).toBe(5_000_000);
  });

  test('the service tier the vendor billed is priced', () => {
    const usage = { ...ZERO_USAGE, inputTokens: 10, serviceTier: 'priority' };
    expect(computeCost(usage, { prices }).costNanoUsd).toBe(42_500);
  });

  test('rounds once, half up, over the sum', () => {
    expect(roundedNanoUsd([[1, 499]])).toBe(0);
    expect(roundedNanoUsd([[1, 500]])).toBe(1);
    expect(
      roundedNanoUsd([
        [1, 499],
        [1, 499],
      ]),
    ).toBe(1);
  });

  test('equals big-integer arithmetic for any tokens and prices', () => {
    const part = fc.tuple(fc.integer({ min: 0, max: 50_000_000 }), fc.integer({ min: 0, max: 1_000_000_000 }));
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), (parts) => {
        const exact = parts.reduce((sum, [t, p]) => sum + BigInt(t) * BigInt(p), 0n);
        expect(BigInt(roundedNanoUsd(parts))).toBe((exact + 500n) / 1000n);
      }),
    );
  });

  test('a tier changes classes without a price of their own as it changes the plain ones', () => {
    const tiered = { ...prices, output_priority: 15_000_000, input_flex: 1_250_000, cache_write: 3_000_000 };
    const at = (serviceTier: string) => ({ promptTokens: 1, serviceTier });
    expect(priceOf(tiered, 'cache_read', at('priority'))).toBe((1_250_000 * 4_250_000) / 2_500_000);
    expect(priceOf(tiered, 'reasoning', at('priority'))).toBe(15_000_000);
    expect(priceOf(tiered, 'cache_write_1h', at('flex'))).toBe(1_500_000);
    expect(priceOf(tiered, 'output', at('flex'))).toBe(10_000_000);
    expect(priceOf(tiered, 'input', at('scale'))).toBe(2_500_000);
    expect(priceOf(tiered, 'output', at('ultrafast'))).toBe(60_000_000);
  });

  test('a surcharge is on every class', () => {
    const usage = { ...ZERO_USAGE, inputTokens: 100, outputTokens: 10, surchargePercent: 10 };
    expect(computeCost(usage, { prices }).costNanoUsd).toBe(100 * 2750 + 10 * 11_000);
  });
});
