import { expect, test } from 'bun:test';
import type { JsonObject } from '../../chat/json';
import { GuardrailCompiler } from '../compile-guardrails';
import type { GuardrailPolicy } from '../policy';
import { RequestGuard } from '../request-guard';
import { guardNativeAnswer } from './guard-native';
import { guardNativeEvents } from './guard-native-events';
import { guardBlocks, withoutTokens } from './guard-response';
import { GuardedTexts } from './guard-texts';

function guardOf(mode: GuardrailPolicy['mode'] = 'enforce'): RequestGuard {
  const rule = { name: 'mail', on: 'output', check: { type: 'pii' }, action: 'redact', onError: 'block' } as const;
  const policy: GuardrailPolicy = { mode, pseudonymScope: 'request', version: 1, rules: [rule] };
  const guardrails = new GuardrailCompiler({}).compile({ policy, keyRules: null, pseudonymSecret: 'secret' });
  if (guardrails === undefined) throw new Error('nothing is asked');
  return new RequestGuard(guardrails, {
    ...{ projectId: 'p', keyId: 'k', requestId: 'r', customerId: undefined },
    monotonicMs: () => performance.now(),
  });
}

const tokens = [...'ann@example.com'].map((token) => ({ token, logprob: -1 }));
const ANSWERS: readonly JsonObject[] = [
  { choices: [{ index: 0, message: { content: 'Hi' }, logprobs: { content: tokens } }] },
  { output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hi', logprobs: tokens }] }] },
  { candidates: [{ content: { parts: [{ text: 'Hi' }] }, logprobsResult: { chosenCandidates: tokens } }] },
];

test.each(ANSWERS)('lists of tokens say nothing again: %p', async (answer) => {
  const told = JSON.stringify(await guardNativeAnswer(guardOf(), answer));
  expect([told.includes('Hi'), told.includes('"token"')]).toEqual([true, false]);
  const events = [answer];
  expect(await guardNativeEvents(guardOf(), events)).toBe(true);
  expect(JSON.stringify(events)).not.toContain('"token"');
  const raw = { format: 'openai-responses', value: answer } as const;
  const guard = guardOf();
  expect(JSON.stringify(await guardBlocks(guard, new GuardedTexts(guard, 'output'), raw))).not.toContain('"token"');
  expect(await guardNativeAnswer(guardOf('shadow'), answer)).toBe(answer);
});

test('an answer without them is the very same', () => {
  const answer: JsonObject = { output: [{ content: [{ text: 'Hi', logprobs: [] }] }], logprobs: null };
  expect(withoutTokens(answer)).toBe(answer);
});
