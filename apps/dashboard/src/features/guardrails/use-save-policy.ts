import { useChange } from '../../api/change';
import { type Policy, type PolicyInput, policyKey, savePolicy } from '../../api/guardrails';
import { newlyHolding } from './rule-parts';

/**
 * Saves part of a policy as its next version; a concurrent save refuses it. `onSaved` runs before the list reloads: a
 * deleted row would unmount its dialog, which then stays open.
 */
export const useSavePolicy = (projectId: string, policy: Policy, onSaved?: () => void) =>
  useChange({
    run: async (changes: Partial<PolicyInput>) => {
      const { mode, rules, pseudonym_scope, version } = policy;
      const saved = await savePolicy(projectId, { mode, rules, pseudonym_scope, version, ...changes });
      onSaved?.();
      return saved;
    },
    affects: [policyKey(projectId)],
    done: ({ version, mode, holds_streams }) => {
      const held = newlyHolding(policy.holds_streams, holds_streams);
      if (mode === 'off') return `Saved as version ${version}. The mode is off: nothing is checked yet.`;
      return `Saved as version ${version}. It applies from the next request.${held === undefined ? '' : ` ${held}`}`;
    },
  });
