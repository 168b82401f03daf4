import { expect, test } from 'bun:test';
import { checkRules } from './check-policy';
import { checkJsonSchema } from './checks/json-schema';
import type { GuardrailRule } from './policy';

const check = (given: Partial<GuardrailRule>) =>
  checkRules(
    [{ ...{ name: 'rule', on: 'output', check: { type: 'pii' }, action: 'block', onError: 'block' }, ...given }],
    { json_schema: (one) => checkJsonSchema(one) },
  );

test.each<[Partial<GuardrailRule>, string]>([
  [{ check: { type: 'words', words: ['fine', '\u200b'] } }, 'rules.0.check'],
  [{ maxRetries: 2 }, 'rules.0.max_retries'],
  [{ check: { type: 'json_schema', schema: { $schema: 'https://example.com/mine' } } }, 'rules.0.check'],
  [{ action: 'retry', on: 'input' }, 'rules.0.action'],
])('what cannot work is refused when it is saved: %p', (given, param) => {
  expect(() => check(given)).toThrow(expect.objectContaining({ kind: 'invalid_request', param }));
});

test.each<Partial<GuardrailRule>>([
  { check: { type: 'words', words: ['é', '🙂'] } },
  { action: 'retry', maxRetries: 2 },
  { check: { type: 'json_schema', schema: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' } } },
  { check: { type: 'json_schema', schema: { $schema: 'https://json-schema.org/draft/2020-12/schema' } } },
])('what can is taken: %p', (given) => {
  expect(() => check(given)).not.toThrow();
});
