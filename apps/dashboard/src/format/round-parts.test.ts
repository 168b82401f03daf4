import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { formatCompactParts, roundParts } from './round-parts';

describe('parts', () => {
  test('that are rounded down lend their rest to the largest ones', () => {
    // 9.505 is drawn as 9.51; 7.604 and 1.901 would be 7.60 and 1.90.
    expect(roundParts([7_604n, 1_901n], 10n)).toEqual([761n, 190n]);
    expect(roundParts([1n, 1n, 1n], 3n)).toEqual([1n, 0n, 0n]);
    expect(roundParts([], 10n)).toEqual([]);
    expect(roundParts([-15n, 40n], 10n)).toEqual([-1n, 4n]);
  });

  test('add up to their rounded sum, each within a unit of itself', () => {
    const amount = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n });
    fc.assert(
      fc.property(fc.array(amount, { maxLength: 6 }), fc.bigInt({ min: 1n, max: 10n ** 8n }), (parts, unit) => {
        const rounded = roundParts(parts, unit);
        const sum = (of: readonly bigint[]) => of.reduce((all, one) => all + one, 0n);
        const off = 2n * (sum(rounded) * unit - sum(parts));
        expect(off <= unit && off >= -unit).toBe(true);
        for (const [index, part] of parts.entries()) {
          const error = (rounded[index] ?? 0n) * unit - part;
          expect(error < unit && error > -unit).toBe(true);
        }
      }),
    );
  });

  test('short counts add up where they have one unit', () => {
    // 8.74M is 8.7M.
    expect(formatCompactParts([7_660_000, 1_080_000])).toEqual(['7.6M', '1.1M']);
    expect(formatCompactParts([1_500, 500])).toEqual(['1.5K', '500']);
    expect(formatCompactParts([0, 0])).toEqual(['0', '0']);
    expect(formatCompactParts([12, 30])).toEqual(['12', '30']);
  });
});
