import { expect, test } from 'bun:test';
import { bucketAt, coveringOf, hasFew, layerAt, middleOf, splitFew, timeScale } from './prepare-scale';

const chart = { times: [0, 60_000, 120_000], intervalMs: 60_000 };

test('bars and lines share a scale, from the start of the first bucket to the end of the last', () => {
  expect(timeScale(chart)).toEqual([0, 180]);
  expect(timeScale({ ...chart, times: [] })).toEqual([0, 60]);
  expect(middleOf(60_000, 60_000)).toBe(90);
});

test('a pointer is in the bucket that it is over, not the nearest start', () => {
  const at = [-5, 0, 59_999, 60_000, 119_000, 179_999, 999_999].map((ms) => bucketAt(chart, ms));
  expect(at).toEqual([0, 0, 0, 1, 1, 2, 2]);
  expect(bucketAt({ times: [] }, 5)).toBeNull();
});

test('a pointer is over the layer that reaches its value, or over none above the stack', () => {
  const layers = [[5], [0], [2]].map((values, at) => ({ name: `${at}`, label: '', color: '', values }));
  const names = [-1, 0, 5, 5.1, 7, 7.1].map((value) => layerAt(layers, 0, value)?.name);
  expect(names).toEqual(['0', '0', '0', '2', '2', undefined]);
  expect(layerAt(layers, 1, 0)).toBeUndefined();
});

test('percentiles of few requests are dots, joined by a thin line', () => {
  expect(splitFew([1, 2, 3, null], [20, 19, 500, 0])).toEqual({
    line: [1, null, 3, null],
    dots: [null, 2, null, null],
    thin: [1, 2, 3, null],
  });
  expect(splitFew([1, 2], undefined)).toEqual({ line: [1, 2], dots: [null, null], thin: [null, null] });
  const series = [{ name: 'p50', label: 'p50', color: '', values: [1, null] }];
  expect([[19, 0], [20, 0], undefined].map((counts) => hasFew({ times: [0, 1], series, counts }))).toEqual([
    ...[true, false, false],
  ]);
});

test('a dot below equal ones gets a rim for each of them, so that every percentile is seen', () => {
  const rims = (places: readonly (number | null)[]) => places.map((_, index) => coveringOf(places, index, 2));
  expect(rims([100, 50, 50])).toEqual([0, 0, 1]);
  expect(rims([50, 50, 51])).toEqual([0, 1, 2]);
  expect(rims([100, null, 50])).toEqual([0, 0, 0]);
  expect(rims([null, 3, 1])).toEqual([0, 0, 0]);
});
