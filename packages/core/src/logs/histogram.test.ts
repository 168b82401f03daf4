import { describe, expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import {
  addToHistogram,
  binOf,
  binValueMs,
  type Histogram,
  histogramCount,
  histogramQuantile,
  mergeHistogram,
  packHistogram,
  unpackHistograms,
} from './histogram';

const durationMs = fc.double({ min: 0.001, max: 20_000_000, noNaN: true });
const durations = fc.array(durationMs, { maxLength: 200 });

function histogramOf(values: readonly number[]): Histogram {
  const histogram: Histogram = new Map();
  for (const value of values) addToHistogram(histogram, value);
  return histogram;
}

/** Nearest-rank quantile of the values themselves. */
function exactQuantile(values: readonly number[], quantile: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(1, Math.ceil(quantile * sorted.length)) - 1] ?? Number.NaN;
}

describe('histogram', () => {
  test('every quantile is within 2.5 % of the exact one', () => {
    fc.assert(
      fc.property(
        fc.array(durationMs, { minLength: 1, maxLength: 300 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (values, q) => {
          const exact = exactQuantile(values, q);
          const estimate = histogramQuantile(histogramOf(values), q) ?? Number.NaN;
          expect(Math.abs(estimate - exact)).toBeLessThanOrEqual(exact * 0.025);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  test('merging is the histogram of all values, in any order', () => {
    fc.assert(
      fc.property(durations, durations, (left, right) => {
        const merged = histogramOf(left);
        mergeHistogram(merged, histogramOf(right));
        expect(packHistogram(merged)).toEqual(packHistogram(histogramOf([...right, ...left])));
        expect(histogramCount(merged)).toBe(left.length + right.length);
      }),
    );
  });

  test('taking every value away again leaves nothing', () => {
    fc.assert(
      fc.property(durations, (values) => {
        const histogram = histogramOf(values);
        for (const value of values) addToHistogram(histogram, value, -1);
        expect(packHistogram(histogram)).toHaveLength(0);
        expect(histogramQuantile(histogram, 0.5)).toBeNull();
      }),
    );
  });

  test('packed and unpacked, negative counts too', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 600 }), fc.integer({ min: -1_000_000, max: 2 ** 26 }))),
        (bins) => {
          const histogram: Histogram = new Map(bins.filter(([, count]) => count !== 0));
          expect([...unpackHistograms([packHistogram(histogram)])]).toEqual([...histogram].sort(([a], [b]) => a - b));
        },
      ),
    );
  });

  test('packed ones behind each other are their sum', () => {
    fc.assert(
      fc.property(durations, durations, (left, right) => {
        const packed = [left, right].map((values) => packHistogram(histogramOf(values)));
        const sum = [...histogramOf([...left, ...right])].sort(([a], [b]) => a - b);
        expect([...unpackHistograms(packed)]).toEqual(sum);
        expect([...unpackHistograms([Buffer.concat(packed)])]).toEqual(sum);
      }),
    );
  });

  test.each([0, -5, Number.NaN, 0.0005])('%p falls into the first bin', (value) => {
    expect(binOf(value)).toBe(0);
  });

  test('longer values count in the last bin', () => {
    expect(binOf(1e12)).toBe(binOf(1e11));
    expect(binValueMs(binOf(1e12))).toBeGreaterThan(20_000_000);
  });
});
