import { expect, test } from 'bun:test';
import type { Budget } from '@llm0/drizzle/queries/limits/budgets';
import { budgetLevels } from './budget-levels';

const budgetsOf = (count: number): readonly Budget[] =>
  Array.from({ length: count }, (_, n) => ({
    ...{ scope: 'project', projectId: `p${n}`, id: `i${n}`, name: `name-${n}`, period: 'day' },
    ...{ usedNanoUsd: 60, limitNanoUsd: 100 },
  })) as unknown as readonly Budget[];
const passed = (count: number) => budgetLevels(budgetsOf(count), { threshold: 0.5, nowMs: 0, told: new Set() });

test('a few budgets are in the text; many are all in the list beside it', () => {
  expect(passed(3)?.text).toMatch(/name-0.*name-1.*name-2/);
  expect(passed(3)?.details).toBeUndefined();
  const many = passed(53);
  expect(many?.text).toEndWith(' and 50 more budgets');
  expect(many?.details).toHaveLength(53);
  for (let n = 0; n < 53; n++) expect(many?.details?.[n]).toContain(`project name-${n} is used, past 50 %`);
});

test('the list has an end', () => {
  expect(passed(1000)?.details).toHaveLength(201);
  expect(passed(1000)?.details?.at(-1)).toBe('800 more budgets');
});
