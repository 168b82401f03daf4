import type { TextCheck } from './check';
import type { CheckNeeds } from './checks/check-needs';
import { checkInjection } from './checks/injection';
import { checkJsonSchema } from './checks/json-schema';
import { checkLength } from './checks/length';
import { checkModeration } from './checks/moderation';
import { checkSimilarity } from './checks/similar-to';
import { checkUrls } from './checks/url';
import { checkWithWebhook } from './checks/webhook';
import type { GuardrailCheck } from './policy';

/** Checks that judge whole texts; the others are detectors. */
export type TextCheckType = Exclude<GuardrailCheck['type'], 'pii' | 'secrets' | 'regex' | 'words'>;

/** Factories of checks by type. Each throws for an invalid configuration, in words for the operator. */
export type TextChecks = {
  readonly [Type in TextCheckType]: (check: Extract<GuardrailCheck, { readonly type: Type }>) => TextCheck;
};

/** One set for a process, because checks share caches. A webhook's address is verified on saving and on each post. */
export function createTextChecks(needs: CheckNeeds): TextChecks {
  const injection = checkInjection(needs);
  return {
    length: checkLength,
    json_schema: (check) => checkJsonSchema(check),
    url: checkUrls,
    injection: () => {
      injection.prepare();
      return injection;
    },
    similar_to: (check) => checkSimilarity(check, needs),
    moderation: (check) => checkModeration(check, needs),
    webhook: (check) => checkWithWebhook(check, needs),
  };
}
