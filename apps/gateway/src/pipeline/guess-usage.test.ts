import { describe, expect, test } from 'bun:test';
import type { EventBatch } from '@llm0/core/chat/event';
import type { ChatRequest } from '@llm0/core/chat/request';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { partialUsage } from './guess-usage';

const REQUEST: ChatRequest = {
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello there' }] }],
  stream: true,
  extra: {},
};
const pieces = (count: number): EventBatch[] => [
  { events: Array.from({ length: count }, () => ({ type: 'text', choice: 0, text: 'word' }) as const) },
];

describe('usage of an answer cut short', () => {
  test('nothing reported: guessed', () => {
    const usage = partialUsage(REQUEST, pieces(5), undefined);
    expect(usage).toMatchObject({ outputTokens: 5, estimated: true });
    expect(usage.inputTokens).toBeGreaterThan(0);
  });

  test('a count from the first event: the input holds, the output is what came', () => {
    const reported = { ...ZERO_USAGE, inputTokens: 40, cacheReadTokens: 7, outputTokens: 1 };
    expect(partialUsage(REQUEST, pieces(5), reported)).toEqual({ ...reported, outputTokens: 5, estimated: true });
  });

  test('a count that covers what came is taken as it is', () => {
    const reported = { ...ZERO_USAGE, inputTokens: 40, outputTokens: 3, reasoningTokens: 9 };
    expect(partialUsage(REQUEST, pieces(5), reported)).toBe(reported);
  });
});
