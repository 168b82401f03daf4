import { describe, expect, test } from 'bun:test';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { decodeUsage as decodeAnthropicUsage } from '../anthropic/decode-usage';
import { decodeUsage as decodeGeminiUsage } from '../gemini/decode-usage';
import { decodeUsage as decodeOpenaiUsage } from '../openai/decode-usage';
import { asCounts } from './read-json';

describe('usage as a vendor tells it', () => {
  test.each<[string, JsonValue]>([
    ['counts', { prompt_tokens: 10, completion_tokens: 0 }],
    ['details', { prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 5 } }],
    ['lists of details', { promptTokenCount: 3, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 3 }] }],
    ['nothing of a kind', { prompt_tokens: 10, cached_tokens: null }],
    ['speeds and times', { prompt_tokens: 10, completion_tokens_per_sec: 51.7, queue_time: 0.01, cost: 0.1 }],
  ])('%s are told', (_name, usage) => {
    expect(asCounts(usage)).toEqual(usage as never);
  });

  test.each<[string, JsonValue | undefined]>([
    ['less than nothing', { prompt_tokens: -1 }],
    ['fractions', { completion_tokens: 0.5 }],
    ['texts', { promptTokenCount: '10' }],
    ['more than any model reads', { input_tokens: 2 ** 53 }],
    ['beyond all numbers', { output_tokens: Number.POSITIVE_INFINITY }],
    ['not a number', { output_tokens: Number.NaN }],
    ['a lie among the details', { prompt_tokens: 10, prompt_tokens_details: { cached_tokens: -1e9 } }],
    ['a lie in a list', { promptTokenCount: 3, promptTokensDetails: [{ tokenCount: '3' }] }],
    ['a list', []],
    ['nothing', undefined],
  ])('%s is no usage', (_name, usage) => {
    expect(asCounts(usage)).toBeUndefined();
  });

  test('impossible usage counts as none, so the estimate is booked', () => {
    expect(decodeOpenaiUsage({ prompt_tokens: -5, completion_tokens: 10 })).toBeUndefined();
    expect(decodeAnthropicUsage({ input_tokens: '5', output_tokens: 10 })).toBeUndefined();
    expect(decodeGeminiUsage({ promptTokenCount: 1e300, candidatesTokenCount: 10 })).toBeUndefined();
  });
});

test.each<JsonObject>([
  { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  { promptTokenCount: 0, candidatesTokenCount: null },
  { input_tokens: 0, output_tokens: 0, cache_creation: { ephemeral_5m_input_tokens: 0 } },
  {},
])('usage of nothing at all is told by servers that do not count: none (%j)', (usage) => {
  expect(asCounts(usage)).toBeUndefined();
});

test.each<JsonObject>([
  { prompt_tokens: 3, completion_tokens: 0 },
  { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 5 },
  { prompt_tokens: 0, prompt_tokens_details: { cached_tokens: 2 } },
])('one count is enough (%j)', (usage) => {
  expect(asCounts(usage)).toBe(usage);
});
