import { isSameTarget, type Target } from '@llm0/core/routing/target';

/** Number of switches to another target. */
export function countSwitches(attempts: readonly Target[]): number {
  if (attempts.length < 2) return 0;
  return attempts.filter((attempt, index) => !isSameTarget(attempt, attempts[index - 1] ?? attempt)).length;
}
