import type { Outcome } from '@llm0/core/errors/outcome';

/** Names of outcomes on all pages: legends, filters, lists and details. */
export const OUTCOME_LABELS = {
  success: 'Success',
  rate_limited: 'Rate limited',
  cap_exceeded: 'Cap exceeded',
  aborted: 'Aborted',
  caller_error: 'Caller error',
  error: 'Failed',
} as const satisfies Record<Outcome, string>;

/** Label of a value that may be no outcome. */
export const outcomeLabel = (value: string): string =>
  (OUTCOME_LABELS as Readonly<Record<string, string>>)[value] ?? value.replaceAll('_', ' ');
