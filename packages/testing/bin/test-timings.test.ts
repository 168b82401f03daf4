import { expect, test } from 'bun:test';
import { mergeTimings } from './test-timings';

test('timings follow what is new, gone, or off by more than a quarter; noise changes nothing', () => {
  const known = { gone: 9_000, slower: 10_000, same: 8_000, short: 10 };
  const took = new Map([
    ['slower', 16_040],
    ['same', 9_900],
    ['short', 1_900],
    ['new', 70],
  ]);
  const merged = mergeTimings(known, took, (path) => path !== 'gone');
  expect(merged).toEqual({ slower: 16_000, same: 8_000, new: 100, short: 10 });
  expect(Object.keys(merged)).toEqual(['slower', 'same', 'new', 'short']);
});
