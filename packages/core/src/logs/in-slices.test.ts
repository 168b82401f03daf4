import { expect, test } from 'bun:test';
import { eachInSlices } from './in-slices';

const busyFor = (ms: number) => {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
};

test('every item once, in order, and others get their turn in between', async () => {
  const items = Array.from({ length: 200 }, (_, index) => index);
  const done: number[] = [];
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await eachInSlices(items, (item) => {
    busyFor(0.2);
    done.push(item);
  });
  clearInterval(timer);
  expect(done).toEqual(items);
  expect(turns).toBeGreaterThan(3);
});

test('an error of the work ends it', async () => {
  const done: number[] = [];
  const running = eachInSlices([1, 2, 3], (item) => {
    if (item === 2) throw new Error('no');
    done.push(item);
  });
  await expect(running).rejects.toThrow('no');
  expect(done).toEqual([1]);
});
