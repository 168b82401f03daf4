import { invalidRequest } from '../errors/gateway-error';
import { compileRule, type TextChecks } from './compile-guardrails';
import { foldText } from './folded-text';
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
    if (rule.maxRetries !== undefined && rule.action !== 'retry') {
      const message = `${field}.${index}: max_retries goes with the action "retry".`;
      throw invalidRequest(`${field}.${index}.max_retries`, message);
    }
    try {
      refuseEmptyWords(rule);
      refuseForeignDraft(rule);
      compileRule(rule, checks, false);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : 'it cannot be used';
      throw invalidRequest(`${field}.${index}.check`, `${field}.${index}: rule "${rule.name}": ${reason}`, cause);
    }
  }
}

/** A word of nothing but what nobody sees is found nowhere. */
function refuseEmptyWords({ check }: GuardrailRule): void {
  if (check.type !== 'words') return;
  const at = check.words.findIndex((word) => foldText(word, 'words').text.trim() === '');
  if (at >= 0) throw new Error(`word ${at + 1} has no character that can be found`);
}

const DRAFT = /^https?:\/\/json-schema\.org\/(?:draft-0[4-7]|draft\/20(?:19-09|20-12))\/schema#?$/;

/** A schema of a language that nobody here speaks is read as if it were written in another one. */
function refuseForeignDraft({ check }: GuardrailRule): void {
  if (check.type !== 'json_schema') return;
  const { $schema: draft } = check.schema;
  if (draft === undefined || (typeof draft === 'string' && DRAFT.test(draft))) return;
  throw new Error('"$schema" must be a draft of json-schema.org: nothing is fetched');
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
