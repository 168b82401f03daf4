import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Bin, fillBins, type GivenBin, logTicks, shareOf } from './prepare-bins';

const RATIO = 1.04081632 ** 8;
const boundOf = (step: number) => Math.round(RATIO ** step * 1000) / 1000;
const bin = (step: number, requests = 1, hits = 0): GivenBin => ({
  ...{ from_ms: step === 0 ? 0 : boundOf(step), to_ms: boundOf(step + 1), requests, cache_hits: hits },
});

const given = fc
  .uniqueArray(fc.integer({ min: 12, max: 40 }), { minLength: 1, maxLength: 15 })
  .map((steps) => steps.sort((a, b) => a - b).map((step) => bin(step)));

const expectWhole = (bins: readonly Bin[]) => {
  for (const [index, { fromMs, toMs }] of bins.entries()) {
    expect(toMs).toBeGreaterThan(fromMs);
    if (index > 0) expect(bins[index - 1]?.toMs).toBe(fromMs);
  }
};

describe('bins', () => {
  test('gaps are filled with bins of the same ratio; counts keep their bounds', () => {
    fc.assert(
      fc.property(given, (answer) => {
        const bins = fillBins(answer);
        expectWhole(bins);
        expect(bins.length).toBeGreaterThanOrEqual(8);
        for (const { fromMs, toMs } of bins) expect(toMs / fromMs).toBeCloseTo(RATIO, 1);
        const known = bins.filter(({ index }) => index !== null);
        expect(known.map(({ fromMs, toMs, requests }) => [fromMs, toMs, requests])).toEqual(
          answer.map((one) => [one.from_ms, one.to_ms, one.requests]),
        );
      }),
    );
  });

  test('the first bin begins at zero, and nothing lies below it', () => {
    const bins = fillBins([bin(0, 5), bin(3, 2, 1)]);
    expectWhole(bins);
    expect([bins[0]?.fromMs, bins[0]?.requests, bins.length]).toEqual([0, 5, 8]);
    expect(bins[3]).toMatchObject({ requests: 2, hits: 1, index: 1 });
    expect([shareOf(bins, 0), shareOf(bins, 1e9)]).toEqual([0, 1]);
    expect(fillBins([])).toEqual([]);
  });

  test('a bin stands at its share of the axis', () => {
    const bins = fillBins(Array.from({ length: 20 }, (_, index) => bin(12 + index)));
    for (const [index, { fromMs }] of bins.entries()) expect(shareOf(bins, fromMs)).toBeCloseTo(index / 20, 2);
  });
});

test('ticks are decades; between few, doubles and fives', () => {
  const ticksOf = (first: number, last: number) =>
    logTicks(fillBins(Array.from({ length: last - first }, (_, index) => bin(first + index))));
  // 7 ms to 20 s.
  expect(ticksOf(6, 31)).toEqual([10, 100, 1000, 10_000]);
  // 46 ms to 595 ms.
  expect(ticksOf(12, 20)).toEqual([50, 100, 200, 500]);
});
