import { describe, expect, test } from 'bun:test';
import type { ChatEvent } from '../../chat/event';
import type { JsonObject } from '../../chat/json';
import type { ChatRequest, ContentPart } from '../../chat/request';
import type { ChatResponse } from '../../chat/response';
import { GuardrailCompiler } from '../compile-guardrails';
import type { GuardrailPolicy, GuardrailRule } from '../policy';
import { RequestGuard } from '../request-guard';
import { AnswerGuard } from './answer-guard';
import { guardNativeAnswer, guardNativeRequest } from './guard-native';
import { guardNativeEvents } from './guard-native-events';
import { guardRequest } from './guard-request';
import { guardResponse } from './guard-response';
import { guardToolResult } from './guard-tool-result';

const EMAIL = 'bob.smith@corp-example.com';
const WHOLE = `mail ${EMAIL} now`;
const CUT = ['mail bob.smith@corp-example.co', 'm now'];
const JWT = [
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9',
  '.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P now',
];
const base64 = (text: string) => Buffer.from(text).toString('base64');
const textsOf = (texts: readonly string[]) => texts.map((text) => ({ type: 'text', text }) as const);

function guardOf(
  type: 'pii' | 'secrets',
  action: GuardrailRule['action'],
  mode: GuardrailPolicy['mode'],
): RequestGuard {
  const rules: GuardrailRule[] = [
    { name: 'rule', on: 'both', check: { type, decode: ['base64'] }, action, onError: 'block' },
  ];
  const policy = { mode, pseudonymScope: 'request', version: 1, rules } as const;
  const guardrails = new GuardrailCompiler({}).compile({ policy, keyRules: null, pseudonymSecret: 'secret' });
  if (guardrails === undefined) throw new Error('nothing is asked');
  return new RequestGuard(guardrails, {
    ...{ projectId: 'p', keyId: 'k', requestId: 'r', customerId: undefined, monotonicMs: () => 0 },
  });
}

const chat = (content: readonly ContentPart[], wire?: ChatRequest['wire']) => (guard: RequestGuard) =>
  guardRequest(guard, {
    ...({ model: 'm', stream: false, extra: {}, messages: [{ role: 'user', content }] } as ChatRequest),
    ...(wire && { wire }),
  });
const native = (body: JsonObject) => (guard: RequestGuard) => guardNativeRequest(guard, body);
const wireOf = (content: JsonObject[]) => ({
  ...{
    format: 'anthropic-messages' as const,
    body: { model: 'm', messages: [{ role: 'user', content }] },
  },
});

const rawOf = (texts: readonly string[]) => ({
  ...{ format: 'anthropic-messages' as const, value: { role: 'assistant', content: [...textsOf(texts)] } },
});
const answerOf = (texts: readonly string[]): ChatResponse => ({
  choices: [{ index: 0, text: texts.join(''), finishReason: 'stop', raw: rawOf(texts) }],
});

const itemsOf = (item: JsonObject): ChatEvent => ({
  ...{ type: 'raw-message', choice: 0, format: 'openai-responses', value: { output: [item] } },
});

async function guardItems(guard: RequestGuard, type: 'text' | 'reasoning', item: JsonObject): Promise<void> {
  const judge = new AnswerGuard(guard);
  for (const text of CUT) await judge.push([{ type, choice: 0, text }]);
  await judge.push([itemsOf(item)]);
  await judge.end();
}

