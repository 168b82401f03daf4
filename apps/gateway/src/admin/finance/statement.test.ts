import { describe, expect, test } from 'bun:test';
import { createPriceBook } from '@llm0/core/pricing/price-book';
import type { Amount } from '@llm0/drizzle/queries/finance/amounts';
import fc from 'fast-check';
import { buildRows, compareMonths, sumGroups, totalOf } from './statement';
import { vendorSavedPico } from './vendor-saved';

const prices = createPriceBook(
  [
    {
      ...{ provider: 'p', model: 'm', mode: 'chat', capabilities: [] },
      prices: { input: 3_000_001, output: 15_000_000, cache_read: 300_000, cache_write: 3_750_000 },
    },
  ],
  new Set(),
);
const amount = (given: Partial<Amount> = {}): Amount => ({
  ...{ group: 'a', model: { provider: 'p', name: 'm' }, cache: 'miss', requests: 1, costNanoUsd: 0, savedNanoUsd: 0 },
  modality: 'text',
  ...{ tokensCacheRead: 0, tokensCacheWrite: 0 },
  ...given,
});
const range = { fromMs: 0, toMs: 1 };
const monthOf = (amounts: readonly Amount[]) => ({ range, amounts, estimated: [], isRounded: false });
const rowsOf = (now: readonly Amount[], before: readonly Amount[]) =>
  buildRows({
    ...{ month: monthOf(now), previous: monthOf(before), prices },
    ...{ forecastOf: () => null, capOf: () => null },
  });

describe('against the month before', () => {
  test.each([
    [150, 100, 50, 50, false],
    [100, 300, -200, -66.7, false],
    [5, 0, 5, null, true],
    [0, 5, -5, -100, false],
    [0, 0, 0, null, false],
    [5, null, null, null, false],
  ])('%i after %p', (now, before, changeNanoUsd, changePercent, isNew) => {
    const found: object = compareMonths(now, before);
    expect(found).toEqual({ changeNanoUsd, changePercent, isNew });
  });

  test('removed and new entries have rows, the most expensive first', () => {
    const now = [amount({ group: 'new', costNanoUsd: 2 }), amount({ group: 'old', costNanoUsd: 9 })];
    const rows = rowsOf(now, [amount({ group: 'old', costNanoUsd: 3 }), amount({ group: 'gone', costNanoUsd: 4 })]);
    expect(
      rows.map(({ group, costNanoUsd, changePercent, isNew }) => [group, costNanoUsd, changePercent, isNew]),
    ).toEqual([
      ['old', 9, 200, false],
      ['new', 2, null, true],
      ['gone', 0, -100, false],
    ]);
  });
});

describe("savings of providers' prompt caches", () => {
  test('the price of input less that of reading, less what writing cost more', () => {
    const pico = vendorSavedPico(amount({ tokensCacheRead: 1_000, tokensCacheWrite: 100 }), prices);
    expect(pico).toBe(1_000n * 2_700_001n - 100n * 749_999n);
    expect(sumGroups([amount({ tokensCacheRead: 1_000, tokensCacheWrite: 100 })], prices).get('a')).toMatchObject({
      savedVendorNanoUsd: 2_625_001,
    });
  });

  test('nothing of hits, of models without a price, and of customers nothing is known', () => {
    expect(vendorSavedPico(amount({ tokensCacheRead: 9, cache: 'exact' }), prices)).toBe(0n);
    expect(vendorSavedPico(amount({ tokensCacheRead: 9, model: { provider: 'x', name: 'm' } }), prices)).toBe(0n);
    expect(sumGroups([amount({ model: null, cache: null, savedNanoUsd: 7 })], prices).get('a')).toMatchObject({
      ...{ savedNanoUsd: 7, savedExactNanoUsd: null, savedSemanticNanoUsd: null, savedVendorNanoUsd: null },
    });
  });

  test('more tokens than a float can hold are multiplied exactly', () => {
    const tokensCacheRead = 9_007_199_254_740_991;
    expect(vendorSavedPico(amount({ tokensCacheRead }), prices)).toBe(BigInt(tokensCacheRead) * 2_700_001n);
  });
});

test('rows add up to the total, whatever they are', () => {
  const nano = fc.integer({ min: 0, max: 1_000_000_000_000 });
  const amounts = fc.array(
    fc.record({
      group: fc.constantFrom('a', 'b', 'c', ''),
      model: fc.constant({ provider: 'p', name: 'm' }),
      modality: fc.constant('text'),
      cache: fc.constantFrom('exact' as const, 'semantic' as const, 'miss' as const),
      requests: fc.nat(99),
      costNanoUsd: nano,
      savedNanoUsd: nano,
      tokensCacheRead: fc.nat(1_000_000_000),
      tokensCacheWrite: fc.nat(1_000_000_000),
    }),
  );
  fc.assert(
    fc.property(amounts, amounts, (now, before) => {
      const rows = rowsOf(now, before);
      const total = totalOf(rows, null);
      const sum = (of: (row: (typeof rows)[number]) => number | null) =>
        rows.reduce((all, row) => all + (of(row) ?? 0), 0);
      expect(total.costNanoUsd).toBe(now.reduce((all, { costNanoUsd }) => all + costNanoUsd, 0));
      expect(total.previousNanoUsd).toBe(before.reduce((all, { costNanoUsd }) => all + costNanoUsd, 0));
      expect(total.changeNanoUsd).toBe(sum((row) => row.changeNanoUsd));
      expect(total.savedVendorNanoUsd).toBe(sum((row) => row.savedVendorNanoUsd));
      expect((total.savedExactNanoUsd ?? 0) + (total.savedSemanticNanoUsd ?? 0)).toBeLessThanOrEqual(
        total.savedNanoUsd,
      );
    }),
  );
});
