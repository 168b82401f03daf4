import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ChatRequest } from '../chat/request';
import { ZERO_USAGE } from '../chat/usage';
import { computeCost } from './compute-cost';
import { estimateHold, UNBOUNDED_MEDIA_TOKENS, weighRequest } from './estimate-cost';
import type { PricedModel } from './price-book';

const ask = (text: string, more: Partial<ChatRequest> = {}): ChatRequest => ({
  model: 'm',
  stream: false,
  messages: [{ role: 'user', content: [{ type: 'text', text }] }],
  extra: {},
  ...more,
});
const priced = (prices: PricedModel['prices']): PricedModel => ({
  provider: 'p',
  model: 'm',
  mode: 'chat',
  prices,
  capabilities: [],
});
const options = { strict: false, defaultOutputTokens: 4096 };

describe('estimateHold', () => {
  test('bytes of UTF-8 ÷ 3, 4 a message, the request limit × n', () => {
    const request = ask('äöü', { maxOutputTokens: 10, n: 2 });
    const hold = estimateHold(request, weighRequest(request), [priced({ input: 1000, output: 2000 })], options);
    expect(hold).toMatchObject({ holdNanoUsd: 2 + 4 + 40, inputNanoUsd: 6, tokens: 26 });
  });

  test('without a limit the project default is held; strict counts bytes as tokens', () => {
    const request = ask('abcdef');
    const strict = { strict: true, defaultOutputTokens: 100 };
    const hold = estimateHold(request, weighRequest(request), [priced({ input: 1000, output: 1000 })], strict);
    expect(hold.holdNanoUsd).toBe(6 + 4 + 100);
  });

  test('the dearest class and the dearest target count', () => {
    const request = ask('abc', { maxOutputTokens: 1 });
    const targets = [priced({ input: 1000, output: 1000, cache_write: 9000 }), priced({ input: 2000, output: 5000 })];
    expect(estimateHold(request, weighRequest(request), targets, options).holdNanoUsd).toBe(5 * 9 + 1);
  });

  test('a model that draws images is held for one of them in each answer, whatever the limit of its text', () => {
    const request = ask('abc', { maxOutputTokens: 100, n: 2 });
    const draws = priced({ input: 0, output: 1000, output_image: 30_000 });
    const holdOf = (target: PricedModel, strict: boolean) =>
      estimateHold(request, weighRequest(request), [target], { ...options, strict }).holdNanoUsd;
    expect(holdOf(draws, false)).toBe(2 * 6240 * 30);
    expect(holdOf({ ...draws, maxOutputTokens: 32_768 }, true)).toBe(2 * 32_768 * 30);
    expect(() => holdOf(draws, true)).toThrow('max_output_tokens');
    expect(holdOf(priced({ input: 0, output: 1000 }), false)).toBe(2 * 100);
  });

  test('media without a bound counts its stand-in', () => {
    const request = ask('');
    const image: ChatRequest = {
      ...request,
      messages: [{ role: 'user', content: [{ type: 'image', url: 'https://x.test/a.png' }] }],
    };
    expect(weighRequest(image).images).toBe(1);
    const hold = estimateHold(image, weighRequest(image), [priced({ input: 1000, output: 0 })], options);
    expect(hold.inputNanoUsd).toBe(UNBOUNDED_MEDIA_TOKENS + 4);
  });

  test('strict: no bill within the bounds ever exceeds the hold', () => {
    const price = fc.integer({ min: 0, max: 100_000_000 });
    fc.assert(
      fc.property(
        fc.record({ input: price, output: price, cache_read: price, cache_write: price, reasoning: price }),
        fc.string({ maxLength: 200 }),
        fc.integer({ min: 1, max: 5000 }),
        fc.float({ min: 0, max: 1, noNaN: true }),
        (prices, text, limit, share) => {
          const request = ask(text, { maxOutputTokens: limit });
          const weight = weighRequest(request);
          const hold = estimateHold(request, weight, [priced(prices)], { strict: true, defaultOutputTokens: 1 });
          const prompt = weight.textBytes + 4;
          const cached = Math.floor(prompt * share);
          const reasoned = Math.floor(limit * share);
          const usage = {
            ...ZERO_USAGE,
            inputTokens: prompt - cached,
            cacheReadTokens: cached,
            outputTokens: limit - reasoned,
            reasoningTokens: reasoned,
          };
          expect(computeCost(usage, priced(prices)).costNanoUsd).toBeLessThanOrEqual(hold.holdNanoUsd);
        },
      ),
    );
  });
});
