import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { prepareSpark, SPARK } from './prepare-spark';

/** Left end and height of each bar. */
const barsOf = (path: string) =>
  [...path.matchAll(/M([\d.]+) 20v-([\d.]+)h/g)].map(([, left, height]) => [Number(left), Number(height)] as const);

describe('a spark line', () => {
  test('has a bar for each value that is not zero, within its room, as high as its share of the largest', () => {
    const amounts = fc.array(fc.oneof(fc.constant(0), fc.double({ min: 1e-9, max: 1e9, noNaN: true })), {
      maxLength: 31,
    });
    fc.assert(
      fc.property(amounts, (values) => {
        const { bars, last } = prepareSpark({ values });
        const drawn = barsOf(bars + last);
        const most = Math.max(0, ...values);
        const expected = values.filter((value) => value > 0).map((value) => Math.max(1.5, (value / most) * 20));
        expect(drawn.length).toBe(expected.length);
        for (const [index, [left, height]] of drawn.entries()) {
          expect(left).toBeLessThan(SPARK.width);
          expect(height).toBeCloseTo(expected[index] ?? 0, 1);
        }
        expect(bars + last).not.toMatch(/NaN|e-/);
      }),
    );
  });

  test('the last bar is apart, since it is not over; marks are parts of their bars', () => {
    const { bars, last, marks } = prepareSpark({ values: [4, 0, 2], marked: [1, 0, 9] });
    expect(barsOf(bars)).toEqual([[0, 20]]);
    expect(barsOf(last)).toEqual([[56, 10]]);
    expect(barsOf(marks)).toEqual([
      [0, 5],
      [56, 10],
    ]);
    expect(prepareSpark({ values: [] })).toEqual({ bars: '', last: '', marks: '' });
    expect(prepareSpark({ values: [0, 0], marked: [0, 0] })).toEqual({ bars: '', last: '', marks: '' });
  });
});
