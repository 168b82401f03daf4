import { describe, expect, test } from 'bun:test';
import { SPARK_DAYS } from '../../../api/projects';
import type { Budget, SpendBucket } from '../../../api/stats';
import { outlookOf } from '../../finance/cap-outlook';
import { DAY_MS, describeDays, prepareDays, sparkDays, sumOfDays } from './prepare-days';
import { ownerOf, prepareNext, prepareOutlooks } from './prepare-outlooks';

const NOW = Date.parse('2026-11-26T05:02:17Z');

describe('days of spend', () => {
  const { fromMs, toMs } = sparkDays(NOW);
  const bucket = (daysAgo: number, group: string, cost: number) =>
    ({ start: new Date(toMs - (daysAgo + 1) * DAY_MS).toISOString(), group, cost_usd: cost }) as SpendBucket;

  test('end with today, UTC, and have no gaps', () => {
    expect(new Date(fromMs).toISOString()).toBe('2026-11-13T00:00:00.000Z');
    const daysOf = prepareDays(
      { buckets: [bucket(0, 'a', 1), bucket(13, 'a', 2), bucket(6, 'b', 5)], groups: 2 },
      fromMs,
    );
    expect(daysOf('a')).toEqual([2, ...Array.from({ length: 12 }, () => 0), 1]);
    expect(sumOfDays(daysOf('b'))).toBe(5);
    expect(daysOf('c')).toEqual(Array.from({ length: SPARK_DAYS }, () => 0));
  });

  test('groups that were left out are unknown, not zero', () => {
    const daysOf = prepareDays({ buckets: [bucket(0, 'a', 1), bucket(0, '(other)', 9)], groups: 150 }, fromMs);
    expect([daysOf('a')?.at(-1), daysOf('b'), sumOfDays(daysOf('b'))]).toEqual([1, null, null]);
  });

  test('are said: the sum, the highest day, today', () => {
    expect(describeDays([0, 3, 0.5], NOW)).toBe('$3.50 in 3 days, most on Nov 25 ($3.00), $0.50 today');
    expect(describeDays([0, 0], NOW)).toBe('Nothing in 2 days');
  });
});

const FORECAST = { expected_usd: 90, low_usd: 80, high_usd: 110 };
const budget = (name: string, more: Partial<Budget> = {}): Budget => ({
  ...{ scope: 'key', period: 'month', project_id: 'p', id: name, name, limit_usd: 100, used_usd: 40, share: 0.4 },
  ...{ forecast: FORECAST, reached_on: null, could_reach_on: null, ...more },
});
const BUDGETS = [
  budget('lasts'),
  budget('early', { forecast: null }),
  budget('sure', { reached_on: '2026-11-29' }),
  budget('maybe', { could_reach_on: '2026-11-29' }),
  budget('soon', { could_reach_on: '2026-11-28' }),
  budget('gone', { used_usd: 100, reached_on: '2026-11-20' }),
  budget('spent', { period: 'total', used_usd: 101, forecast: null }),
  budget('total', { period: 'total', forecast: null }),
];

describe('outlooks', () => {
  const shown = (name: string, budgets = BUDGETS) => prepareOutlooks(budgets).get(ownerOf('p', name));

  test('are those of all pages, short for a badge, and sort by urgency', () => {
    expect(BUDGETS.map(({ name }) => [name, shown(name)?.short, shown(name)?.day])).toEqual([
      ['lasts', 'lasts', null],
      ['early', 'no forecast yet', null],
      ['sure', 'Nov 29', '2026-11-29'],
      ['maybe', 'maybe Nov 29', '2026-11-29'],
      ['soon', 'maybe Nov 28', '2026-11-28'],
      ['gone', 'used up', ''],
      ['spent', 'used up', ''],
      ['total', '$40.00 of $100.00', null],
    ]);
    for (const one of BUDGETS.filter(({ period }) => period === 'month')) {
      const said = outlookOf({ ...one, spent_usd: one.used_usd, cap_usd: one.limit_usd }, false);
      expect(shown(one.name)).toMatchObject(said);
    }
  });

  test('a budget in all tells its sums: one with room for no request is not within its limit', () => {
    const tiny = budget('tiny', { period: 'total', used_usd: 0, limit_usd: 0.005, forecast: null });
    expect(shown('tiny', [tiny])?.text).toBe('$0.00 of $0.005 spent');
  });

  test('a budget of a day that is nearly spent may end today', () => {
    const day = (used_usd: number) => budget('day', { period: 'day', used_usd, forecast: null });
    const today = new Date().toISOString().slice(0, 10);
    expect(shown('day', [day(40)])).toMatchObject({ short: '$40.00 of $100.00 today', tone: 'neutral', day: null });
    expect(shown('day', [day(99)])).toMatchObject({ short: '$99.00 of $100.00 today', tone: 'warn', day: today });
    expect(prepareNext([day(99)]).map(({ name }) => name)).toEqual(['day']);
  });

  test('of several budgets of an owner the most urgent counts', () => {
    const both = [
      budget('a'),
      budget('a', { period: 'day', used_usd: 100 }),
      budget('a', { reached_on: '2026-11-27' }),
    ];
    expect(shown('a', both)?.short).toBe('used up');
    expect(shown('b', both)).toBeUndefined();
  });

  test('the next three are named, used up ones first', () => {
    expect(prepareNext(BUDGETS).map(({ name }) => name)).toEqual(['gone', 'spent', 'soon']);
    expect(prepareNext(BUDGETS.slice(0, 4)).map(({ name }) => name)).toEqual(['sure', 'maybe']);
    expect(prepareNext(BUDGETS.slice(0, 2))).toEqual([]);
  });
});
