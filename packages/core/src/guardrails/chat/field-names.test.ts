// Names that vendors give to fields: a stream goes by the rule of a whole answer.
import { describe, expect, test } from 'bun:test';
import type { ChatEvent } from '../../chat/event';
import type { JsonObject, JsonValue } from '../../chat/json';
import { GuardrailCompiler } from '../compile-guardrails';
import type { GuardrailRule } from '../policy';
import { RequestGuard } from '../request-guard';
import { AnswerGuard } from './answer-guard';

const EMAIL = 'bob.smith@corp-example.com';
const KEY = 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';

function guardOf(action: GuardrailRule['action']): RequestGuard {
  const rules: GuardrailRule[] = (['pii', 'secrets'] as const).map((type) => ({
    ...{ name: type, on: 'both', check: { type }, action, onError: 'block' },
  }));
  const policy = { mode: 'enforce', pseudonymScope: 'request', version: 1, rules } as const;
  const guardrails = new GuardrailCompiler({}).compile({ policy, keyRules: null, pseudonymSecret: 'secret' });
  if (guardrails === undefined) throw new Error('nothing is asked');
  return new RequestGuard(guardrails, {
    ...{ projectId: 'p', keyId: 'k', requestId: 'r', customerId: undefined, monotonicMs: () => 0 },
  });
}

async function judge(guard: RequestGuard, event: ChatEvent): Promise<string> {
  const judging = new AnswerGuard(guard);
  const passed = await judging.push([event]);
  return JSON.stringify([...passed, ...(await judging.end())]);
}

type Place = (name: string) => ChatEvent;
const extra = (scope: 'answer' | 'choice' | 'message', name: string, value: JsonValue): ChatEvent => ({
  ...{ type: 'extra', scope, name, value, ...(scope === 'answer' ? {} : { choice: 0 }) },
});
const detailOf = (detail: JsonObject): ChatEvent => ({ type: 'reasoning-detail', choice: 0, detail });
const PLACES: Readonly<Record<string, Place>> = {
  'of an answer': (name) => extra('answer', name, 'x'),
  'of a choice': (name) => extra('choice', name, 'x'),
  'of a message': (name) => extra('message', name, 'x'),
  'of a message, as an object': (name) => extra('message', name, { a: 'x' }),
  'in a field of a message': (name) => extra('message', 'zz', { [name]: 'v' }),
  'in a field of a message that is looked at longer': (name) => extra('message', 'zz', { [name]: 'ghp_' }),
  'deep in a field': (name) => extra('message', 'groundingMetadata', { deep: [{ [name]: 'v' }] }),
  'in a list of a field': (name) => extra('message', 'zz', [{ index: 0, [name]: 'ghp_' }]),
  'in a thought': (name) => detailOf({ type: 'reasoning.text', index: 0, [name]: 'ghp_' }),
  'beside arguments': (name) => extra('message', 'function_call', { [name]: 'v', arguments: '{}' }),
  'as what a piece says of itself': (id) => extra('message', 'zz', { id, a: 'ghp_' }),
};

describe.each(Object.entries(PLACES))('a name %s', (_place, event) => {
  test.each([EMAIL, KEY])('%s', async (name) => {
    for (const action of ['redact', 'pseudonymise'] as const) {
      const guard = guardOf(action);
      expect([action, await judge(guard, event(name))]).not.toEqual([action, expect.stringContaining(name)]);
      expect(guard.list()?.map(({ count }) => count)).toEqual([1]);
    }
    await expect(judge(guardOf('block'), event(name))).rejects.toMatchObject({ kind: 'guardrail_blocked' });
    const flagged = guardOf('flag');
    expect(await judge(flagged, event(name))).toContain(name);
    expect(flagged.list()?.map(({ count }) => count)).toEqual([1]);
  });
});

test('two names in one field are two finds', async () => {
  const guard = guardOf('redact');
  const said = await judge(guard, extra('message', 'zz', { [EMAIL]: 'v', [KEY]: 'w' }));
  expect([said.includes(EMAIL), said.includes(KEY)]).toEqual([false, false]);
  expect(guard.list()?.map(({ count }) => count)).toEqual([1, 1]);
});
