import type { Rule } from '../../api/guardrails';

/** A rule to start from, which the user edits before saving. */
export interface RuleTemplate {
  /** In the address. */
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly rule: Rule;
}

const BLOCKS = { action: 'block', on_error: 'block' } as const;
const PERSONAL = ['email', 'phone', 'card', 'iban', 'national_id'] as const;

export const RULE_TEMPLATES: readonly RuleTemplate[] = [
  {
    id: 'personal-data',
    title: 'Mask personal data',
    text: 'Replaces e-mail addresses, phone, card and account numbers with [EMAIL] and the like.',
    rule: {
      ...BLOCKS,
      name: 'personal data',
      on: 'both',
      check: { type: 'pii', kinds: [...PERSONAL] },
      action: 'redact',
    },
  },
  {
    id: 'pseudonyms',
    title: 'Use pseudonyms',
    text: 'The provider sees <EMAIL_1> instead of an address. The caller gets the original back.',
    rule: { ...BLOCKS, name: 'pseudonyms', on: 'both', check: { type: 'pii' }, action: 'pseudonymise' },
  },
  {
    id: 'secrets',
    title: 'Block secrets',
    text: 'Refuses API keys, private keys, tokens and passwords, also in base64.',
    rule: { ...BLOCKS, name: 'secrets', on: 'both', check: { type: 'secrets', decode: ['base64'] } },
  },
  {
    id: 'injection',
    title: 'Block injection attempts',
    text: 'Refuses requests that tell the model to ignore its instructions.',
    rule: { ...BLOCKS, name: 'injection', on: 'input', check: { type: 'injection' } },
  },
  {
    id: 'topics',
    title: 'Restrict topics',
    text: 'Refuses requests close in meaning to your examples, here medical and legal advice.',
    rule: {
      ...{ ...BLOCKS, name: 'topics', on: 'input' },
      check: {
        type: 'similar_to',
        examples: [
          'Which dose of this medicine should I take?',
          'Do my symptoms need a doctor?',
          'Can I sue my landlord?',
        ],
        threshold: 0.6,
      },
    },
  },
  {
    id: 'words',
    title: 'Block words',
    text: 'Refuses texts with your words, in any case and disguise: code names, competitors.',
    rule: { ...BLOCKS, name: 'words', on: 'both', check: { type: 'words', words: ['project falcon', 'acme corp'] } },
  },
  {
    id: 'links',
    title: 'Keep known links only',
    text: 'Removes links from answers, except to the hosts that you name.',
    rule: {
      ...{ ...BLOCKS, name: 'links', on: 'output', action: 'redact' },
      check: { type: 'url', allow: ['example.com', '*.example.com'] },
    },
  },
];

const NEW = 'new';
const FROM = `${NEW}:`;

/** Id of an opened new rule in the address, from a template if given. */
export const newRuleId = (template?: Pick<RuleTemplate, 'id'>): string =>
  template === undefined ? NEW : `${FROM}${template.id}`;

/** Template of an opened rule; null without one, undefined for a rule that is no new one. */
export function templateOf(opened: string | undefined): RuleTemplate | null | undefined {
  if (opened === NEW) return null;
  return RULE_TEMPLATES.find((template) => opened === newRuleId(template));
}

/** A template's rule under a name that no other rule has. */
export function ruleFrom({ rule }: RuleTemplate, rules: readonly Pick<Rule, 'name'>[]): Rule {
  const taken = new Set(rules.map(({ name }) => name));
  let name = rule.name;
  for (let count = 2; taken.has(name); count++) name = `${rule.name} ${count}`;
  return { ...rule, name };
}
