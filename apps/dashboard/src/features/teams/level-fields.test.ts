import { expect, test } from 'bun:test';
import { FieldError, fillForm, readForm } from '../forms/prepare-form';
import { describeLimits, LIMIT_FIELDS } from './level-fields';

const OTHERS = [
  'allowed_models',
  'allowed_providers',
  'passthrough',
  'allowed_tools',
  'guardrail_rules',
  'rate_limit_per_minute',
  'tokens_per_minute',
];

test('budgets are said with their periods, and can be set beside other limits', () => {
  const none = { daily_budget_usd: null, weekly_budget_usd: null, monthly_cap_usd: null };
  const free = { ...none, rate_limit_per_minute: null, tokens_per_minute: null };
  expect(describeLimits(free)).toBeNull();
  expect(describeLimits({ ...free, daily_budget_usd: 2.5, monthly_cap_usd: 20, tokens_per_minute: 1000 })).toBe(
    '$2.50 a day, $20.00 a month, 1,000 tokens a minute',
  );
  expect(LIMIT_FIELDS.map(({ name }) => name).sort()).toEqual([...Object.keys(none), ...OTHERS].sort());
});

test('guardrails are written as the API has them', () => {
  const specs = LIMIT_FIELDS.filter(({ name }) => name === 'guardrail_rules');
  const rules = [{ name: 'keys', on: 'input', check: { type: 'secrets' }, action: 'block' }];
  const filled = fillForm(specs, { guardrail_rules: rules });
  expect(readForm(specs, filled)).toEqual({ guardrail_rules: rules });
  expect(readForm(specs, { guardrail_rules: '' })).toEqual({ guardrail_rules: null });
  expect(() => readForm(specs, { guardrail_rules: '[' })).toThrow(FieldError);
});
