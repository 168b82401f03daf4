import { expect, test } from 'bun:test';
import { describeBudgets, LIMIT_FIELDS } from './level-fields';

test('budgets are said with their periods, and can be set beside the limits of a minute', () => {
  const none = { daily_budget_usd: null, weekly_budget_usd: null, monthly_cap_usd: null };
  expect(describeBudgets(none)).toBeNull();
  expect(describeBudgets({ ...none, daily_budget_usd: 2.5, monthly_cap_usd: 20 })).toBe('$2.50 a day, $20.00 a month');
  expect(LIMIT_FIELDS.map(({ name }) => name).sort()).toEqual(
    ['allowed_models', 'rate_limit_per_minute', 'tokens_per_minute', ...Object.keys(none)].sort(),
  );
});
