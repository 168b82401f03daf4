import { expect, test } from 'bun:test';
import type { Budget } from '../../api/stats';
import { outlookOf } from '../finance/cap-outlook';
import { prepareCaps, urgentCaps } from './prepare-caps';

const budget = (given: Partial<Budget>): Budget => ({
  ...{
    scope: 'project',
    period: 'month',
    project_id: 'p',
    id: given.name ?? 'Shop',
    name: 'Shop',
    limit_usd: 100,
    used_usd: 40,
  },
  ...{ share: 0.4, forecast: { expected_usd: 90, low_usd: 80, high_usd: 95 }, reached_on: null, could_reach_on: null },
  ...given,
});
const prepare = (...budgets: readonly Budget[]) => prepareCaps(budgets, (id) => (id === 'p' ? 'project p' : id));
const [runsOut, lasts, used] = [
  budget({
    name: 'runs out',
    forecast: { expected_usd: 130, low_usd: null, high_usd: null },
    reached_on: '2026-11-28',
  }),
  budget({ name: 'lasts', used_usd: 89.5, share: 0.895 }),
  budget({ name: 'used', used_usd: 100, share: 1, reached_on: '2026-11-20' }),
];

test('what runs out comes first, whether it is used or expected; the order is otherwise that of the gateway', () => {
  const other = budget({ name: 'other' });
  expect(prepare(lasts, other, used, runsOut).map(({ name }) => name)).toEqual(['runs out', 'used', 'lasts', 'other']);
});

test('a budget in words: names, two decimals, and the outlook of the finance page', () => {
  expect(prepare(runsOut)).toMatchObject([
    {
      ...{ name: 'runs out', owner: 'Project, this month', spent: '$40.00', limit: '$100.00', share: '40.0 %' },
      ...{ forecast: '$130.00', outlook: 'Expected to run out on Nov 28' },
    },
  ]);
  const [customer] = prepare(
    budget({ scope: 'customer', id: 'acme', name: 'acme', used_usd: 0.004, limit_usd: 1234.5 }),
  );
  expect(customer).toMatchObject({ owner: 'Customer in project p, this month', spent: '$0.00', limit: '$1,234.50' });
  for (const one of [runsOut, lasts, used]) {
    const cap = { ...one, spent_usd: one.used_usd, cap_usd: one.limit_usd };
    expect(prepare(one)[0]?.outlook).toBe(outlookOf(cap, false).text);
  }
});

test('only what passes its limit has a color; no forecast is nothing to be green about', () => {
  const passes = (one: Budget) => prepare(one)[0]?.bullet.passes;
  expect([passes(used), passes(runsOut), passes(lasts)]).toEqual(['spent', 'forecast', null]);
  const [unknown] = prepare(budget({ forecast: null }));
  expect(unknown).toMatchObject({
    forecast: '–',
    outlook: 'No forecast yet',
    bullet: { forecast: null, passes: null },
  });
});

test('a day and a total are not forecast', () => {
  const of = (given: Partial<Budget>) => prepare(budget({ scope: 'key', forecast: null, ...given }))[0];
  expect(of({ period: 'day' })).toMatchObject({ owner: 'Key in project p, today', outlook: 'Within its limit' });
  expect(of({ period: 'total', used_usd: 120, share: 1.2 })).toMatchObject({ outlook: 'Used up', share: '120.0 %' });
});

test('what ends too early is urgent, but for limits of customers', () => {
  const isUrgent = (one: Budget) => prepare(one)[0]?.isUrgent;
  expect([used, runsOut, lasts].map(isUrgent)).toEqual([true, true, false]);
  expect(isUrgent({ ...used, scope: 'customer' })).toBe(false);
  const key = budget({ scope: 'key', period: 'day', used_usd: 120, share: 1.2 });
  expect([isUrgent(key), isUrgent({ ...key, used_usd: 99 })]).toEqual([true, false]);
});

test('a budget that a firing alert tells of has no second banner', () => {
  const alert = { id: 'low', kind: 'budget_share', threshold: 0.8, project_id: null } as const;
  const split = (...alerts: Parameters<typeof urgentCaps>[1]) =>
    [...urgentCaps([used, runsOut, lasts], alerts, (id) => id)].map(([id, caps]) => [id, caps.map(({ name }) => name)]);
  expect(split()).toEqual([[null, ['runs out', 'used']]]);
  // One that lasts is nobody's, and one that runs out is below the threshold of the alert.
  expect(split(alert)).toEqual([
    ['low', ['used']],
    [null, ['runs out']],
  ]);
  expect(split({ ...alert, project_id: 'p' })).toEqual(split(alert));
  expect(split({ ...alert, project_id: 'other' }, { ...alert, kind: 'error_rate' })).toEqual(split());
});
