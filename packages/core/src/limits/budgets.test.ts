import { describe, expect, test } from 'bun:test';
import { type Budget, budgetId, periodAt } from './budgets';
import { describeBudgets } from './budgets.cases';
import { compileBudgets } from './compile-budgets';
import { openEmbedded, openRedis } from './open-stores.fixture';

describeBudgets('embedded hot store', openEmbedded);
describeBudgets('redis hot store', openRedis);

describe('budgets of a key', () => {
  const set = (id: string, version: number, day: number | null, week: number | null) => ({
    ...{ id, version, dailyBudgetNanoUsd: day, weeklyBudgetNanoUsd: week },
  });
  const label = { label: 'feature', value: 'search', dailyNanoUsd: null, weeklyNanoUsd: 5, monthlyNanoUsd: 6 };
  const idsOf = (list: readonly Budget[] = []) =>
    list.map(({ id, limitNanoUsd, version }) => [id, limitNanoUsd, version]);

  test('none of them is undefined: nothing is held, checked or sent', () => {
    const empty = { ...label, weeklyNanoUsd: null, monthlyNanoUsd: null };
    expect(compileBudgets({ key: set('k', 1, null, null), project: set('p', 1, null, null), labelBudgets: [] })).toBe(
      undefined,
    );
    expect(
      compileBudgets({ key: set('k', 1, null, null), project: set('p', 1, null, null), labelBudgets: [empty] }),
    ).toBe(undefined);
  });

  test('those of project, key and the labels that a request has', () => {
    const budgets = compileBudgets({ key: set('k', 7, 1, null), project: set('p', 3, 2, 0), labelBudgets: [label] });
    const own = [
      ['dp', 2, 3],
      ['wp', 0, 3],
      ['dkk', 1, 7],
    ];
    expect(idsOf(budgets?.of(undefined)?.list)).toEqual(own);
    expect(budgets?.of({ feature: 'other' })).toBe(budgets?.of(undefined));
    const both = budgets?.of({ team: 'x', feature: 'search' });
    expect(idsOf(both?.list)).toEqual([...own, ['wlfeature=search', 5, 3], ['mlfeature=search', 6, 3]]);
    expect(both?.text).toBe('dp 2 3 wp 0 3 dkk 1 7 wlfeature=search 5 3 mlfeature=search 6 3');
  });

  test('names of labels never collide, and have no separators', () => {
    const id = (name: string, value: string) => budgetId('day', { scope: 'label', label: name, value });
    expect(id('a', 'b=c')).not.toBe(id('a=b', 'c'));
    expect(id('a', 'x y:z\n\ud800')).not.toMatch(/[\s:]/);
  });
});

test('weeks begin on Monday, months on the first, in UTC', () => {
  const iso = (span: 'day' | 'week' | 'month', at: string) => {
    const { fromMs, toMs } = periodAt(span, Date.parse(at));
    return [fromMs, toMs].map((ms) => new Date(ms).toISOString().slice(0, 10));
  };
  expect(iso('week', '2026-05-31T23:59:59.999Z')).toEqual(['2026-05-25', '2026-06-01']);
  expect(iso('week', '2026-06-01T00:00:00Z')).toEqual(['2026-06-01', '2026-06-08']);
  expect(iso('week', '2027-01-01T12:00:00Z')).toEqual(['2026-12-28', '2027-01-04']);
  expect(iso('month', '2026-12-31T23:59:59Z')).toEqual(['2026-12-01', '2027-01-01']);
  expect(iso('day', '2028-02-29T12:00:00Z')).toEqual(['2028-02-29', '2028-03-01']);
});
