import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../chat/json';
import { GuardrailCompiler } from '../compile-guardrails';
import type { GuardrailRule } from '../policy';
import { RequestGuard } from '../request-guard';
import { guardNativeEvents } from './guard-native-events';

const rule = (check: GuardrailRule['check']): GuardrailRule => ({
  ...{ name: check.type, on: 'output', check, action: 'redact', onError: 'block' },
});

function guardOf(): RequestGuard {
  const guardrails = new GuardrailCompiler({}).compile({
    policy: {
      ...{ mode: 'enforce', pseudonymScope: 'request', version: 1 },
      rules: [rule({ type: 'pii' }), rule({ type: 'secrets' })],
    },
    ...{ keyRules: null, pseudonymSecret: 'secret' },
  });
  if (guardrails === undefined) throw new Error('nothing is asked');
  return new RequestGuard(guardrails, {
    ...{ projectId: 'p', keyId: 'k', requestId: 'r', customerId: undefined },
    monotonicMs: () => performance.now(),
  });
}

const SECRET = 'ann@example.com';
/** Where a text may stand in the events of a vendor, one piece in each. */
const PLACES: Readonly<Record<string, (piece: string, index: number) => JsonObject>> = {
  'one block': (text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  'neighbouring blocks': (text, index) => ({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } }),
  'blocks that begin with it': (text, index) => ({
    ...{ type: 'content_block_start', index, content_block: { type: 'text', text } },
  }),
  'tool arguments': (text, index) => ({
    ...{
      type: 'content_block_delta',
      index: 1,
      delta: { type: 'input_json_delta', partial_json: index ? text : `"${text}` },
    },
  }),
  ids: (text) => ({ id: text, choices: [{ index: 0, delta: {} }] }),
  'ids of items': (text, index) => ({ type: 'response.output_item.added', output_index: index, item: { id: text } }),
  models: (text) => ({ model: text, choices: [] }),
  'reasons to end': (text) => ({ choices: [{ index: 0, delta: {}, finish_reason: text }] }),
  'texts on both sides of an end': (text, index) => ({
    choices: [{ index: 0, delta: { content: text }, finish_reason: index === 1 ? 'stop' : null }],
  }),
  'code that is run': (code) => ({
    candidates: [{ content: { parts: [{ executableCode: { language: 'PYTHON', code } }] } }],
  }),
  'what code gives': (output) => ({
    candidates: [{ content: { parts: [{ codeExecutionResult: { outcome: 'OUTCOME_OK', output } }] } }],
  }),
  'parts of one event after the other': (text) => ({ candidates: [{ content: { parts: [{ text }] }, index: 0 }] }),
  'signatures that are none': (signature) => ({
    ...{ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature } },
  }),
  'fields that nobody knows': (text) => ({ choices: [{ index: 0, delta: { vendor: { says: text } } }] }),
};

const stringsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
};

describe('a native stream', () => {
  test.each(Object.entries(PLACES))('nothing comes out in pieces: %s', async (_, event) => {
    for (const size of [1, 4, 7]) {
      const pieces = SECRET.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
      const events = pieces.map(event);
      expect(await guardNativeEvents(guardOf(), events)).toBe(true);
      const said = events.flatMap(stringsIn).filter((text) => !/_|response|PYTHON|stop/.test(text));
      expect([size, said.join('').includes('ann@'), said.join('')]).toMatchObject([
        size,
        false,
        expect.stringContaining('[EMAIL]'),
      ]);
    }
  });

  test.each([
    ...[
      ['version 1.', '2.3.4.5 ok'],
      ['build 10.15.7.1', '.2 x'],
      ['OID 1.3.6.1', '.4.1.311'],
    ],
    ['version ', '1.2.3.4 and on'],
  ])('a cut text is judged as the whole text: %p, %p', async (...pieces) => {
    const { 'one block': one, 'neighbouring blocks': blocks, 'parts of one event after the other': parts } = PLACES;
    const shapes = [one, blocks, parts, (content: string) => ({ choices: [{ index: 0, delta: { content } }] })];
    const responses = (delta: string) => ({ type: 'response.output_text.delta', output_index: 0, delta });
    for (const event of [...shapes, responses]) {
      const events = pieces.map((piece, index) => event?.(piece, index) ?? piece);
      const before = JSON.stringify(events);
      expect([JSON.stringify(events), await guardNativeEvents(guardOf(), events)]).toEqual([before, false]);
      expect(JSON.stringify(events)).toBe(before);
    }
  });

  test('a piece that was judged says nothing of the same words elsewhere', async () => {
    const part = (text: string) => ({ candidates: [{ content: { parts: [{ text }] }, index: 0 }] });
    const events = [part('version 1.'), part('2.3.4.5'), { said: '2.3.4.5' }];
    expect(await guardNativeEvents(guardOf(), events)).toBe(true);
    expect(events).toEqual([part('version 1.'), part('2.3.4.5'), { said: '[IP]' }]);
  });

  test('ids, random padding and encrypted blocks stay', async () => {
    const sealed = Buffer.from(Array.from({ length: 200 }, (_, index) => (index * 7919) % 256)).toString('base64');
    const events = Array.from({ length: 40 }, (_, index) => ({
      ...{
        type: 'response.output_text.delta',
        item_id: 'msg_68af41c2d09c8190b3f0',
        output_index: 0,
        delta: `word ${index} `,
      },
      obfuscation: Buffer.from(`${Math.sin(index)}`)
        .toString('base64')
        .slice(3, 15),
      ...{ id: `chatcmpl-${index}Ab9`, signature: sealed.slice(index * 6, index * 6 + 6) },
    }));
    const before = JSON.stringify(events);
    expect(await guardNativeEvents(guardOf(), events)).toBe(false);
    expect(JSON.stringify(events)).toBe(before);
  });
});
