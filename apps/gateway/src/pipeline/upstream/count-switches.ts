import type { Target } from '@llm0/core/routing/target';

/** How often another target was asked than just before. */
export function countSwitches(attempts: readonly Target[]): number {
  let switches = 0;
  for (const [index, { provider, model }] of attempts.entries()) {
    const before = attempts[index - 1];
    if (before !== undefined && (before.provider !== provider || before.model !== model)) switches += 1;
  }
  return switches;
}
