import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import { checkRules } from '@llm0/core/guardrails/check-policy';
import type { GuardrailRule } from '@llm0/core/guardrails/policy';
import type { AdminServices } from '../admin-services';

export type RuleNeeds = Pick<AdminServices, 'guardrailChecks' | 'checkUrl'>;

/** Throws `invalid_request` for rules that cannot be asked, and for webhooks that lead to where requests may not go. */
export async function refuseRules(
  { guardrailChecks, checkUrl }: RuleNeeds,
  rules: readonly GuardrailRule[],
  field = 'rules',
): Promise<void> {
  checkRules(rules, guardrailChecks, field);
  for (const [index, { name, check }] of rules.entries()) {
    if (check.type !== 'webhook') continue;
    try {
      await checkUrl(check.url);
    } catch (cause) {
      if (!(cause instanceof GatewayError)) throw cause;
      const message = `${field}.${index}: rule "${name}": ${cause.message}`;
      throw invalidRequest(`${field}.${index}.check`, message, cause);
    }
  }
}
