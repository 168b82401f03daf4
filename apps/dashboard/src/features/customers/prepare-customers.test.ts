import { describe, expect, test } from 'bun:test';
import type { Customer } from '../../api/projects';
import type { SpendBucket } from '../../api/stats';
import { describeLimits } from './customer-columns';
import { prepareCustomers, readOpened } from './prepare-customers';

const bucket = (group: string, cost_usd: number, requests = 1) => ({ group, cost_usd, requests }) as SpendBucket;
const customer = (customer_id: string, more: Partial<Customer> = {}) =>
  ({ customer_id, project_id: 'p', cost_usd: 0, requests: 0, month_usd: 0, ...more }) as Customer;
const found = { month: [], daysOf: () => null, limited: [], isByDays: true };

describe('customers', () => {
  test('of all projects are one row each, the dearest first; those with limits are there without spend', () => {
    const spend = [bucket('', 50), bucket('globex', 20), bucket('acme', 30, 7)];
    const limited = [customer('idle'), customer('acme', { project_id: 'q' }), customer('acme')];
    const lines = prepareCustomers({ ...found, spend, limited, month: [bucket('acme', 90)] });
    expect(
      lines.map(({ id, costUsd, share, monthUsd, limits }) => [id, costUsd, share, monthUsd, limits.length]),
    ).toEqual([
      ['acme', 30, 0.3, 90, 2],
      ['globex', 20, 0.2, 0, 0],
      ['idle', 0, 0, 0, 1],
    ]);
  });

  test('of a search add their projects up; hours of a day are unknown for those beyond the dearest', () => {
    const matching = [customer('acme', { cost_usd: 2, month_usd: 4 }), customer('acme', { cost_usd: 3, month_usd: 5 })];
    const costs = (isByDays: boolean, spend: readonly SpendBucket[]) =>
      prepareCustomers({ ...found, spend, matching, isByDays }).map(({ costUsd, monthUsd }) => [costUsd, monthUsd]);
    expect(costs(true, [bucket('(other)', 9)])).toEqual([[5, 9]]);
    expect(costs(false, [bucket('(other)', 9)])).toEqual([[null, 9]]);
    expect(costs(false, [bucket('acme', 1)])).toEqual([[1, 9]]);
  });
});

test('a limit shows the spend of its own project', () => {
  const limits = [customer('acme', { daily_spend_limit_usd: null, monthly_spend_limit_usd: 5, month_usd: 1.06 })];
  expect(describeLimits({ limits }, () => 'Shop')).toBe('$1.06 of $5.00 this month in Shop');
  const daily = limits.map((one) => ({ ...one, daily_spend_limit_usd: 0.33, today_usd: 0.0012 }));
  expect(describeLimits({ limits: daily }, () => 'Shop')).toBe(
    '<$0.01 of $0.33 today, $1.06 of $5.00 this month in Shop',
  );
  expect(describeLimits({ limits: [...limits, customer('acme', { project_id: 'q' })] }, String)).toBe('in 2 projects');
});

test('an address names a customer of one project, or of all', () => {
  const projectId = '0f9d2f6e-1111-4222-8333-944455556666';
  expect(readOpened(`${projectId} big corp`)).toEqual({ projectId, customerId: 'big corp' });
  expect(readOpened('big corp')).toEqual({ projectId: undefined, customerId: 'big corp' });
  expect(readOpened(projectId)).toEqual({ projectId: undefined, customerId: projectId });
});
