import { expect, test } from 'bun:test';
import type { JsonValue } from '@llm0/core/chat/json';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { decodeUsage, readAny } from './decode-usage';

const count = fc.oneof({ weight: 10, arbitrary: fc.nat(40) }, fc.constantFrom<JsonValue>(-1, 0.5, null, '7', {}));
const modality = fc.record({ modality: fc.constantFrom('TEXT', 'TEXT', 'TEXT', 'AUDIO', 3), tokenCount: count });
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
    fc.property(usage, (told) => {
      expect(decodeUsage(told)).toEqual(readAny(told));
    }),
    { numRuns: runs(1000) },
  );
  for (const told of [undefined, null, [], {}, 7, 'none']) expect(decodeUsage(told)).toEqual(readAny(told));
});
