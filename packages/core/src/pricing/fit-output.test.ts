import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { JsonObject, WireFormat } from '../chat/json';
import type { ChatRequest } from '../chat/request';
import { estimateHold, weighRequest } from './estimate-cost';
import { fitOutput, limitOutput } from './fit-output';
import type { PricedModel } from './price-book';

const request = (more: Partial<ChatRequest> = {}): ChatRequest => ({
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'x'.repeat(300) }] }],
  stream: false,
  extra: {},
  ...more,
});

describe('fitOutput', () => {
  const prices = { input: 1e6, output: 3e6 };
  const target: PricedModel = { provider: 'openai', model: 'm', mode: 'chat', prices, capabilities: [] };
  const holdOf = (asked: ChatRequest) =>
    estimateHold(asked, weighRequest(asked), [target], { strict: false, defaultOutputTokens: 1000 });

  test('the largest limit that what is left covers, or none', () => {
    fc.assert(
      fc.property(
        fc.record({
          max: fc.option(fc.integer({ min: 16, max: 5000 }), { nil: undefined }),
          n: fc.integer({ min: 1, max: 4 }),
          left: fc.nat(6_000_000),
        }),
        ({ max, n, left }) => {
          const asked = request({ n, ...(max === undefined ? {} : { maxOutputTokens: max }) });
          const hold = holdOf(asked);
          fc.pre(hold.holdNanoUsd > left);
          const fitted = fitOutput(asked, hold, left);
          const with16 = holdOf({ ...asked, maxOutputTokens: 16 }).holdNanoUsd;
          if (fitted === undefined) return expect(with16).toBeGreaterThan(left);
          expect(holdOf(fitted).holdNanoUsd).toBeLessThanOrEqual(left);
          const more = { ...fitted, maxOutputTokens: (fitted.maxOutputTokens ?? 0) + 1 };
          return expect(holdOf(more).holdNanoUsd).toBeGreaterThan(left);
        },
      ),
    );
  });

  test('a large request keeps its limit', () => {
    const asked = request({ digest: 'd', maxOutputTokens: 1000 });
    expect(fitOutput(asked, holdOf(asked), 1_000_000)).toBeUndefined();
  });
});

test.each<[WireFormat, JsonObject, JsonObject]>([
  ['openai-chat', {}, { max_completion_tokens: 20 }],
  ['openai-chat', { max_tokens: 99 }, { max_tokens: 20 }],
  ['openai-chat', { max_tokens: 99, max_completion_tokens: 99 }, { max_tokens: 20, max_completion_tokens: 20 }],
  ['openai-responses', {}, { max_output_tokens: 20 }],
  ['openai-completions', { max_tokens: 99 }, { max_tokens: 20 }],
  ['anthropic-messages', { max_tokens: 99 }, { max_tokens: 20 }],
  ['gemini-content', {}, { generationConfig: { maxOutputTokens: 20 } }],
  [
    'gemini-content',
    { generation_config: { max_output_tokens: 9, top_k: 1 } },
    { generation_config: { max_output_tokens: 20, top_k: 1 } },
  ],
  ['bedrock-converse', { inferenceConfig: { topP: 1 } }, { inferenceConfig: { topP: 1, maxTokens: 20 } }],
  ['cohere-chat', {}, { max_tokens: 20 }],
])('limitOutput writes the limit of %s: %o', (format, body, expected) => {
  const limited = limitOutput(request({ wire: { format, body: { ...body, keep: 1 } } }), 20);
  expect(limited).toMatchObject({ maxOutputTokens: 20, wire: { body: { ...expected, keep: 1 } } });
});
