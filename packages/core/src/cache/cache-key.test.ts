import { describe, expect, test } from 'bun:test';
import type { ChatRequest } from '../chat/request';
import { exactCacheKey } from './cache-key';

const base: ChatRequest = {
  model: 'gpt-4o-mini',
  stream: false,
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  extra: {},
};
const key = (change: Partial<ChatRequest>, scope = 'openai/gpt-4o-mini', project = 'p1') =>
  exactCacheKey(project, scope, { ...base, ...change });

describe('exactCacheKey', () => {
  test.each<[string, Partial<ChatRequest>]>([
    ['stream', { stream: true }],
    ['user', { user: 'u1' }],
    ['metadata', { metadata: { a: 1 } }],
    ['stream_options', { extra: { stream_options: { include_usage: true } } }],
    ['store', { extra: { store: true } }],
    ['wire', { wire: { format: 'openai-chat', body: { x: 1 } } }],
  ])('%s does not change the key', (_name, change) => {
    expect(key(change)).toBe(key({}));
  });

  test.each<[string, Partial<ChatRequest>]>([
    ['temperature 0', { temperature: 0 }],
    ['a message', { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi ' }] }] }],
    ['the role', { messages: [{ role: 'system', content: [{ type: 'text', text: 'hi' }] }] }],
    ['tools', { tools: [{ type: 'function', name: 'f' }] }],
    ['response format', { responseFormat: { type: 'json_object' } }],
    ['seed', { seed: 1 }],
    ['n', { n: 2 }],
    ['max tokens', { maxOutputTokens: 5 }],
    ['an unknown field', { extra: { verbosity: 'low' } }],
  ])('%s changes the key', (_name, change) => {
    expect(key(change)).not.toBe(key({}));
  });

  test('fields never shift into their neighbours', () => {
    expect(key({ frequencyPenalty: 1 })).not.toBe(key({ presencePenalty: 1 }));
    expect(key({ temperature: 1 })).not.toBe(key({ topP: 1 }));
  });

  test('long texts separate by content, order, place and length', () => {
    const [a, b] = ['a'.repeat(20_000), 'b'.repeat(20_000)];
    const part = (text: string) => ({ type: 'text' as const, text });
    const keys = [
      [a],
      [b],
      [a, b],
      [b, a],
      [a + b],
      ['20000', a],
      [a, '20000'],
      [a, ''],
      ['', a],
      [`${a.slice(1)}`, 'a'],
    ].map((texts) => key({ messages: [{ role: 'user', content: texts.map(part) }] }));
    const apart = key({ messages: [a, b].map((text) => ({ role: 'user', content: [part(text)] })) });
    expect(new Set([...keys, apart]).size).toBe(keys.length + 1);
    expect(key({ messages: [{ role: 'user', content: [part(a)] }] })).toBe(keys[0] ?? '');
  });

  test('project and route separate', () => {
    expect(key({}, 'openai/gpt-4o')).not.toBe(key({}));
    expect(key({}, 'openai/gpt-4o-mini', 'p2')).not.toBe(key({}));
  });

  test('the order of unknown fields does not matter', () => {
    expect(key({ extra: { a: 1, b: 2 } })).toBe(key({ extra: { b: 2, a: 1 } }));
  });
});
