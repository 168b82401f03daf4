import type { JsonObject } from '@llm0/core/chat/json';

/** Token budgets of `thinking` up to which an effort is meant. */
const EFFORT_BY_BUDGET: readonly (readonly [number, string])[] = [
  [2048, 'low'],
  [8192, 'medium'],
  [Number.POSITIVE_INFINITY, 'high'],
];

/** The effort that `{type: enabled, budget_tokens}` asks for; undefined where it names no budget. */
export function effortOfBudget({ type, budget_tokens: budget }: JsonObject): string | undefined {
  if (type !== 'enabled' || typeof budget !== 'number') return undefined;
  return EFFORT_BY_BUDGET.find(([most]) => budget <= most)?.[1];
}
