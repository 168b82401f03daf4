import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Usage, ZERO_USAGE } from '../chat/usage';
import { priceOf } from './class-prices';
import { computeCost, roundedNanoUsd, UNPRICED } from './compute-cost';

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

describe('images and units', () => {
  const images = { input: 5_000_000, output: 10_000_000, input_image: 8_000_000, output_image: 30_000_000 };
  const costOf = (usage: Partial<Usage>, given: Record<string, number>) =>
    computeCost({ ...ZERO_USAGE, ...usage }, { prices: given });

  test('image tokens have classes of their own', () => {
    const usage = { inputTokens: 10, inputImageTokens: 20, cacheReadImageTokens: 5, outputImageTokens: 100 };
    const { costNanoUsd, detail } = costOf(usage, { ...images, cache_read_image: 2_000_000 });
    expect(costNanoUsd).toBe(10 * 5000 + 20 * 8000 + 5 * 2000 + 100 * 30_000);
    expect(detail).toEqual({ input: 50_000, output: 0, image: 20 * 8000 + 5 * 2000 + 100 * 30_000 });
    // Without a discount for images, cached ones cost what images cost.
    expect(costOf({ cacheReadImageTokens: 1 }, { ...images, cache_read: 1 }).costNanoUsd).toBe(8000);
    expect(costOf({ cacheReadImageTokens: 1 }, { input: 5_000_000, cache_read: 1_000_000 }).costNanoUsd).toBe(1000);
  });

  test.each<[string, Partial<Usage>, Record<string, number>, number]>([
    ['images', { units: { images: 3 } }, { image: 40_000_000_000 }, 120_000_000],
    [
      'images of a size',
      { units: { images: 2 }, imageVariant: 'high_1024x1024' },
      { image: 1, image_high_1024x1024: 5000 },
      10,
    ],
    [
      'images of another size',
      { units: { images: 2 }, imageVariant: 'low_1x1' },
      { image: 2000, image_high_1024x1024: 5000 },
      4,
    ],
    ['parts of seconds', { units: { seconds: 1.5 } }, { second: 100_000_000 }, 150_000],
    ['minutes', { units: { seconds: 3600 } }, { minute: 666_666_667 }, 40_000_000],
    ['characters', { units: { characters: 1000 } }, { character: 15_000_000 }, 15_000_000],
    [
      'pages, searches and sessions',
      { units: { pages: 1, searches: 2, sessionSeconds: 3 } },
      { page: 1000, search: 10_000, session_second: 100_000 },
      321,
    ],
    ['searches next to tokens', { inputTokens: 1, units: { searches: 1 } }, { input: 1000, search: 1000 }, 2],
    [
      'tokens rather than what measures the same',
      { inputTokens: 1, units: { seconds: 9, images: 9, characters: 9 } },
      { input: 1000, second: 1, image: 1, character: 1 },
      1,
    ],
    ['seconds where tokens have no price', { inputTokens: 50, units: { seconds: 2 } }, { second: 1000 }, 2],
    [
      'a batch',
      { inputTokens: 10, units: { pages: 1 }, serviceTier: 'batch' },
      { input: 1000, page: 2000, batch_discount: 500_000 },
      6,
    ],
  ])('%s', (_name, usage, given, nanoUsd) => {
    const { costNanoUsd, detail } = costOf(usage, given);
    expect([costNanoUsd, detail.price_source]).toEqual([nanoUsd, undefined]);
  });

  test.each<[string, Partial<Usage>, Record<string, number>]>([
    ['images', { units: { images: 1 } }, { input: 1, output: 1 }],
    ['searches next to tokens', { inputTokens: 1, units: { searches: 1 } }, { input: 1000 }],
    ['tokens of a model priced by minute', { inputTokens: 10, outputTokens: 5 }, { minute: 1000 }],
    ['output of a model with an input price alone', { inputTokens: 10, outputTokens: 5 }, { input: 1000 }],
  ])('%s without a price are told from free ones', (_name, usage, given) => {
    expect(costOf(usage, given).detail.price_source).toBe(UNPRICED);
    expect(costOf(usage, { ...given, input: 0, output: 0, image: 0, search: 0 }).detail.price_source).toBeUndefined();
  });

  test('a fraction that binary numbers miss costs no thousandth more', () => {
    expect(costOf({ units: { sessionSeconds: 2079.309 } }, { session_second: 1_000_000 }).costNanoUsd).toBe(2_079_309);
  });

  test('equals big-integer arithmetic for any tokens, units and prices', () => {
    const count = fc.integer({ min: 0, max: 50_000_000 });
    const price = fc.integer({ min: 0, max: 1_000_000_000_000 });
    const usage = fc.record({ inputTokens: count, outputImageTokens: count, pages: count, millis: count });
    const given = fc.record({ input: price, output_image: price, page: price, session_second: price });
    fc.assert(
      fc.property(usage, given, ({ pages, millis, ...tokens }, table) => {
        const units = { pages, sessionSeconds: millis / 1000 };
        const exact =
          1000n * BigInt(tokens.inputTokens) * BigInt(table.input) +
          1000n * BigInt(tokens.outputImageTokens) * BigInt(table.output_image) +
          1000n * BigInt(pages) * BigInt(table.page) +
          BigInt(millis) * BigInt(table.session_second);
        const nano = (exact + 500_000n) / 1_000_000n;
        const most = BigInt(Number.MAX_SAFE_INTEGER);
        expect(BigInt(costOf({ ...tokens, units }, table).costNanoUsd)).toBe(nano > most ? most : nano);
      }),
    );
  });
});
