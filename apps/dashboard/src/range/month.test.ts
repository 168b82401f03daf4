import { expect, test } from 'bun:test';
import { daysBetween, monthStart } from './month';

test('months are UTC, whatever the length of those between', () => {
  expect([monthStart(Date.UTC(2026, 5, 10)), monthStart(Date.UTC(2026, 11, 31, 23), 1)]).toEqual([
    Date.UTC(2026, 5, 1),
    Date.UTC(2027, 0, 1),
  ]);
  expect(monthStart(Date.UTC(2027, 2, 31), -1)).toBe(Date.UTC(2027, 1, 1));
  const days = daysBetween(Date.UTC(2027, 1, 1), Date.UTC(2027, 2, 1));
  expect([days.length, days[0], days.at(-1)]).toEqual([28, Date.UTC(2027, 1, 1), Date.UTC(2027, 1, 28)]);
  expect(daysBetween(5, 5)).toEqual([]);
});
