import { useChange } from '../../api/change';
import { type Policy, type PolicyInput, policyKey, savePolicy } from '../../api/guardrails';

/**
 * Saves a part of a policy as its next version; refused where somebody else saved meanwhile. `onSaved` comes before the list is
 * read again: what was deleted would take its dialog along, and nobody would close it.
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
    done: ({ version }) => `Saved as version ${version}. It applies from the next request.`,
  });
