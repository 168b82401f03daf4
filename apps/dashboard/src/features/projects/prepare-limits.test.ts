import { expect, test } from 'bun:test';
import { CUSTOMER_FIELDS, customerFields } from '../customers/customer-fields';
import { type FieldSpec, type FormValues, readBack } from '../forms/prepare-form';
import { KEY_FIELDS, PROJECT_FIELDS } from './field-specs';

const said = (specs: readonly FieldSpec[], name: string, values: FormValues) => {
  const spec = specs.find((one) => one.name === name);
  return spec && readBack(spec, values);
};

test("a customer's limit a day says that its limit a month is reached first", () => {
  const saidOf = (day: string, month: string) =>
    said(CUSTOMER_FIELDS, 'daily_spend_limit_usd', { daily_spend_limit_usd: day, monthly_spend_limit_usd: month });
  expect(saidOf('5', '2')).toBe('$5.00 a day. No effect: the limit per month is lower and reached first.');
  expect(saidOf('5', '$ 2')).toContain('No effect');
  for (const month of ['5', '1,000', '', 'two']) expect(saidOf('5', month)).toBe('$5.00 a day');
});

test('limits of projects: a week can touch two months', () => {
  const values = { daily_budget_usd: '9', weekly_budget_usd: '8', monthly_cap_usd: '4' };
  expect(said(PROJECT_FIELDS, 'daily_budget_usd', values)).toContain('the budget per week is lower');
  expect(said(PROJECT_FIELDS, 'daily_budget_usd', { ...values, weekly_budget_usd: '' })).toContain('the monthly cap');
  expect(said(PROJECT_FIELDS, 'weekly_budget_usd', values)).toBe('$8.00 a week');
  expect(said(PROJECT_FIELDS, 'weekly_budget_usd', { ...values, weekly_budget_usd: '8.01' })).toContain('No effect');
});

test('limits of keys: a budget for all time holds for each week too', () => {
  const values = { weekly_budget_usd: '6', budget_usd: '4' };
  const saidOf = (period: string) => said(KEY_FIELDS, 'weekly_budget_usd', { ...values, budget_period: period });
  expect(saidOf('total')).toContain('No effect: the budget is lower');
  expect(saidOf('month')).toBe('$6.00 a week');
});

test('a cheaper model is asked for only where it answers', () => {
  const names = (behavior: string) => customerFields({ on_limit_behavior: behavior }).map(({ name }) => name);
  expect(names('downgrade')).toContain('downgrade_model');
  for (const other of ['block', 'warn']) expect(names(other)).not.toContain('downgrade_model');
});
