import { invalidRequest } from '../errors/gateway-error';
import { EVERY_HOST } from './checks/url';
import { compileRule, type TextChecks } from './compile-guardrails';
import { compilePattern } from './detectors/pattern';
import { matchesNoText } from './detectors/pattern-length';
import { foldText } from './folded-text';
import type { GuardrailPart, GuardrailRule } from './policy';

/** Parts that answers do not have. */
const ASKING: ReadonlySet<GuardrailPart> = new Set(['system', 'user']);

/** Fields that do not go together: the rule would never find anything, or refuse everything. */
const MISFITS: readonly {
  readonly name: string;
  readonly reason: string;
  isWrong(rule: GuardrailRule): boolean;
}[] = [
  {
    ...{ name: 'action', reason: 'only answers can be asked for again; a rule that retries is for output.' },
    isWrong: ({ action, on }) => action === 'retry' && on !== 'output',
  },
  {
    ...{ name: 'max_retries', reason: 'max_retries goes with the action "retry".' },
    isWrong: ({ action, maxRetries }) => maxRetries !== undefined && action !== 'retry',
  },
  {
    ...{ name: 'parts', reason: 'an answer has no part "system" or "user"; set on to "input" or "both".' },
    isWrong: ({ on, parts }) => on === 'output' && parts?.every((part) => ASKING.has(part)) === true,
  },
  {
    ...{ name: 'on', reason: 'json_schema describes answers; set on to "output".' },
    isWrong: ({ on, check }) => check.type === 'json_schema' && on !== 'output',
  },
];

/**
 * Throws `invalid_request` with the rule and its problem: duplicate name, conflicting fields, invalid RE2 expression or
 * schema, forbidden URL. `field`: request field of the rules.
 */
export function checkRules(rules: readonly GuardrailRule[], checks: TextChecks, field = 'rules'): void {
  const names = new Set<string>();
  for (const [index, rule] of rules.entries()) {
    if (names.has(rule.name)) throw invalidRequest(`${field}.${index}.name`, `Two rules are called "${rule.name}".`);
    names.add(rule.name);
    for (const { name, isWrong, reason } of MISFITS) {
      if (isWrong(rule)) throw invalidRequest(`${field}.${index}.${name}`, `Rule "${rule.name}": ${reason}`);
    }
    try {
      refuseEmptyLists(rule);
      refuseEmptyMatches(rule);
      refuseEmptyWords(rule);
      refuseForeignDraft(rule);
      compileRule(rule, checks, false);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : 'it cannot be used';
      throw invalidRequest(`${field}.${index}.check`, `Rule "${rule.name}": ${reason}`, cause);
    }
  }
}

/** A word of invisible characters never matches. */
function refuseEmptyWords({ check }: GuardrailRule): void {
  if (check.type !== 'words') return;
  const at = check.words.findIndex((word) => foldText(word, 'words').text.trim() === '');
  if (at >= 0) throw new Error(`word ${at + 1} has no character that can be found`);
}

function refuseEmptyLists({ check }: GuardrailRule): void {
  if (check.type === 'pii' && check.countries !== undefined && check.kinds?.includes('phone') === false)
    throw new Error('"countries" are those of phone numbers, and "kinds" leaves out "phone"');
  if (check.type !== 'url') return;
  const { allow, deny = [] } = check;
  if (allow?.length === 0) throw new Error('"allow" is empty: name a host, or refuse every host with "deny": ["*"]');
  if (allow !== undefined && deny.includes(EVERY_HOST))
    throw new Error('"deny" names every host ("*"), those in "allow" too: leave one of the two out');
  if (allow === undefined && deny.length === 0) throw new Error('"allow" or "deny" needs at least one host');
}

function refuseEmptyMatches({ check }: GuardrailRule): void {
  if (check.type !== 'regex' || !matchesNoText(compilePattern(check.pattern))) return;
  throw new Error('the pattern matches places only, never any text');
}

const DRAFT = /^https?:\/\/json-schema\.org\/(?:draft-0[4-7]|draft\/20(?:19-09|20-12))\/schema#?$/;

/** A schema of an unknown draft would be read by the wrong rules. */
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
