import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Latencies } from './latencies';

describe('percentiles', () => {
  test('are null of nothing', () => {
    expect(new Latencies().percentiles()).toBeNull();
  });

  test('are the nearest rank', () => {
    const latencies = new Latencies();
    for (let value = 1000; value >= 1; value--) latencies.add(value / 10);
    expect(latencies.percentiles()).toEqual({ p50: 50, p90: 90, p95: 95, p99: 99, p999: 99.9 });
  });

  test('are values that were measured, with the asked share at or below them and no smaller value that has it', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1 }), (values) => {
        const latencies = new Latencies();
        for (const value of values) latencies.add(value);
        const p90 = latencies.percentiles()?.p90 ?? Number.NaN;
        expect(values).toContain(p90);
        expect(values.filter((value) => value <= p90).length).toBeGreaterThanOrEqual(0.9 * values.length);
        expect(values.filter((value) => value < p90).length).toBeLessThan(0.9 * values.length);
      }),
    );
  });
});
