import { expect, test } from 'bun:test';
import { KEYS_PER_PROJECT, PROJECTS, rankShapes, rowShapes } from './row-shapes';

test('every key of every project has rows of several kinds', () => {
  const shapes = rowShapes();
  expect(new Set(shapes.map(({ project, key }) => `${project} ${key}`)).size).toBe(PROJECTS * KEYS_PER_PROJECT);
  expect(new Set(shapes.map(({ status }) => status)).size).toBe(4);
  expect(new Set(shapes.map(({ cache }) => cache)).size).toBe(3);
});

test('the scale goes from 0 to 1, in steps as wide as the weights', () => {
  const ranked = rankShapes(rowShapes());
  const total = ranked.reduce((sum, { weight }) => sum + weight, 0);
  let before = 0;
  for (const { upTo, weight } of ranked) {
    expect(upTo - before).toBeCloseTo(weight / total);
    before = upTo;
  }
  expect(ranked.at(-1)?.upTo).toBe(1);
});
