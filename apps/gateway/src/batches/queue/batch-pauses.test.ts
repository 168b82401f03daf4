import { expect, test } from 'bun:test';
import { BatchPauses } from './batch-pauses';

test('a limit that lets no line through is asked less and less often, and one that does as often as it says', () => {
  let nowMs = 0;
  const pauses = new BatchPauses(() => nowMs);
  const pausesOf = (wentOn: boolean, times: number) =>
    Array.from({ length: times }, () => {
      const ms = pauses.begin('a', { waitMs: 1500, wentOn });
      expect(pauses.leftMs('a')).toBe(ms);
      nowMs += ms;
      return ms;
    });
  expect(pausesOf(false, 6)).toEqual([1500, 2000, 4000, 8000, 15_000, 15_000]);
  expect(pausesOf(true, 3)).toEqual([1500, 1500, 1500]);
  expect(pausesOf(false, 2)).toEqual([2000, 4000]);
  expect(pauses.leftMs('b')).toBe(0);
});
