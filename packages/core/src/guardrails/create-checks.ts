import type { TextCheck } from './check';
import type { CheckNeeds } from './checks/check-needs';
import { checkInjection } from './checks/injection';
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

/** Loaded by the first rule that needs it: its library takes a tenth of a start. */
const loadJsonSchema = () => require('./checks/json-schema') as typeof import('./checks/json-schema');

/** One set for a process, because checks share caches. A webhook's address is verified on saving and on each post. */
export function createTextChecks(needs: CheckNeeds): TextChecks {
  const injection = checkInjection(needs);
  return {
    length: checkLength,
    json_schema: (check) => loadJsonSchema().checkJsonSchema(check),
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
