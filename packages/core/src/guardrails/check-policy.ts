import { invalidRequest } from '../errors/gateway-error';
import { compileRule, type TextChecks } from './compile-guardrails';
import type { GuardrailRule } from './policy';

/**
 * Throws `invalid_request` naming the rule and what is wrong with it: a name that is there twice, an expression that RE2 does
 * not take, a schema that is none, an address that may not be called. `field`: what the rules were sent as.
 */
export function checkRules(rules: readonly GuardrailRule[], checks: TextChecks, field = 'rules'): void {
  const names = new Set<string>();
  for (const [index, rule] of rules.entries()) {
    if (names.has(rule.name)) throw invalidRequest(`${field}.${index}.name`, `Two rules are called "${rule.name}".`);
    names.add(rule.name);
    if (rule.action === 'retry' && rule.on === 'input') {
      const message = `${field}.${index}: only answers can be asked for again; a rule that retries is for output.`;
      throw invalidRequest(`${field}.${index}.action`, message);
    }
    try {
      compileRule(rule, checks, false);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : 'it cannot be used';
      throw invalidRequest(`${field}.${index}.check`, `${field}.${index}: rule "${rule.name}": ${reason}`, cause);
    }
  }
}

/** Names of the rules for which streams wait until the answer has ended. */
export function findHolding(rules: readonly GuardrailRule[], checks: TextChecks, isShadow: boolean): readonly string[] {
  return rules.flatMap((rule) => {
    if (rule.on === 'input') return [];
    try {
      return compileRule(rule, checks, isShadow).needsWhole ? [rule.name] : [];
    } catch {
      return [rule.name];
    }
  });
}
