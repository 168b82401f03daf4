import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { LatencyBucket } from '../../api/stats';
import {
  cellAt,
  cellsBetween,
  cellsPath,
  describeCell,
  firstCell,
  type HeatMap,
  moveCell,
  percentilesOf,
  placeOf,
  prepareHeatMap,
  prepareLines,
  regionOf,
  requestsOfRegion,
  SHADES,
  shadeOf,
} from './prepare-heat-map';

const MINUTE_MS = 60_000;
const START_MS = Date.parse('2026-11-26T12:00:00Z');
const times = Array.from({ length: 10 }, (_, index) => START_MS + index * MINUTE_MS);
const start = (column: number) => new Date(times[column] ?? 0).toISOString();
const RATIO = 1.377;
const bins = Array.from({ length: 12 }, (_, row) => ({
  ...{ from_ms: 100 * RATIO ** row, to_ms: 100 * RATIO ** (row + 1), requests: 9, cache_hits: 0 },
}));
const counts = (at: Readonly<Record<number, number>>) => bins.map((_, row) => at[row] ?? 0);
const map = prepareHeatMap(
  {
    bins,
    buckets: [
      { start: start(2), requests: counts({ 0: 3, 5: 40 }) },
      { start: start(9), requests: counts({ 4: 7, 6: 1 }) },
      { start: new Date(START_MS - MINUTE_MS).toISOString(), requests: counts({ 0: 1000 }) },
    ],
  },
  times,
  MINUTE_MS,
);

const cell = (column: number, row: number) => ({ column, row });
const anyCell = fc.record({ column: fc.integer({ min: 0, max: 9 }), row: fc.integer({ min: 0, max: 11 }) });

describe('cells', () => {
  test('have the counts of their time and duration; other times do not count', () => {
    expect([map.columns[2]?.[0], map.columns[2]?.[5], map.columns[9]?.[4], map.most]).toEqual([3, 40, 7, 40]);
    expect(map.columns.flat().reduce((sum, count) => sum + count, 0)).toBe(51);
  });

  test('are found under the pointer, within the ends', () => {
    expect([cellAt(map, 0, 1), cellAt(map, 0.999, 0), cellAt(map, -1, 2), cellAt(map, 0.25, 0.5)]).toEqual([
      ...[cell(0, 0), cell(9, 11), cell(0, 0), cell(2, 5)],
    ]);
  });

  test('keys move by one, by five, to the ends, and never beyond', () => {
    const keys = fc.constantFrom(
      'ArrowLeft',
      'ArrowRight',
      'ArrowUp',
      'ArrowDown',
      'PageUp',
      'PageDown',
      'Home',
      'End',
    );
    fc.assert(
      fc.property(anyCell, keys, (from, key) => {
        const to = moveCell(map, from, key);
        expect(to?.column).toBeWithin(0, 10);
        expect(to?.row).toBeWithin(0, 12);
      }),
    );
    const moved = (key: string) => moveCell(map, cell(4, 6), key);
    expect([moved('ArrowLeft'), moved('ArrowUp'), moved('PageDown'), moved('End'), moved('x')]).toEqual([
      ...[cell(3, 6), cell(4, 7), cell(4, 1), cell(9, 6), null],
    ]);
    expect(firstCell(map)).toEqual(cell(9, 4));
  });

  test('a region covers its cells, in any order, and stands where they are drawn', () => {
    fc.assert(
      fc.property(anyCell, anyCell, (one, other) => {
        const region = regionOf(map, cellsBetween(one, other));
        expect(region).toEqual(regionOf(map, cellsBetween(other, one)));
        const place = placeOf(map, region);
        const columns = Math.abs(one.column - other.column) + 1;
        const rows = Math.abs(one.row - other.row) + 1;
        expect(place?.width).toBeCloseTo(columns / 10, 6);
        expect(place?.height).toBeCloseTo(rows / 12, 3);
        expect(place?.bottom).toBeCloseTo(Math.min(one.row, other.row) / 12, 3);
      }),
    );
    const past = { fromMs: START_MS - 9 * MINUTE_MS, toMs: START_MS - MINUTE_MS, minMs: 1, maxMs: 1e6 };
    expect(placeOf(map, past)).toBeNull();
  });

  test('each is drawn once, darker with the logarithm of its count', () => {
    expect([0, 1, 2, 40].map((count) => shadeOf(count, 40))).toEqual([0, 1, 2, SHADES]);
    expect(shadeOf(1, 1)).toBe(SHADES);
    const drawn = Array.from({ length: SHADES }, (_, index) => cellsPath(map, index + 1)).join('');
    expect(drawn.match(/M/g)).toHaveLength(4);
    expect(cellsPath(map, SHADES)).toBe('M2 6h1v1h-1z');
  });
});

const bucket = (column: number, requests: number, p50: number) =>
  ({ start: start(column), requests, latency_ms: { p50, p95: p50 * 2, p99: null } }) as unknown as LatencyBucket;

test('percentiles are lines over the cells, with gaps; those of few requests are dashes in their columns', () => {
  const found = [bucket(1, 50, 100), bucket(2, 50, 100 * RATIO ** 6), bucket(4, 50, 1e9), bucket(6, 3, 100)];
  const [p50, p95, p99] = prepareLines(map, percentilesOf(map, found, 'latency'));
  expect(p50).toMatchObject({ name: 'p50', path: 'M1.5 12L2.5 6M4.5 0h0', dashes: ['M6 12h1', '', ''] });
  expect(p95?.path).toStartWith('M1.5 9.');
  expect(p99?.path).toBe('');
  const one = { ...bucket(6, 1, 100), latency_ms: { p50: 100, p95: 100, p99: 100 } };
  const equal = prepareLines(map, percentilesOf(map, [one], 'latency'));
  expect(equal.map(({ dashes }) => dashes.findIndex((path) => path !== ''))).toEqual([0, 1, 2]);
});

test('a cell in words, and its requests', () => {
  expect(describeCell(map, cell(2, 5), 'utc')).toBe('2026-11-26 12:02 to 12:03 UTC, 495 ms to 682 ms: 40 requests');
  const region = { fromMs: START_MS, toMs: START_MS + MINUTE_MS, minMs: 0, maxMs: 250.5 };
  expect(requestsOfRegion(region, 'ttft')).toEqual({
    ...{ from: '2026-11-26T12:00:00.000Z', to: '2026-11-26T12:01:00.000Z' },
    ...{ min_latency: undefined, max_latency: '250.5', latency_of: 'ttft', sort: '-ttft_ms' },
  });
  const { latency_of, min_latency } = requestsOfRegion({ ...region, minMs: 7 }, 'latency');
  expect([latency_of, min_latency]).toEqual([undefined, '7']);
});

test('a map without requests', () => {
  const empty: HeatMap = prepareHeatMap({ bins: [], buckets: [] }, times, MINUTE_MS);
  expect([empty.most, empty.bins]).toEqual([0, []]);
});
