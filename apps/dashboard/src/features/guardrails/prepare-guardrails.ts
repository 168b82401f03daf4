import type { GuardrailBucket, Policy, Rule, Tried } from '../../api/guardrails';
import type { Tone } from '../../ui/badge';

export const MODES = { off: 'Off', shadow: 'Shadow', enforce: 'Enforce' } as const;
export const MODE_HINTS: Readonly<Record<Policy['mode'], string>> = {
  off: 'Nothing is checked.',
  shadow: 'Everything is checked and logged, and nothing is changed or refused.',
  enforce: 'Rules act on everything that goes to a vendor and comes back.',
};
export const SIDES = { both: 'requests and answers', input: 'requests', output: 'answers' } as const;
export const PARTS = {
  system: 'system',
  user: 'user',
  assistant: 'assistant',
  tool_arguments: 'tool arguments',
  tool_results: 'tool results',
} as const;
export const KINDS = {
  email: 'e-mail addresses',
  phone: 'phone numbers',
  card: 'card numbers',
  iban: 'IBANs',
  national_id: 'national ids',
  ip: 'IP addresses',
} as const satisfies Record<NonNullable<Extract<Rule['check'], { type: 'pii' }>['kinds']>[number], string>;
export const ACTIONS = {
  block: 'block',
  redact: 'redact',
  pseudonymise: 'pseudonymise',
  flag: 'flag',
  retry: 'ask again',
} as const;
export const CHECKS = {
  pii: 'Personal data',
  secrets: 'Keys and secrets',
  regex: 'Expression (RE2)',
  words: 'Words',
  length: 'Length',
  json_schema: 'JSON schema',
  url: 'Links and hosts',
  injection: 'Prompt injection',
  similar_to: 'Topics by example',
  moderation: 'Moderation model',
  webhook: 'Webhook',
} as const satisfies Record<Rule['check']['type'], string>;

export const ACTION_TONES: Readonly<Record<Rule['action'], Tone>> = {
  block: 'bad',
  redact: 'accent',
  pseudonymise: 'accent',
  flag: 'neutral',
  retry: 'warn',
};

const SHOWN = 60;
const cut = (text: string) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
const some = (values: readonly string[] | undefined, what: string) =>
  values === undefined || values.length === 0 ? '' : `${what} ${cut(values.join(', '))}`;

/** Summary of a check. */
export function describeCheck(check: Rule['check']): string {
  switch (check.type) {
    case 'pii':
      return [
        check.kinds === undefined ? 'all kinds' : check.kinds.join(', ').replaceAll('_', ' '),
        some(check.countries, 'phone numbers of'),
      ]
        .filter((part) => part !== '')
        .join('; ');
    case 'regex':
      return cut(check.pattern);
    case 'words':
      return `${check.words.length} ${check.words.length === 1 ? 'word' : 'words'}`;
    case 'length':
      return `more than ${check.max} characters`;
    case 'url':
      return [some(check.allow, 'only'), some(check.deny, 'never')].filter((part) => part !== '').join('; ');
    case 'similar_to':
      return `${check.examples.length} examples, from ${check.threshold}`;
    case 'moderation':
      return check.model;
    case 'webhook':
      return cut(check.url);
    default:
      return '';
  }
}

export interface RuleLine {
  readonly id: string;
  readonly place: number;
  readonly name: string;
  readonly side: string;
  readonly parts: string;
  readonly check: string;
  readonly detail: string;
  readonly action: Rule['action'];
  /** Streams wait for the end of an answer. */
  readonly isHolding: boolean;
  readonly onError: string;
  readonly requests: number;
  readonly rule: Rule;
}

/** Rules in order, with their findings in the range. */
export function prepareRules(policy: Policy, buckets: readonly GuardrailBucket[]): readonly RuleLine[] {
  const found = new Map(buckets.map(({ group, requests }) => [group ?? '', requests]));
  const holding = new Set(policy.holds_streams);
  return policy.rules.map((rule, index) => ({
    id: rule.name,
    place: index + 1,
    name: rule.name,
    side: SIDES[rule.on],
    parts: rule.parts === undefined ? 'all' : rule.parts.map((part) => PARTS[part]).join(', '),
    check: CHECKS[rule.check.type],
    detail: describeCheck(rule.check),
    action: rule.action,
    isHolding: holding.has(rule.name),
    onError: rule.on_error === 'allow' ? 'lets pass' : 'blocks',
    requests: found.get(rule.name) ?? 0,
    rule,
  }));
}

/** The list with one rule replaced, added (`was` undefined) or, without `rule`, taken out. */
export function withRule(rules: readonly Rule[], was: string | undefined, rule: Rule | undefined): readonly Rule[] {
  if (was === undefined) return rule === undefined ? rules : [...rules, rule];
  return rules.flatMap((one) => (one.name === was ? (rule ?? []) : one));
}

/** The list with one rule a place up (−1) or down (1). */
export function moveRule(rules: readonly Rule[], name: string, by: 1 | -1): readonly Rule[] {
  const from = rules.findIndex((rule) => rule.name === name);
  const [to, moved] = [from + by, rules[from]];
  if (moved === undefined || to < 0 || to >= rules.length) return rules;
  return rules.toSpliced(from, 1).toSpliced(to, 0, moved);
}

export interface TriedLine {
  readonly name: string;
  readonly outcome: string;
  readonly tone: Tone;
  readonly matches: number | null;
}

/** Effect of each rule on a text, in words. */
export function prepareTried({ rules }: Pick<Tried, 'rules'>): readonly TriedLine[] {
  return rules.map(({ name, matches, action, error }) => {
    if (error !== null) {
      const outcome = error === 'timeout' ? 'took too long' : 'could not be checked';
      return { name, outcome, tone: 'warn', matches: null };
    }
    if (matches === 0) return { name, outcome: 'finds nothing', tone: 'good', matches };
    const known = action as Rule['action'];
    return { name, outcome: VERBS[known], tone: ACTION_TONES[known], matches };
  });
}

const VERBS: Readonly<Record<Rule['action'], string>> = {
  block: 'blocks',
  redact: 'redacts',
  pseudonymise: 'pseudonymises',
  flag: 'flags',
  retry: 'asks again',
};

/** Why no stored requests can be checked; null if they can, or if it is not known yet. */
export function replayProblem(rules: number | undefined, isKept: boolean | undefined): string | null {
  if (rules === 0) return 'This project has no rules yet.';
  return isKept === false ? 'The gateway keeps no prompts and answers. Set LOG_BODIES=true to keep them.' : null;
}
