import { expect, test } from 'bun:test';
import { checkRules } from './check-policy';
import { checkJsonSchema } from './checks/json-schema';
import { checkUrls } from './checks/url';
import type { GuardrailRule } from './policy';

const check = (given: Partial<GuardrailRule>) =>
  checkRules(
    [{ ...{ name: 'rule', on: 'output', check: { type: 'pii' }, action: 'block', onError: 'block' }, ...given }],
    { json_schema: (one) => checkJsonSchema(one), url: (one) => checkUrls(one) },
  );

test.each<[Partial<GuardrailRule>, string]>([
  [{ check: { type: 'words', words: ['fine', '\u200b'] } }, 'rules.0.check'],
  [{ maxRetries: 2 }, 'rules.0.max_retries'],
  [{ check: { type: 'json_schema', schema: { $schema: 'https://example.com/mine' } } }, 'rules.0.check'],
  [{ action: 'retry', on: 'input' }, 'rules.0.action'],
  [{ action: 'retry', on: 'both' }, 'rules.0.action'],
  ...[
    '$',
    '()',
    '\\b',
    '^',
    '(?i)(?:\\B|^$)',
    'a{0}',
    '(?P<name>)*',
    '\\A',
    '\\z',
    '^$',
    '(?:)',
    '',
    '\\A\\z',
    '(?m)^$',
    '\\Q\\E',
  ].map((pattern): [Partial<GuardrailRule>, string] => [{ check: { type: 'regex', pattern } }, 'rules.0.check']),
  ...['x*\\Aa{0}', 'a\\A|$', '\\za', '$a|^b{0}', '[^\\x00-\\x{10FFFF}]', '(?:\\z\\w)+', '(?i)(?:a^|$b)'].map(
    (pattern): [Partial<GuardrailRule>, string] => [{ check: { type: 'regex', pattern } }, 'rules.0.check'],
  ),
  [{ parts: ['system'] }, 'rules.0.parts'],
  [{ parts: ['user', 'system'] }, 'rules.0.parts'],
  [{ on: 'input', check: { type: 'json_schema', schema: {} } }, 'rules.0.on'],
  [{ on: 'both', check: { type: 'json_schema', schema: {} } }, 'rules.0.on'],
  [{ check: { type: 'url', allow: [] } }, 'rules.0.check'],
  [{ check: { type: 'url', deny: [] } }, 'rules.0.check'],
  [{ check: { type: 'url', allow: ['*'] } }, 'rules.0.check'],
  [{ check: { type: 'url', allow: ['good.com'], deny: ['*'] } }, 'rules.0.check'],
  [{ check: { type: 'pii', kinds: ['card'], countries: ['DE'] } }, 'rules.0.check'],
])('impossible rules are refused on saving: %p', (given, param) => {
  expect(() => check(given)).toThrow(expect.objectContaining({ kind: 'invalid_request', param }));
});

test.each<Partial<GuardrailRule>>([
  { check: { type: 'words', words: ['é', '🙂'] } },
  { action: 'retry', maxRetries: 2 },
  ...['^a', 'x*', '(?i)\\bab\\b', '(?:|a)', '\\pL', '(?P<name>a)$', '\\Aa', 'a\\z', '^a?$', '(?m)a$^', '\\Q$\\E'].map(
    (pattern): Partial<GuardrailRule> => ({ check: { type: 'regex', pattern } }),
  ),
  { parts: ['system', 'assistant'] },
  { parts: ['tool_results'] },
  { on: 'input', parts: ['system'] },
  { check: { type: 'url', allow: ['good.com'], deny: [] } },
  { check: { type: 'url', deny: ['*'] } },
  { check: { type: 'pii', countries: ['DE'] } },
  { check: { type: 'pii', kinds: ['card', 'phone'], countries: ['DE'] } },
  { check: { type: 'json_schema', schema: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' } } },
  { check: { type: 'json_schema', schema: { $schema: 'https://json-schema.org/draft/2020-12/schema' } } },
])('valid values are accepted: %p', (given) => {
  expect(() => check(given)).not.toThrow();
});

test.each<Partial<GuardrailRule>>([{ check: { type: 'regex', pattern: '(' } }, { on: 'input', action: 'retry' }])(
  'what is wrong is said by the rule’s name: %p',
  (given) => {
    const message = expect.stringMatching(/^Rule "bad one": /);
    expect(() => check({ ...given, name: 'bad one' })).toThrow(expect.objectContaining({ message }));
  },
);
