import { expect, test } from 'bun:test';
import type { JsonObject } from '../../chat/json';
import { GuardrailCompiler } from '../compile-guardrails';
import { RequestGuard } from '../request-guard';
import { guardNativeEvents } from './guard-native';

test('the text that a block begins with is one with its deltas', async () => {
  const rule = { name: 'mail', on: 'output', check: { type: 'pii' }, action: 'redact', onError: 'block' } as const;
  const guardrails = new GuardrailCompiler({}).compile({
    policy: { mode: 'enforce', pseudonymScope: 'request', version: 1, rules: [rule] },
    ...{ keyRules: null, pseudonymSecret: 'secret' },
  });
  if (guardrails === undefined) throw new Error('nothing is asked');
  const guard = new RequestGuard(guardrails, {
    ...{ projectId: 'p', keyId: 'k', requestId: 'r', customerId: undefined },
    monotonicMs: () => performance.now(),
  });
  const events: JsonObject[] = [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Ask ann@exam' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ple.com now' } },
  ];
  expect(await guardNativeEvents(guard, events)).toBe(true);
  expect(events).toMatchObject([{ content_block: { text: 'Ask [EMAIL] now' } }, { delta: { text: '' } }]);
});
