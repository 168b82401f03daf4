import { describe, expect, test } from 'bun:test';
import { type Usage, ZERO_USAGE } from '../chat/usage';
import type { PricedModel } from '../pricing/price-book';
import { boundHearing, ConversationSize } from './conversation-size';

const MODEL: PricedModel = {
  ...{ provider: 'openai', model: 'm', mode: 'realtime', capabilities: [] },
  prices: { input: 4, output: 24, input_audio: 32, output_audio: 64, cache_read: 1 },
};
const LOOSE = { strict: false, outputTokens: undefined, defaultOutputTokens: 500 };
const usage = (some: Partial<Usage>): Usage => ({ ...ZERO_USAGE, ...some });

describe('what the next answer reads', () => {
  test('is all that the last one read and wrote, and what came since', () => {
    const size = new ConversationSize();
    size.add(usage({ inputTokens: 10 }));
    expect(size.bound(MODEL, LOOSE)).toMatchObject({ inputTokens: 10, outputAudioTokens: 500 });
    size.tell(
      usage({
        inputTokens: 5,
        cacheReadTokens: 5,
        inputAudioTokens: 3,
        cacheReadAudioTokens: 4,
        outputAudioTokens: 50,
        outputTokens: 7,
      }),
    );
    size.add(usage({ inputAudioTokens: 9 }));
    expect(size.bound(MODEL, LOOSE)).toMatchObject({ inputTokens: 17, inputAudioTokens: 66, outputAudioTokens: 500 });
    expect(size.bound({ ...MODEL, maxOutputTokens: 90 }, LOOSE)).toMatchObject({ outputAudioTokens: 90 });
    expect(size.bound(MODEL, { ...LOOSE, outputTokens: 20 })).toMatchObject({ outputAudioTokens: 20 });
  });

  test('is the whole context at its dearest under strict caps, and refused without a bound', () => {
    const size = new ConversationSize();
    const strict = { ...LOOSE, strict: true };
    const bounded = { ...MODEL, contextWindow: 1000, maxOutputTokens: 90 };
    expect(size.bound(bounded, strict)).toMatchObject({
      inputTokens: 0,
      inputAudioTokens: 1000,
      outputAudioTokens: 90,
    });
    expect(() => size.bound({ ...MODEL, maxOutputTokens: 90 }, strict)).toThrow('context_window');
    expect(() => size.bound({ ...MODEL, contextWindow: 1000 }, strict)).toThrow('max_output_tokens');
    expect(size.bound({ ...MODEL, contextWindow: 1000 }, { ...strict, outputTokens: 5 }).outputAudioTokens).toBe(5);
  });
});

test('speech that is written down costs seconds, or tokens', () => {
  expect(boundHearing({ ...MODEL, prices: { minute: 1 } }, 2.5)).toEqual(usage({ units: { seconds: 2.5 } }));
  expect(boundHearing(MODEL, 2)).toEqual(usage({ inputAudioTokens: 64, outputTokens: 20 }));
});
