import { describe, expect, test } from 'bun:test';
import type { ChatMessage, ChatRequest } from '../../chat/request';
import { readEligibleQuestion } from './eligible-question';

const user = (text: string): ChatMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const request = (messages: readonly ChatMessage[], more: Partial<ChatRequest> = {}): ChatRequest => ({
  ...{ model: 'm', stream: false, extra: {}, messages },
  ...more,
});
const contextOf = (one: ChatRequest, scope = 'alpha/m'): string => {
  const question = readEligibleQuestion(scope, one);
  if (typeof question === 'string') throw new Error(question);
  return question.context;
};

describe('eligible questions', () => {
  test('the last user turn is the question, everything else its context', () => {
    const question = readEligibleQuestion('s', request([user('first'), user(' how  are you? ')]));
    expect(question).toMatchObject({ text: 'how  are you?' });
    expect(contextOf(request([user('a')]))).toBe(contextOf(request([user('b')])));
  });

  const base = request([{ role: 'system', content: [{ type: 'text', text: 'be kind' }] }, user('q')]);
  test.each<[string, ChatRequest]>([
    ['system prompt', request([{ role: 'system', content: [{ type: 'text', text: 'be rude' }] }, user('q')])],
    ['earlier turn', request([...base.messages.slice(0, 1), user('before'), user('q')])],
    ['temperature', { ...base, temperature: 0.5 }],
    ['tools', { ...base, tools: [{ type: 'function', name: 'f' }] }],
    ['response format', { ...base, responseFormat: { type: 'json_object' } }],
    ['output limit', { ...base, maxOutputTokens: 5 }],
    ['unknown field', { ...base, extra: { modalities: ['audio'] } }],
    ['name', request([...base.messages.slice(0, 1), { ...user('q'), name: 'Bob' } as ChatMessage])],
  ])('another %s is another context', (_name, other) => {
    expect(contextOf(other)).not.toBe(contextOf(base));
  });

  test('another route is another context', () => {
    expect(contextOf(base, 'beta/m')).not.toBe(contextOf(base));
  });

  test('delivery and bookkeeping are no context', () => {
    const other = { ...base, stream: true, user: 'u', metadata: { a: 'b' }, extra: { stream_options: {} } };
    expect(contextOf(other)).toBe(contextOf(base));
  });

  test.each<[string, ChatMessage[], string]>([
    ['no messages', [], 'no_question'],
    [
      'a tool result',
      [user('q'), { role: 'tool', toolCallId: 'c', content: [{ type: 'text', text: 'r' }] }],
      'no_question',
    ],
    ['an assistant turn', [user('q'), { role: 'assistant', content: [{ type: 'text', text: 'r' }] }], 'no_question'],
    ['an image', [{ role: 'user', content: [{ type: 'image', url: 'data:,' }] }], 'media'],
    ['audio', [{ role: 'user', content: [{ type: 'audio', dataBase64: '', format: 'wav' }] }], 'media'],
    ['nothing but marks', [user(' ?! ')], 'no_question'],
    ['too much text', [user('word '.repeat(1000))], 'too_long'],
  ])('%s is none', (_name, messages, reason) => {
    expect(readEligibleQuestion('s', request(messages))).toBe(reason as never);
  });
});
