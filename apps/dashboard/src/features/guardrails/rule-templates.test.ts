import { describe, expect, test } from 'bun:test';
import { ruleSchema } from '@llm0/gateway/admin/guardrails/schema';
import type { Policy } from '../../api/guardrails';
import { fillForm, readForm } from '../forms/prepare-form';
import { prepareRules } from './prepare-guardrails';
import { ruleBody, ruleFields, ruleValues } from './rule-fields';
import { newRuleId, RULE_TEMPLATES, ruleFrom, templateOf } from './rule-templates';

describe('templates of rules', () => {
  test.each(RULE_TEMPLATES)('$title fills the form, and the form gives it back as the API takes it', ({ rule }) => {
    const specs = ruleFields({ type: rule.check.type, action: rule.action });
    const body = ruleBody(readForm(specs, fillForm(specs, ruleValues(rule))));
    expect(body).toEqual(rule);
    expect(ruleSchema.parse(body)).toMatchObject({ name: rule.name, check: rule.check });
  });

  test('each has an address and a name of its own', () => {
    expect(new Set(RULE_TEMPLATES.map(({ id }) => id)).size).toBe(RULE_TEMPLATES.length);
    const rules = RULE_TEMPLATES.map(({ rule }) => rule);
    const policy: Policy = { mode: 'shadow', rules, pseudonym_scope: 'request', version: 1, holds_streams: [] };
    expect(new Set(prepareRules(policy, []).map(({ id }) => id)).size).toBe(rules.length);
    for (const template of RULE_TEMPLATES) expect(templateOf(newRuleId(template))).toBe(template);
    expect([templateOf('new'), templateOf('new:nothing'), templateOf('secrets'), templateOf(undefined)]).toEqual([
      ...[null, undefined, undefined, undefined],
    ]);
    expect(newRuleId()).toBe('new');
  });

  test('a name that is taken gets a number', () => {
    const [template] = RULE_TEMPLATES.filter(({ id }) => id === 'secrets');
    const named = (...names: string[]) =>
      template &&
      ruleFrom(
        template,
        names.map((name) => ({ name })),
      ).name;
    expect([named(), named('secrets'), named('secrets', 'secrets 2', 'other')]).toEqual([
      ...['secrets', 'secrets 2', 'secrets 3'],
    ]);
  });
});
