import { expect, test } from 'bun:test';
import { describeBin, prepareDistribution } from './prepare-distribution';

const bin = (from: number, requests: number, hits = 0) => ({
  ...{ from_ms: from, to_ms: from * 1.377, requests, cache_hits: hits },
});

test('bars add up to their requests, those of caches at the bottom', () => {
  const { bins, requests, hits, paths, ticks, counts } = prepareDistribution([
    bin(10, 40, 10),
    bin(10 * 1.377 ** 9, 20, 0),
  ]);
  expect([bins.length, requests, hits]).toEqual([10, 60, 10]);
  expect(paths.hits).toBe('M0.5 100v-25h9v25z');
  expect(paths.others).toBe('M0.5 75v-75h9v75zM90.5 100v-50h9v50z');
  expect(ticks.map(({ ms }) => ms)).toEqual([10, 100]);
  expect(ticks[0]?.share).toBe(0);
  // The axis of requests has whole steps, up to the highest bar.
  expect(counts.map(({ count, share }) => `${count} at ${share}`)).toEqual([
    '0 at 0',
    '10 at 0.25',
    '20 at 0.5',
    '30 at 0.75',
    '40 at 1',
  ]);
  expect(prepareDistribution([bin(10, 1)]).counts.map(({ count }) => count)).toEqual([0, 1]);
});

test('a single request beside thousands is still seen', () => {
  const { paths } = prepareDistribution([bin(10, 5000), bin(10 * 1.377 ** 8, 1)]);
  expect(paths.others).toEndWith('M80.5 100v-1h9v1z');
});

test('a bin in words', () => {
  const shown = { fromMs: 250, toMs: 344, requests: 30, hits: 1, index: 0 };
  expect(describeBin(shown, 120)).toBe('250 ms to 344 ms: 30 requests (25.0 %), 1 cache hit');
  expect(describeBin({ ...shown, fromMs: 0, hits: 0 }, 120)).toBe('up to 344 ms: 30 requests (25.0 %)');
  expect(describeBin({ ...shown, requests: 0, hits: 0 }, 120)).toBe('250 ms to 344 ms: no requests');
});
