import { expect, test } from 'bun:test';
import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { SseDecoder } from '@llm0/core/sse/decode-sse';
import fc from 'fast-check';
import { ANSWERS as COMPATIBLE_ANSWERS } from '../openai-compatible/__fixtures__/answers';
import { ANSWERS } from './__fixtures__/answers';
import { ChatStream, createStreamDecoder } from './decode-stream';

const oddly = fc.constantFrom<JsonValue>(null, '', 'x', 0, 1, false, [], {}, { a: 1 });
const often = <T>(usual: T) =>
  fc.oneof({ weight: 20, arbitrary: fc.constant(usual) }, oddly) as fc.Arbitrary<JsonValue>;
const rarely = (...names: string[]) =>
  fc
    .tuple(fc.nat(7), fc.dictionary(fc.constantFrom(...names), oddly, { maxKeys: 1, noNullPrototype: true }))
    .map(([at, fields]) => (at === 0 ? fields : {}));
const joined = (...parts: fc.Arbitrary<object>[]) =>
  fc.tuple(...parts).map((each) => Object.assign({}, ...each) as JsonObject);

const saying = fc.oneof(
  { weight: 9, arbitrary: often('said') },
  fc.constantFrom<JsonValue>('more', 'é😀', 'a"b', '\n', '"content"'),
);
const delta = joined(fc.record({ content: saying }), rarely('role', 'refusal', 'reasoning', 'tool_calls', 'audio'));
const choice = joined(
  fc.record({ index: fc.oneof(fc.constant(0), often(1)), delta: fc.oneof({ weight: 20, arbitrary: delta }, oddly) }),
  fc.record({ finish_reason: fc.oneof({ weight: 20, arbitrary: fc.constant(null) }, oddly), logprobs: often(null) }),
  rarely('message', 'native_finish_reason', 'content_filter', '__proto__'),
);
const padding = fc.constantFrom('zz', 'z', '', 'z_9');
const chunk = joined(
  fc.record({
    id: fc.constant('c'),
    object: often('chat.completion.chunk'),
    created: fc.constant(1),
    model: often('m'),
  }),
  fc.record({ choices: fc.oneof({ weight: 20, arbitrary: fc.tuple(choice) }, fc.tuple(choice, choice), oddly) }),
  fc.record({ system_fingerprint: often('fp'), usage: often(null), obfuscation: padding }, { requiredKeys: [] }),
  rarely('error', 'message', 'service_tier', 'provider', 'citations'),
);

/** Other spellings of the same, of something else, and of nothing. */
const SPELLINGS: readonly ((data: string) => string)[] = [
  (data) => data.replaceAll('":', '": '),
  (data) => data.replace('"content"', '"content" '),
  (data) => data.replace('"delta":{', '"delta":{"content":"twice",'),
  (data) => data.replace('"delta":{', '"delta":{"\\u0063ontent":"escaped",'),
  (data) => data.replace('}', ',"\\u0063ontent":"escaped"}'),
  (data) => data.replace('said', 'sa\\u0069d'),
  (data) => data.replace('said', 'sa\u0001id'),
  (data) => data.replace('said', 'said\\'),
  (data) => data.replace('zz', 'z\\z'),
  (data) => data.replace('zz', 'z"z'),
  (data) => data.slice(0, -1),
  (data) => `${data} `,
];
const spelling = fc
  .tuple(fc.nat(9), fc.constantFrom(...SPELLINGS))
  .map(([at, spell]) => (at === 0 ? spell : (data: string) => data));
