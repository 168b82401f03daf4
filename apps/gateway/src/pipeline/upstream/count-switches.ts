import { isSameTarget, type Target } from '@llm0/core/routing/target';

/** How often another target was asked than just before. */
export function countSwitches(attempts: readonly Target[]): number {
  return attempts.filter((attempt, index) => !isSameTarget(attempt, attempts[index - 1] ?? attempt)).length;
}
