import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { percentilesOf } from './latencies';

describe('percentiles', () => {
  test('are null of nothing', () => {
    expect(percentilesOf([])).toBeNull();
  });

  test('are the nearest rank', () => {
    const values = Array.from({ length: 1000 }, (_, index) => (1000 - index) / 10);
    expect(percentilesOf(values)).toEqual({ p50: 50, p90: 90, p95: 95, p99: 99, p999: 99.9 });
  });

  test('are values that were measured, with the asked share at or below them and no smaller value that has it', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1 }), (values) => {
        const p90 = percentilesOf(values)?.p90 ?? Number.NaN;
        expect(values).toContain(p90);
        expect(values.filter((value) => value <= p90).length).toBeGreaterThanOrEqual(0.9 * values.length);
        expect(values.filter((value) => value < p90).length).toBeLessThan(0.9 * values.length);
      }),
    );
  });
});
