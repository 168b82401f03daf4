import { expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { prepareWindow, type WindowPart } from './prepare-window';

const drawn = (parts: readonly WindowPart[]) =>
  parts.flatMap((part) =>
    part.gapPx === undefined ? Array.from({ length: part.to - part.from }, (_, index) => part.from + index) : [],
  );
const heightOf = (parts: readonly WindowPart[], rowPx: number) =>
  parts.reduce((sum, part) => sum + (part.gapPx ?? (part.to - part.from) * rowPx), 0);

test('the visible rows are drawn, the table keeps its height, and no row is drawn twice', () => {
  const question = fc.record({
    count: fc.integer({ min: 0, max: 10_000 }),
    rowPx: fc.constantFrom(29, 30, 41.5),
    scrolledPx: fc.integer({ min: -50, max: 400_000 }),
    framePx: fc.integer({ min: 300, max: 2000 }),
    kept: fc.array(fc.integer({ min: 0, max: 10_000 }), { maxLength: 2 }),
  });
  fc.assert(
    fc.property(question, ({ count, rowPx, scrolledPx, framePx, kept }) => {
      const parts = prepareWindow({ count, rowPx, scrolledPx, framePx, kept });
      const rows = drawn(parts);
      expect(rows).toEqual([...new Set(rows)].sort((a, b) => a - b));
      expect(heightOf(parts, rowPx)).toBeCloseTo(count * rowPx, 3);
      for (let px = Math.max(0, scrolledPx); px < scrolledPx + framePx; px += rowPx) {
        const at = Math.floor(px / rowPx);
        if (at < count) expect(rows).toContain(at);
      }
      for (const at of kept.flatMap((one) => [one - 1, one, one + 1])) {
        if (at >= 0 && at < count && kept.every((one) => one < count)) expect(rows).toContain(at);
      }
    }),
    { numRuns: runs(200) },
  );
});

test('ten thousand rows draw some fifty', () => {
  const parts = prepareWindow({ count: 10_000, rowPx: 30, scrolledPx: 150_000, framePx: 800, kept: [2] });
  expect(drawn(parts).length).toBeLessThan(65);
  expect(parts.map(({ gapPx }) => gapPx !== undefined)).toEqual([true, false, true, false, true]);
});

test('scrolling by a row changes nothing', () => {
  const at = (scrolledPx: number) => prepareWindow({ count: 500, rowPx: 30, scrolledPx, framePx: 600, kept: [] });
  expect(at(1830)).toEqual(at(1800));
  expect(at(2000)).not.toEqual(at(1800));
});
