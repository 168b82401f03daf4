import { expect, test } from 'bun:test';
import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';
import { collectEvents } from '@llm0/core/chat/testing/collect-events';
import fc from 'fast-check';
import { ANSWERS as COMPATIBLE_ANSWERS } from '../openai-compatible/__fixtures__/answers';
import { ANSWERS } from './__fixtures__/answers';
import { decodeBody, readAnyAnswer, readUsualAnswer } from './decode-response';

const oddly = fc.constantFrom<JsonValue>(null, '', 'x', 0, 3, [], {}, [{ text: 'part' }], { function: {} });
const often = <T>(usual: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 40, arbitrary: usual }, oddly) as fc.Arbitrary<JsonValue>;
const text = often(fc.constantFrom('said', '{"a":1}'));
const FIELDS = ['annotations', 'audio', 'logprobs', 'reasoning', 'custom', 'signature', '__proto__'];
const unknown = fc.dictionary(fc.constantFrom(...FIELDS), oddly, {
  maxKeys: 2,
  noNullPrototype: true,
});
const withUnknown = <T extends object>(known: fc.Arbitrary<T>) =>
  fc.tuple(fc.nat(4), unknown, known).map(([at, extra, fields]) => (at === 0 ? merged(extra, fields) : fields));
const call = withUnknown(
  fc.record(
    {
      id: often(fc.constant('call_1')),
      type: often(fc.constant('function')),
      index: fc.nat(2),
      function: often(fc.record({ name: text, arguments: text }, { requiredKeys: ['name'] })),
    },
    { requiredKeys: ['id', 'function'] },
  ),
);
const message = withUnknown(
  fc.record(
    {
      role: often(fc.constant('assistant')),
      ...{ content: text, refusal: text, reasoning_content: text, tool_calls: often(fc.array(call, { maxLength: 2 })) },
    },
    { requiredKeys: [] },
  ),
);
const choice = withUnknown(
  fc.record(
    {
      ...{
        index: often(fc.nat(1)),
        message: often(message),
        finish_reason: often(fc.constantFrom('stop', 'eos', 'odd')),
      },
      native_finish_reason: often(fc.constant('END')),
    },
    { requiredKeys: ['message'] },
  ),
);
const body = withUnknown(
  fc.record(
    {
      ...{ id: text, object: fc.constant('chat.completion'), created: often(fc.constant(1)), model: text },
      choices: often(fc.array(often(choice), { minLength: 1, maxLength: 2 })),
      usage: often(fc.constant({ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 })),
      service_tier: fc.constantFrom('default', 'flex'),
      obfuscation: fc.constant('xx'),
    },
    { requiredKeys: ['choices'] },
  ),
);

/** Keeps a field of the name `__proto__`. */
function merged(a: object, b: object): JsonObject {
  return JSON.parse(
    `{${[a, b]
      .map((one) => JSON.stringify(one).slice(1, -1))
      .filter(Boolean)
      .join(',')}}`,
  );
}

test('an answer in the usual shape reads as any answer does', () => {
  let usual = 0;
  fc.assert(
    fc.property(body, (given) => {
      if (readUsualAnswer(given as JsonObject) !== undefined) usual += 1;
      expectSame(given as JsonObject);
    }),
    { numRuns: 1000 },
  );
  expect(usual).toBeGreaterThan(100);
});

test('so does every recorded answer', () => {
  const plain = [...ANSWERS, ...COMPATIBLE_ANSWERS].flatMap(({ plain }) => (plain === undefined ? [] : [plain]));
  expect(plain.filter((given) => isObject(given) && readUsualAnswer(given) !== undefined).length).toBeGreaterThan(2);
  for (const given of plain) expectSame(given);
});

function expectSame(given: JsonObject): void {
  const [fast, slow] = [structuredClone(given), structuredClone(given)];
  expect(outcomeOf(() => decodeBody('openai', fast))).toEqual(outcomeOf(() => readAnyAnswer('openai', slow)));
  expect(fast).toEqual(slow);
}

function outcomeOf(decode: () => ReturnType<typeof decodeBody>) {
  try {
    const { whole, events, wire } = decode();
    const collected = collectEvents(events);
    if (whole !== undefined) expect(whole).toEqual(collected);
    return { collected, wire };
  } catch (error) {
    return { error: String(error) };
  }
}
