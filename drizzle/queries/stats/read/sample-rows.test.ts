import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { spreadWindows } from './sample-rows';

const stretches = fc
  .array(fc.record({ gapMs: fc.nat({ max: 86_400_000 }), lengthMs: fc.integer({ min: 60_000, max: 86_400_000 }) }), {
    minLength: 1,
    maxLength: 3,
  })
  .map((given) => {
    let atMs = Date.parse('2026-11-01T00:00:00Z');
    return given.map(({ gapMs, lengthMs }) => {
      const fromMs = atMs + gapMs;
      atMs = fromMs + lengthMs;
      return { fromMs, toMs: atMs };
    });
  });

test('windows take their share of the time, evenly, within the stretches and without overlap', () => {
  fc.assert(
    fc.property(stretches, fc.double({ min: 0.001, max: 0.999, noNaN: true }), (given, share) => {
      const windows = spreadWindows(given, share);
      const length = (all: readonly { fromMs: number; toMs: number }[]) =>
        all.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
      // Each window is whole milliseconds.
      expect(Math.abs(length(windows) - share * length(given))).toBeLessThanOrEqual(windows.length);
      expect(windows.length).toBeGreaterThanOrEqual(50);
      let endMs = 0;
      for (const { fromMs, toMs } of windows) {
        expect(fromMs).toBeGreaterThanOrEqual(endMs);
        expect(toMs).toBeGreaterThan(fromMs);
        expect(given.some((one) => one.fromMs <= fromMs && toMs <= one.toMs)).toBe(true);
        endMs = toMs;
      }
      for (const one of given) {
        const own = windows.filter(({ fromMs }) => fromMs >= one.fromMs && fromMs < one.toMs);
        const half = own.filter(({ fromMs }) => fromMs < (one.fromMs + one.toMs) / 2).length;
        expect(Math.abs(own.length - 2 * half)).toBeLessThanOrEqual(2);
      }
    }),
  );
});

test('a share of 1 is the stretches themselves', () => {
  const given = [{ fromMs: 5, toMs: 900 }];
  expect(spreadWindows(given, 1)).toEqual(given);
});
