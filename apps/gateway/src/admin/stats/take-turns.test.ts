import { expect, test } from 'bun:test';
import { takeTurns } from './take-turns';

test('no more than so many at once, first come first served, failures included', async () => {
  const inTurn = takeTurns(2);
  const started: number[] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const runs = Array.from({ length: 6 }, (_, index) =>
    inTurn(async () => {
      started.push(index);
      const end = Promise.withResolvers<void>();
      ends[index] = end;
      await end.promise;
      return index;
    }),
  );
  await Bun.sleep(0);
  expect(started).toEqual([0, 1]);
  ends[1]?.reject(new Error('broken'));
  await expect(runs[1]).rejects.toThrow('broken');
  expect(started).toEqual([0, 1, 2]);
  for (const index of [0, 2, 3, 4, 5]) {
    ends[index]?.resolve();
    expect(await runs[index]).toBe(index);
  }
  expect(started).toEqual([0, 1, 2, 3, 4, 5]);
  expect(await inTurn(async () => 'later')).toBe('later');
});