/** Chunks that differ from the first one in text and padding, and others. */
const chunks = fc
  .tuple(chunk, fc.array(fc.tuple(fc.nat(7), chunk, saying, padding, spelling), { minLength: 2, maxLength: 10 }))
  .map(([first, others]) => [
    JSON.stringify(first),
    ...others.map(([at, other, content, obfuscation, spell]) => {
      if (at === 0) return spell(JSON.stringify(other));
      const said = JSON.stringify(content);
      const padded = JSON.stringify(first).replace(/"obfuscation":"\w*"/, `"obfuscation":"${obfuscation}"`);
      return spell(padded.replace(/"content":(?:"(?:[^"\\]|\\.)*"|[^,}]*)/, () => `"content":${said}`));
    }),
  ]);

test('a chunk of text alone reads as any chunk does', () => {
  let unparsed = 0;
  fc.assert(
    fc.property(chunks, fc.nat(2 * SPELLINGS.length), (given, all) => {
      unparsed += expectSame(given.map((data) => SPELLINGS[all]?.(data) ?? data));
    }),
    { numRuns: 1000 },
  );
  expect(unparsed).toBeGreaterThan(300);
});

test('so does every recorded one', () => {
  for (const { stream } of [...ANSWERS, ...COMPATIBLE_ANSWERS]) {
    const texts = new SseDecoder().push(new TextEncoder().encode(stream)).map(({ data }) => data);
    expectSame(texts.filter((data) => data.startsWith('{')));
  }
});

test('most chunks of a vendor are not parsed', () => {
  const texts = ['Hello', ' world', '!', ' "quoted"', ' And', ' on'];
  const chunks = texts.map((content, index) =>
    JSON.stringify({
      ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', service_tier: 'default' },
      choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }],
      ...{ usage: null, obfuscation: 'x'.repeat(index) },
    }),
  );
  expect(expectSame([chunks[0]?.replace('"content"', '"role":"assistant","content"') ?? '', ...chunks])).toBe(5);
});

test('a run of chunks that arrives at once decodes as byte after byte', () => {
  let runs = 0;
  fc.assert(
    fc.property(chunks, (given) => {
      const bytes = new TextEncoder().encode([...given, '[DONE]'].map((data) => `data: ${data}\n\n`).join(''));
      const single = decodePieces(Array.from(bytes, (byte) => new Uint8Array([byte])));
      const whole = decodePieces([bytes]);
      expect(whole).toEqual(single);
      if (whole.events.filter(({ type }) => type === 'text').length > 2) runs += 1;
    }),
    { numRuns: 300 },
  );
  expect(runs).toBeGreaterThan(30);
});

function decodePieces(pieces: readonly Uint8Array[]) {
  const decoder = createStreamDecoder('openai');
  const events: ChatEvent[] = [];
  let forwarded = '';
  let error: string | undefined;
  const add = (batch: EventBatch) => {
    events.push(...batch.events);
    if (batch.wire?.kind === 'bytes') forwarded += new TextDecoder().decode(batch.wire.bytes);
  };
  try {
    for (const piece of pieces) add(decoder.push(piece));
    add(decoder.end());
  } catch (cause) {
    error = String(cause);
  }
  return { events, forwarded, error };
}

/** Named events are never looked at as texts alone. Returns how many weren't parsed. */
function expectSame(chunks: readonly string[]): number {
  const { parsed, ...found } = decodeAll(chunks, undefined);
  const { parsed: all, ...general } = decodeAll(chunks, 'chunk');
  expect(found).toEqual(general);
  return all - parsed;
}

function decodeAll(chunks: readonly string[], event: string | undefined) {
  const stream = new ChatStream('openai');
  const events: ChatEvent[] = [];
  const pieces: (string | Uint8Array)[] = [];
  let error: string | undefined;
  let parsed = 0;
  try {
    for (const [index, data] of chunks.entries()) {
      const text = { data, event, raw: new Uint8Array([index]) };
      if (stream.decodeLike(text, events)) pieces.push(text.raw);
      else {
        parsed += 1;
        const payload = JSON.parse(data) as JsonObject;
        stream.decode(payload, events, text);
        pieces.push(stream.encode(payload, text));
      }
    }
    pieces.push(stream.decodeEnd(events));
  } catch (cause) {
    error = String(cause);
  }
  return { events, pieces, error, parsed };
}
