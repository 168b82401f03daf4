import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type BubblePoint, bubbleAt, prepareBubbles, prepareLogScale } from './prepare-bubbles';

const amount = fc.oneof(
  fc.constant(0),
  fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
  fc.integer({ min: 1, max: 100_000 }),
);

describe('a logarithmic axis', () => {
  test('has all values on it, in their order, and few round ticks', () => {
    fc.assert(
      fc.property(fc.array(amount, { maxLength: 30 }), (values) => {
        const { at, ticks } = prepareLogScale(values);
        const sorted = values.toSorted((a, b) => a - b);
        const places = sorted.map(at);
        expect(places.every((place) => place >= 0 && place <= 1)).toBe(true);
        expect(places.toSorted((a, b) => a - b)).toEqual(places);
        // Nothing is at the start but zero.
        expect(sorted.filter((value) => value > 0).every((value) => at(value) > 0)).toBe(true);
        expect(ticks.length).toBeGreaterThanOrEqual(2);
        expect(ticks.length).toBeLessThanOrEqual(7);
        expect(ticks.map((tick) => tick.at)).toEqual(ticks.map(({ value }) => at(value)));
      }),
    );
  });

  test('takes whole steps around the values; zero has its own place', () => {
    const ticksOf = (values: readonly number[]) => prepareLogScale(values).ticks.map(({ value }) => value);
    expect(ticksOf([0.3, 4])).toEqual([0.2, 0.5, 1, 2, 5]);
    expect(ticksOf([5])).toEqual([2, 5, 10]);
    expect(ticksOf([0, 3])).toEqual([0, 2, 5]);
    expect(ticksOf([0.003, 700])).toEqual([0.01, 0.1, 1, 10, 100, 1000]);
    expect(ticksOf([0])).toEqual([0, 1, 2]);
    const { at } = prepareLogScale([0, 3]);
    expect([at(0), at(2), at(5)]).toEqual([0, 0.08, 1]);
  });
});

describe('bubbles', () => {
  const points = fc.uniqueArray(
    fc.record({ name: fc.string({ minLength: 1, maxLength: 30 }), x: amount, y: amount, size: fc.nat(1_000_000) }),
    { selector: ({ name }) => name, maxLength: 25 },
  );

  test('are all on the chart, large ones first, with areas as their sizes', () => {
    fc.assert(
      fc.property(points, (given) => {
        const { bubbles } = prepareBubbles(given);
        const sizeOf = new Map(given.map(({ name, size }) => [name, size]));
        const largest = Math.max(0, ...sizeOf.values());
        expect(bubbles.map(({ name }) => name).toSorted()).toEqual([...sizeOf.keys()].toSorted());
        for (const [index, { name, left, top, radius }] of bubbles.entries()) {
          // On a phone, too, no circle leaves the plot.
          const [x, y] = [left * 2.8, top * 2.4];
          const edges = [x - radius, 280 - x - radius, y - radius, 240 - y - radius];
          expect(edges.every((room) => room > -1e-6)).toBe(true);
          expect(radius).toBeLessThanOrEqual(bubbles[index - 1]?.radius ?? radius);
          const size = sizeOf.get(name) ?? 0;
          if (radius > 5) expect((radius / 28) ** 2).toBeCloseTo(size / largest, 6);
        }
      }),
    );
  });

  test('cheap and fast is at the lower left', () => {
    const point = (name: string, x: number, y: number): BubblePoint => ({ name, x, y, size: 1 });
    const { bubbles } = prepareBubbles([point('best', 1, 100), point('worst', 50, 9000)]);
    const [best, worst] = [bubbles.find(({ name }) => name === 'best'), bubbles.find(({ name }) => name === 'worst')];
    expect(best?.left).toBeLessThan(worst?.left ?? 0);
    expect(best?.top).toBeGreaterThan(worst?.top ?? 0);
  });

  test('names are beside their circles, on the other side at the edge, and none covers another', () => {
    const point = (name: string, x: number, size: number): BubblePoint => ({ name, x, y: 1, size });
    const { bubbles } = prepareBubbles([
      ...[point('first', 1, 9), point('a name of some length', 99, 8)],
      ...[point('one of the same place', 1.01, 7), point('another of the same place', 1.02, 6)],
    ]);
    expect(bubbles.map(({ nameAt }) => nameAt)).toEqual(['right', 'left', 'above', null]);
  });

  test('the largest is named whatever is around it', () => {
    const size = (name: string, x: number, y: number, size: number): BubblePoint => ({ name, x, y, size });
    const around = [0.8, 0.9, 1.1, 1.25].flatMap((x) => [0.8, 1, 1.25].map((y) => size(`m ${x} ${y}`, x, y, 90)));
    const { bubbles } = prepareBubbles([size('largest', 1, 1, 100), ...around, size('far', 40, 40, 1)]);
    expect(bubbles[0]).toMatchObject({ name: 'largest' });
    expect(bubbles[0]?.nameAt).not.toBeNull();
  });

  test('a pointer finds the smallest circle that it is over', () => {
    const { bubbles } = prepareBubbles([
      { name: 'large', x: 3, y: 3, size: 100 },
      { name: 'small', x: 3, y: 3, size: 1 },
    ]);
    const [{ left, top } = { left: 0, top: 0 }] = bubbles;
    const at = (dx: number) => ({ x: left * 8 + dx, y: top * 2, width: 800, height: 200 });
    const nameAt = (dx: number) => bubbles[bubbleAt(bubbles, at(dx)) ?? -1]?.name ?? null;
    expect([nameAt(0), nameAt(20), nameAt(60)]).toEqual(['small', 'large', null]);
    expect(bubbleAt([], at(0))).toBeNull();
  });
});
