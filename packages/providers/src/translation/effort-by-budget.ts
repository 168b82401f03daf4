import type { JsonObject } from '@llm0/core/chat/json';

/** Upper `thinking` token budgets of the efforts. */
const EFFORT_BY_BUDGET: readonly (readonly [number, string])[] = [
  [2048, 'low'],
  [8192, 'medium'],
  [Number.POSITIVE_INFINITY, 'high'],
];

/** Effort of `{type: enabled, budget_tokens}`; undefined without a budget. */
export function effortOfBudget({ type, budget_tokens: budget }: JsonObject): string | undefined {
  if (type !== 'enabled' || typeof budget !== 'number') return undefined;
  return EFFORT_BY_BUDGET.find(([most]) => budget <= most)?.[1];
}
