import { expect, test } from 'bun:test';
import { dashboardCalls } from './dashboard-calls';

test('every page is asked for over every range, with nothing left to fill in', () => {
  const calls = dashboardCalls(Date.UTC(2026, 5, 15, 12, 34));
  expect(new Set(calls.map(({ range }) => range))).toEqual(new Set(['24 h', '7 d', '30 d', '90 d']));
  expect(new Set(calls.map(({ page }) => page)).size).toBe(6);
  expect(calls.filter(({ path }) => /[{}]|undefined/.test(path))).toEqual([]);
  const customers = calls.filter(({ path }) => path.includes('group_by=customer&top=10') && !path.includes('top=100'));
  expect(customers.map(({ path }) => /from=(\S+?)&.*interval=(\d+)/.exec(path)?.slice(1))).toEqual([
    ['2026-06-14T12:34:00.000Z', '3600'],
    ['2026-06-08T00:00:00.000Z', '86400'],
    ['2026-05-16T00:00:00.000Z', '86400'],
    ['2026-03-17T00:00:00.000Z', '86400'],
  ]);
});
