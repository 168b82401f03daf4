import { describe, expect, test } from 'bun:test';
import type { ChatEvent } from '../../chat/event';
import type { JsonObject, JsonValue } from '../../chat/json';
import { GuardrailCompiler } from '../compile-guardrails';
import type { GuardrailPolicy, GuardrailRule } from '../policy';
import { RequestGuard } from '../request-guard';
import { AnswerGuard } from './answer-guard';

const EMAIL = 'ann@example.com';

function guardOf(rules: readonly Partial<GuardrailRule>[], mode: GuardrailPolicy['mode'] = 'enforce'): RequestGuard {
  const whole = rules.map((given) => ({
    ...({ name: 'rule', on: 'both', check: { type: 'pii' }, action: 'redact', onError: 'block' } as const),
    ...given,
  }));
  const policy: GuardrailPolicy = { mode, pseudonymScope: 'request', version: 1, rules: whole };
  const guardrails = new GuardrailCompiler({}).compile({ policy, keyRules: null, pseudonymSecret: 'secret' });
  if (guardrails === undefined) throw new Error('nothing is asked');
  return new RequestGuard(guardrails, {
    ...{ projectId: 'p', keyId: 'k', requestId: 'r', customerId: undefined },
    monotonicMs: () => performance.now(),
  });
}

async function judge(guard: RequestGuard, batches: readonly (readonly ChatEvent[])[]): Promise<ChatEvent[]> {
  const judging = new AnswerGuard(guard);
  const out: ChatEvent[] = [];
  for (const batch of batches) out.push(...(await judging.push(batch)));
  return [...out, ...(await judging.end())];
}

/** All texts under a name, one behind the other. */
function textsAt(value: JsonValue | undefined, name: string, found: string[] = []): string[] {
  if (Array.isArray(value)) for (const one of value) textsAt(one, name, found);
  else if (value !== null && typeof value === 'object') {
    for (const [key, one] of Object.entries(value)) {
      if (key === name && typeof one === 'string') found.push(one);
      else textsAt(one, name, found);
    }
  }
  return found;
}

const SAID = `Hi! Ask ${EMAIL}, or not.`;
const FINISH: ChatEvent = { type: 'finish', choice: 0, reason: 'stop' };
type Fields = readonly [name: string, eventsOf: (piece: string) => readonly ChatEvent[]];
const detailOf = (detail: JsonObject): ChatEvent => ({ type: 'reasoning-detail', choice: 0, detail });
const fieldOf = (value: JsonValue): ChatEvent => ({ type: 'extra', scope: 'message', choice: 0, name: 'foo', value });

const FIELDS: readonly Fields[] = [
  ['text', (text) => [detailOf({ type: 'reasoning.text', text, format: 'unknown', index: 0 })]],
  ['text', (text) => [detailOf({ type: 'reasoning.text', text })]],
  ['summary', (summary) => [detailOf({ type: 'reasoning.summary', summary, index: 1, id: null })]],
  [
    'text',
    (text) => [{ type: 'reasoning', choice: 0, text: 'x' }, detailOf({ type: 'reasoning.text', text, index: 0 })],
  ],
  ['value', (text) => [fieldOf(text)]],
  ['bar', (text) => [{ type: 'text', choice: 0, text: 'x' }, fieldOf({ type: 'note', bar: text })]],
  ['bar', (text) => [fieldOf([{ index: 0, bar: text }])]],
];

describe('fields that come in pieces beside the text', () => {
  test.each(FIELDS)('%s: %p', async (name, eventsOf) => {
    for (const size of [1, 2, 7, 100]) {
      const pieces = SAID.match(new RegExp(`.{1,${size}}`, 'gs')) ?? [];
      const batches = [...pieces.map(eventsOf), [FINISH]];
      const read = (events: readonly ChatEvent[]) =>
        textsAt(events.filter(({ type }) => type === 'extra' || type === 'reasoning-detail') as JsonValue, name).join(
          '',
        );
      expect(read(await judge(guardOf([{}]), batches))).toBe('Hi! Ask [EMAIL], or not.');
      await expect(judge(guardOf([{ action: 'block' }]), batches)).rejects.toMatchObject({ kind: 'guardrail_blocked' });
    }
  });

  test('a block with its signature stays whole, also where its end could go on', async () => {
    const whole = detailOf({ type: 'reasoning.text', text: 'I think of ann', signature: 'abc', format: 'x' });
    expect(await judge(guardOf([{}]), [[whole], [FINISH]])).toEqual([whole, FINISH]);
  });

  test('shadow findings count once', async () => {
    const guard = guardOf([{ action: 'flag' }]);
    await judge(guard, [[fieldOf({ bar: SAID }), detailOf({ type: 'reasoning.text', text: SAID })], [FINISH]]);
    expect(guard.list()).toMatchObject([{ count: 2 }]);
  });
});

describe('findings in several places of an answer', () => {
  test('a text that goes on behind its end waits for it', async () => {
    const batches = [
      [{ type: 'text', choice: 0, text: 'Ask ann@exam' }, FINISH, { type: 'usage', usage: {} }],
      [{ type: 'text', choice: 0, text: 'ple.com now' }, FINISH],
    ] as const;
    const events = await judge(guardOf([{}]), batches as unknown as ChatEvent[][]);
    expect(textsAt(events as JsonValue, 'text').join('')).toBe('Ask [EMAIL] now');
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['finish', 'usage']);
  });

  test('names, models, reasons and signatures are read', async () => {
    const events = await judge(guardOf([{}]), [
      [
        { type: 'start', id: EMAIL, model: EMAIL },
        { type: 'tool-call', choice: 0, toolIndex: 0, id: 'a', name: 'b', signature: EMAIL },
        { ...FINISH, nativeReason: EMAIL },
      ],
    ]);
    expect(JSON.stringify(events)).not.toContain('ann@');
    expect(JSON.stringify(events).match(/\[EMAIL\]/g)).toHaveLength(4);
  });
});

describe('rules that only watch', () => {
  const token = `sk-proj-${'aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z'.repeat(2)}`;

  test.each<[readonly Partial<GuardrailRule>[], GuardrailPolicy['mode']]>([
    [[{ check: { type: 'secrets' }, action: 'flag' }], 'enforce'],
    [[{ check: { type: 'secrets' }, action: 'block' }], 'shadow'],
  ])('hold no piece: %p, %p', async (rules, mode) => {
    const guard = guardOf(rules, mode);
    const judging = new AnswerGuard(guard);
    const passed: string[] = [];
    for (const text of token) {
      const events = await judging.push([{ type: 'text', choice: 0, text }]);
      passed.push(events.map((event) => ('text' in event ? event.text : '')).join(''));
    }
    expect(passed.join('')).toBe(token);
    await judging.push([FINISH]);
    await judging.end();
    expect(guard.list()).toMatchObject([{ count: 1, check: 'secrets' }]);
  });
});
