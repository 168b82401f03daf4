import { expect, test } from 'bun:test';
import type { JsonValue } from '@llm0/core/chat/json';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { decodeUsage, readAny } from './decode-usage';

const count = fc.oneof({ weight: 10, arbitrary: fc.nat(40) }, fc.constantFrom<JsonValue>(-1, 0.5, null, '7', {}));
const modality = fc.record({
  modality: fc.constantFrom('TEXT', 'TEXT', 'TEXT', 'AUDIO', 'IMAGE', 3),
  tokenCount: count,
});
const details = fc.oneof(
  { weight: 9, arbitrary: fc.array(modality, { maxLength: 2 }) },
  fc.constantFrom(null, {}, 'x'),
);
const usage = fc
  .tuple(
    fc.record({ promptTokenCount: fc.nat(40), candidatesTokenCount: fc.nat(40) }),
    fc.record({ thoughtsTokenCount: fc.nat(9), cachedContentTokenCount: fc.nat(60) }, { requiredKeys: [] }),
    fc.record(
      { promptTokensDetails: details, candidatesTokensDetails: details, cacheTokensDetails: details },
      { requiredKeys: [] },
    ),
    fc.dictionary(
      fc.constantFrom('toolUsePromptTokenCount', 'trafficType', 'candidatesTokenCount', 'input_tokens', '__proto__'),
      count,
      { maxKeys: 1, noNullPrototype: true },
    ),
    fc.constantFrom(0, 0, 0, 3),
    fc.nat(3),
  )
  .map(([told, more, lists, odd, rest, at]) => {
    const { thoughtsTokenCount = 0 } = more;
    const totalTokenCount = told.promptTokenCount + told.candidatesTokenCount + thoughtsTokenCount + rest;
    return { ...told, totalTokenCount, ...more, ...lists, ...(at === 0 ? odd : {}) } as JsonValue;
  });

test('usual usage reads as any usage does', () => {
  fc.assert(
    fc.property(usage, fc.boolean(), (told, hasImages) => {
      expect(decodeUsage(told, hasImages)).toEqual(readAny(told, hasImages));
    }),
    { numRuns: runs(1000) },
  );
  for (const told of [undefined, null, [], {}, 7, 'none']) expect(decodeUsage(told)).toEqual(readAny(told));
});

const DRAWN = { promptTokenCount: 9, candidatesTokenCount: 1310, thoughtsTokenCount: 100, totalTokenCount: 1419 };
const IMAGE = { modality: 'IMAGE', tokenCount: 1290 };
const TEXT = { modality: 'TEXT', tokenCount: 20 };

test.each<[details: JsonValue | undefined, hasImages: boolean, text: number, images: number | undefined]>([
  [[IMAGE, TEXT], true, 20, 1290],
  [[IMAGE, TEXT], false, 20, 1290],
  [[TEXT], true, 20, 1290],
  [[IMAGE], true, 0, 1310],
  [undefined, true, 0, 1310],
  [undefined, false, 1310, undefined],
  [[TEXT], false, 1310, undefined],
  [[{ ...TEXT, tokenCount: 9999 }], true, 1310, 0],
])('output of %j with images: %p is %d of text and %p of images', (details, hasImages, text, images) => {
  const told = { ...DRAWN, ...(details === undefined ? {} : { candidatesTokensDetails: details }) };
  const { outputTokens, outputImageTokens, reasoningTokens } = decodeUsage(told, hasImages) ?? {};
  expect({ outputTokens, outputImageTokens, reasoningTokens }).toEqual({
    ...{ outputTokens: text, outputImageTokens: images, reasoningTokens: 100 },
  });
});

test('sent images are a class of their own, without the cached ones', () => {
  const sent = { ...DRAWN, promptTokenCount: 900, totalTokenCount: 2310, cachedContentTokenCount: 300 };
  const split = {
    promptTokensDetails: [{ modality: 'IMAGE', tokenCount: 600 }],
    cacheTokensDetails: [{ modality: 'IMAGE', tokenCount: 258 }],
  };
  expect(decodeUsage({ ...sent, ...split })).toMatchObject({
    ...{ inputTokens: 258, inputImageTokens: 342, cacheReadTokens: 300 },
  });
});