type Way = (guard: RequestGuard) => Promise<unknown>;
/** One find each, in all forms in which it is read. */
const WAYS: Readonly<Record<string, Way>> = {
  'a message': chat(textsOf([WHOLE])),
  'a message with escapes': chat(textsOf([`${WHOLE}\\n`])),
  'a message and the same in its caller’s own body': chat(textsOf([WHOLE]), wireOf([...textsOf([WHOLE])])),
  'a message in two parts': chat(textsOf(CUT)),
  'the same and its caller’s own body': chat(textsOf(CUT), wireOf([...textsOf(CUT)])),
  'a token in two parts': chat(textsOf(JWT), wireOf([...textsOf(JWT)])),
  'base64 in a message': chat(textsOf([`see ${base64(WHOLE)}`])),
  'a short file': chat([{ type: 'file', dataUrl: `data:text/plain;base64,${base64(WHOLE)}` }] as ContentPart[]),
  'a short file and its caller’s own body': chat(
    [{ type: 'file', dataUrl: `data:text/plain;base64,${base64(WHOLE)}` }] as ContentPart[],
    wireOf([{ type: 'document', source: { type: 'base64', media_type: 'text/plain', data: base64(WHOLE) } }]),
  ),
  'a short file of a vendor’s own request': native({
    contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'text/plain', data: base64(WHOLE) } }] }],
  }),
  'parts of a vendor’s own request': native({ contents: [{ role: 'user', parts: textsOf(CUT) }] }),
  'a field that nobody knows': native({ messages: [], note: `${WHOLE}\\n` }),
  'adjacent texts that nobody knows': native({ messages: [], note: textsOf(CUT) }),
  'arguments of a vendor’s own answer': (guard) =>
    guardNativeAnswer(guard, {
      choices: [{ message: { function_call: { arguments: JSON.stringify({ a: WHOLE }) } } }],
    }),
  'blocks of a stream': (guard) =>
    guardNativeEvents(
      guard,
      CUT.map((text, index) => ({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } })),
    ),
  'arguments of a stream, told in pieces, as a whole, and in the answer': (guard) => {
    const args = JSON.stringify({ a: WHOLE });
    const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: args };
    const place = { item_id: 'fc_1', output_index: 0 };
    return guardNativeEvents(guard, [
      ...[args.slice(0, -2), args.slice(-2)].map((delta) => ({
        ...{ type: 'response.function_call_arguments.delta', ...place, delta },
      })),
      { type: 'response.function_call_arguments.done', ...place, arguments: args },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { object: 'response', output: [item] } },
    ]);
  },
  'a thought, and the same in its vendor’s own items': (guard) =>
    guardItems(guard, 'reasoning', { type: 'reasoning', summary: [{ type: 'summary_text', text: WHOLE }] }),
  'a text, and the same in its vendor’s own items': (guard) =>
    guardItems(guard, 'text', { type: 'message', content: [{ type: 'output_text', text: WHOLE }] }),
  'arguments, and the same in its vendor’s own items': async (guard) => {
    const args = JSON.stringify({ a: WHOLE });
    const judge = new AnswerGuard(guard);
    await judge.push([{ type: 'tool-arguments', choice: 0, toolIndex: 0, text: args }]);
    await judge.push([itemsOf({ type: 'function_call', call_id: 'call_1', name: 'f', arguments: args })]);
    await judge.end();
  },
  'an answer and its vendor’s own blocks': (guard) => guardResponse(guard, answerOf(CUT)),
  'the same as events': async (guard) => {
    const judge = new AnswerGuard(guard);
    for (const text of CUT) await judge.push([{ type: 'text', choice: 0, text }]);
    await judge.push([
      { type: 'raw-message', choice: 0, ...rawOf(CUT) },
      { type: 'finish', choice: 0, reason: 'stop' },
    ]);
    await judge.end();
  },
  'a thought and its block with a signature': async (guard) => {
    const judge = new AnswerGuard(guard);
    for (const text of CUT) await judge.push([{ type: 'reasoning', choice: 0, text }]);
    const detail = { type: 'reasoning.text', text: WHOLE, signature: 'QUJD'.repeat(20), index: 0 };
    await judge.push([{ type: 'reasoning-detail', choice: 0, detail }]);
    await judge.push([{ type: 'text', choice: 0, text: 'ok' }]);
    await judge.end();
  },
  'a thought and its pieces': async (guard) => {
    const judge = new AnswerGuard(guard);
    for (const text of CUT) {
      const detail = { type: 'reasoning.text', text, index: 0 };
      await judge.push([
        { type: 'reasoning', choice: 0, text },
        { type: 'reasoning-detail', choice: 0, detail },
      ]);
    }
    await judge.end();
  },
  'pieces of a thought alone': async (guard) => {
    const judge = new AnswerGuard(guard);
    for (const text of CUT)
      await judge.push([{ type: 'reasoning-detail', choice: 0, detail: { type: 'reasoning.text', text, index: 0 } }]);
    await judge.end();
  },
  'a tool’s result': (guard) => guardToolResult(guard, { content: textsOf(CUT) }),
  'a tool’s result as a short file': (guard) =>
    guardToolResult(guard, { content: [{ type: 'resource', resource: { uri: 'f:///a', blob: base64(WHOLE) } }] }),
  'a tool’s result that says it once more as JSON': (guard) =>
    guardToolResult(guard, {
      content: textsOf([JSON.stringify({ to: EMAIL, note: 'it is\nfine' })]),
      structuredContent: { to: EMAIL, note: 'it is\nfine' },
    }),
};

describe.each([
  ['flag', 'enforce'],
  ['redact', 'enforce'],
  ['redact', 'shadow'],
] as const)('one find is one in the row: %s, %s', (action, mode) => {
  test.each(Object.entries(WAYS))('%s', async (name, way) => {
    const guard = guardOf(name.includes('token') ? 'secrets' : 'pii', action, mode);
    await way(guard);
    expect(guard.list()?.map(({ count }) => count)).toEqual([1]);
  });
});

test.each(['', 'more'])('a vendor’s own blocks count what they say more: %p', async (more) => {
  const guard = guardOf('pii', 'flag', 'enforce');
  const citation = { type: 'text', text: more, citations: [{ cited_text: 'ann@example.com and bob@example.com' }] };
  const content = more === '' ? [{ ...citation, text: WHOLE }] : [...textsOf([WHOLE]), citation];
  const raw = { ...rawOf([WHOLE]), value: { role: 'assistant', content } };
  await guardResponse(guard, { choices: [{ index: 0, text: `${WHOLE}${more}`, finishReason: 'stop', raw }] });
  expect(guard.list()?.map(({ count }) => count)).toEqual([3]);
});

test('base64 behind other characters is read, also where these make a text of it', async () => {
  const data = `x${base64(EMAIL)}`;
  const judged = await guardNativeRequest(guardOf('pii', 'redact', 'enforce'), { messages: [], note: { data } });
  expect(JSON.stringify(judged)).not.toContain(base64(EMAIL));
});
