import { expect, test } from 'bun:test';
import { isObject, type JsonValue } from '@llm0/core/chat/json';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { ANSWERS as COMPATIBLE_ANSWERS } from '../openai-compatible/__fixtures__/answers';
import { ANSWERS } from './__fixtures__/answers';
import { decodeUsage, readAny } from './decode-usage';

const NAMES = [
  ...['prompt_tokens', 'completion_tokens', 'total_tokens', 'input_tokens', 'cached_tokens', 'prompt_cache_hit_tokens'],
  ...['reasoning_tokens', 'num_sources_used', 'cost', 'queue_time', 'constructor', '__proto__'],
];
const DETAILS = [
  ...['cached_tokens', 'audio_tokens', 'reasoning_tokens', 'cache_write_tokens', 'rejected_prediction_tokens'],
  ...['text_tokens', 'toString'],
];
const count = fc.oneof({ weight: 8, arbitrary: fc.nat(50) }, fc.constantFrom<JsonValue>(-1, 0.5, null, '7', 2e8, {}));
const details = fc.oneof(
  { weight: 6, arbitrary: fc.dictionary(fc.constantFrom(...DETAILS), count, { noNullPrototype: true }) },
  fc.constantFrom<JsonValue>(null, [], [{ cached_tokens: 1 }], 3),
);
const NOTHING = { prompt_tokens: 0, completion_tokens: 0, more: 0 };
const usual = fc.record({
  prompt_tokens: fc.nat(50),
  completion_tokens: fc.nat(50),
  more: fc.constantFrom(0, 0, 0, 5),
});
const usage = fc
  .tuple(
    fc.option(usual),
    fc.dictionary(fc.constantFrom(...NAMES), count, { maxKeys: 2, noNullPrototype: true }),
    fc.record({ prompt_tokens_details: details, completion_tokens_details: details }, { requiredKeys: [] }),
    fc.boolean(),
  )
  .map(([told, odd, nested, isOdd]) => {
    const { more = 0, ...counts } = told ?? NOTHING;
    const total = counts.prompt_tokens + counts.completion_tokens + more;
    return { ...(told && counts), total_tokens: total, ...nested, ...(isOdd ? odd : {}) } as JsonValue;
  });

test('usual usage reads as any usage does', () => {
  const tier = fc.constantFrom<JsonValue | undefined>(undefined, null, 'default', 'flex');
  fc.assert(
    fc.property(usage, tier, (told, serviceTier) => {
      expect(decodeUsage(told, serviceTier)).toEqual(readAny(told, serviceTier));
    }),
    { numRuns: runs(2000) },
  );
});

test('so does what is no usage', () => {
  for (const told of [undefined, null, [], {}, 7, 'none']) expect(decodeUsage(told)).toEqual(readAny(told));
});

test('so does the usage of every recording', () => {
  const found = usagesIn([ANSWERS, COMPATIBLE_ANSWERS] as unknown as JsonValue);
  expect(found.length).toBeGreaterThan(5);
  for (const told of found) expect(decodeUsage(told)).toEqual(readAny(told));
});

function usagesIn(value: JsonValue): JsonValue[] {
  if (typeof value === 'string') {
    return [...value.matchAll(/"usage":\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})/g)].map(([, text]) =>
      JSON.parse(text ?? ''),
    );
  }
  if (typeof value !== 'object' || value === null) return [];
  const own = isObject(value) && isObject(value.usage) ? [value.usage] : [];
  return [...own, ...Object.values(value).flatMap(usagesIn)];
}
