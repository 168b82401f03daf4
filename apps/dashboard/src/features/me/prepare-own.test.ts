import { expect, test } from 'bun:test';
import { addDays } from './prepare-own';

test("a person's spend of a day is that of all keys", () => {
  const keys = [[1, 2, 0], null, [0, 0.5, 3]].map((days) => ({ spend_by_day: days }));
  expect(addDays(keys)).toEqual([1, 2.5, 3]);
  expect(addDays([])).toEqual([]);
});
