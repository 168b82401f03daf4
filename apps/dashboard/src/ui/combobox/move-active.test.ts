import { expect, test } from 'bun:test';
import { movedBy, takenBy } from './move-active';

test('the first arrow after typing highlights the first row, and Enter takes it', () => {
  const first = movedBy(-1, 1, 2);
  expect([first, takenBy(first, true)]).toEqual([0, 0]);
  expect([movedBy(first, 1, 2), movedBy(1, 1, 2), movedBy(0, -1, 2), movedBy(-1, -1, 3)]).toEqual([1, 0, 1, 2]);
});

test('Enter without an arrow takes the first match only where typing selects', () => {
  expect([takenBy(-1, true), takenBy(-1, false), takenBy(2, true)]).toEqual([0, -1, 2]);
});
