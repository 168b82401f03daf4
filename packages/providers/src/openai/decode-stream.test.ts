import { expect, test } from 'bun:test';
import type { ChatEvent } from '@llm0/core/chat/event';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { SseDecoder } from '@llm0/core/sse/decode-sse';
import fc from 'fast-check';
import { ANSWERS as COMPATIBLE_ANSWERS } from '../openai-compatible/__fixtures__/answers';
import { ANSWERS } from './__fixtures__/answers';
import { ChatStream } from './decode-stream';

const oddly = fc.constantFrom<JsonValue>(null, '', 'x', 0, 1, false, [], {}, { a: 1 });
const often = <T>(usual: T) =>
  fc.oneof({ weight: 20, arbitrary: fc.constant(usual) }, oddly) as fc.Arbitrary<JsonValue>;
const rarely = (...names: string[]) =>
  fc
    .tuple(fc.nat(7), fc.dictionary(fc.constantFrom(...names), oddly, { maxKeys: 1, noNullPrototype: true }))
    .map(([at, fields]) => (at === 0 ? fields : {}));
const joined = (...parts: fc.Arbitrary<object>[]) =>
  fc.tuple(...parts).map((each) => Object.assign({}, ...each) as JsonObject);

const delta = joined(
  fc.record({ content: often('said') }),
  rarely('role', 'refusal', 'reasoning', 'tool_calls', 'audio'),
);
const choice = joined(
  fc.record({ index: fc.oneof(fc.constant(0), often(1)), delta: fc.oneof({ weight: 20, arbitrary: delta }, oddly) }),
  fc.record({ finish_reason: fc.oneof({ weight: 20, arbitrary: fc.constant(null) }, oddly), logprobs: often(null) }),
  rarely('message', 'native_finish_reason', 'content_filter', '__proto__'),
);
const chunk = joined(
  fc.record({
    id: fc.constant('c'),
    object: often('chat.completion.chunk'),
    created: fc.constant(1),
    model: often('m'),
  }),
  fc.record({ choices: fc.oneof({ weight: 20, arbitrary: fc.tuple(choice) }, fc.tuple(choice, choice), oddly) }),
  fc.record(
    { system_fingerprint: often('fp'), usage: often(null), obfuscation: fc.constant('zz') },
    { requiredKeys: [] },
  ),
  rarely('error', 'message', 'service_tier', 'provider', 'citations'),
);

test('a chunk of text alone reads as any chunk does', () => {
  let forwarded = 0;
  fc.assert(
    fc.property(fc.array(chunk, { minLength: 2, maxLength: 6 }), (chunks) => {
      forwarded += expectSame(chunks).filter((piece) => piece instanceof Uint8Array).length;
    }),
    { numRuns: 500 },
  );
  expect(forwarded).toBeGreaterThan(300);
});

test('so does every recorded one', () => {
  for (const { stream } of [...ANSWERS, ...COMPATIBLE_ANSWERS]) {
    const texts = new SseDecoder().push(new TextEncoder().encode(stream)).map(({ data }) => data);
    expectSame(texts.filter((data) => data.startsWith('{')).map((data) => JSON.parse(data) as JsonObject));
  }
});

/** Named events are never looked at as texts alone. */
function expectSame(chunks: readonly JsonObject[]): (string | Uint8Array)[] {
  const found = decodeAll(chunks, undefined);
  expect(found).toEqual(decodeAll(chunks, 'chunk'));
  return found.pieces;
}

function decodeAll(chunks: readonly JsonObject[], event: string | undefined) {
  const stream = new ChatStream('openai');
  const events: ChatEvent[] = [];
  const pieces: (string | Uint8Array)[] = [];
  let error: string | undefined;
  try {
    for (const [index, given] of structuredClone([...chunks]).entries()) {
      const text = { data: '', event, raw: new Uint8Array([index]) };
      stream.decode(given, events, text);
      pieces.push(stream.encode(given, text));
    }
    pieces.push(stream.decodeEnd(events));
  } catch (cause) {
    error = String(cause);
  }
  return { events, pieces, error };
}
