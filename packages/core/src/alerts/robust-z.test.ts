import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { median, robustZ } from './robust-z';

const amounts = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 60 });

test('the median splits the samples in half', () => {
  fc.assert(
    fc.property(amounts, (samples) => {
      const middle = median(samples) ?? Number.NaN;
      const [below, above] = [samples.filter((one) => one < middle), samples.filter((one) => one > middle)];
      expect(Math.max(below.length, above.length)).toBeLessThanOrEqual(samples.length / 2);
    }),
  );
});

test('z: of the median it is 0, it grows with the value, and few odd samples hardly move it', () => {
  fc.assert(
    fc.property(amounts, fc.double({ min: 0, max: 1e6, noNaN: true }), (samples, more) => {
      const middle = median(samples) ?? 0;
      expect(robustZ(middle, samples, 0.01)).toBe(0);
      expect(robustZ(middle + more, samples, 0.01) ?? -1).toBeGreaterThanOrEqual(0);
    }),
  );
  const usual = [10, 11, 9, 10, 12, 8, 10, 11, 9, 10];
  const odd = [...usual, 5_000, 0];
  expect(robustZ(40, usual, 0.01)).toBeGreaterThan(15);
  expect(robustZ(40, odd, 0.01)).toBeGreaterThan(10);
});

test('a constant series tolerates small changes', () => {
  const flat = Array.from({ length: 28 }, () => 10);
  expect(robustZ(10.4, flat, 0.01)).toBeLessThan(1);
  expect(robustZ(20, flat, 0.01)).toBe(20);
  expect(
    robustZ(
      0.02,
      Array.from({ length: 28 }, () => 0),
      0.01,
    ),
  ).toBe(2);
  expect(robustZ(1, [], 0.01)).toBeNull();
});
