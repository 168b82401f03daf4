import { describe, expect, test } from 'bun:test';
import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import type { JsonObject } from '@llm0/core/chat/json';
import { replayResponse } from '@llm0/core/chat/replay';
import type { ChatRequest } from '@llm0/core/chat/request';
import { collectEvents } from '@llm0/core/chat/testing/collect-events';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { ANSWERS as ANTHROPIC } from '@llm0/providers/anthropic/__fixtures__/answers';
import { anthropic } from '@llm0/providers/anthropic/index';
import { ANSWERS as BEDROCK } from '@llm0/providers/bedrock/__fixtures__/answers';
import { bedrock } from '@llm0/providers/bedrock/index';
import { ANSWERS as GEMINI } from '@llm0/providers/gemini/__fixtures__/answers';
import { gemini } from '@llm0/providers/gemini/index';
import { ANSWERS as OPENAI } from '@llm0/providers/openai/__fixtures__/answers';
import { openai } from '@llm0/providers/openai/index';
import { ANSWERS as COMPATIBLE } from '@llm0/providers/openai-compatible/__fixtures__/answers';
import type { Provider } from '@llm0/providers/provider';
import { ANY_REQUEST, type AnswerFixture, bytesOf } from '@llm0/providers/provider.cases';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import type { ResponseSummary } from '../dialect';
import { anthropicMessages } from './index';
import { readShape } from './read-shape.fixture';

const SUMMARY: ResponseSummary = {
  requestId: 'req-1',
  provider: 'p',
  model: 'm',
  cache: 'miss',
  usage: { ...ZERO_USAGE, inputTokens: 30, cacheReadTokens: 64, outputTokens: 5 },
  costNanoUsd: 1_000_000_000_000_001,
  latencyMs: 12.34567,
  createdSeconds: 1_760_000_000,
};
const THINKS: ChatRequest = { ...ANY_REQUEST, thinking: { type: 'adaptive' } };
const NATIVE: ChatRequest = { ...ANY_REQUEST, wire: { format: 'anthropic-messages', body: {} } };

function encodeAll(batches: readonly EventBatch[], request: ChatRequest = THINKS): string {
  const encoder = anthropicMessages.createStreamEncoder({
    requestId: 'req-1',
    model: 'm',
    createdSeconds: 0,
    request,
  });
  const pieces = batches.flatMap((batch) => encoder.encode(batch) ?? []);
  return new TextDecoder().decode(Buffer.concat([...pieces, encoder.finish({ ...SUMMARY, request })]));
}

function batchesOf(
  provider: Provider,
  bytes: Uint8Array,
  cuts: readonly number[],
  request = ANY_REQUEST,
): EventBatch[] {
  const decoder = provider.createStreamDecoder(request);
  const sorted = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  const batches = sorted.slice(1).map((to, i) => decoder.push(bytes.slice(sorted[i], to)));
  return [...batches, decoder.end()];
}

/** What a caller of this dialect reads of an answer: thoughts, words, calls. */
function saidBy({ content }: { content: JsonObject[] }) {
  const join = (type: string, field: string) =>
    content
      .filter((block) => block.type === type)
      .map((block) => String(block[field]))
      .join('');
  return {
    text: join('text', 'text'),
    thinking: join('thinking', 'thinking'),
    calls: content.filter(({ type }) => type === 'tool_use').map(({ id, name, input }) => ({ id, name, input })),
  };
}

function saidByChoice({ expected }: AnswerFixture<string | Uint8Array>) {
  const choice = expected.choices.find(({ index }) => index === 0);
  return {
    text: (choice?.text ?? '') + (choice?.refusal ?? ''),
    thinking: choice?.reasoning ?? '',
    calls: (choice?.toolCalls ?? []).map(({ id, name, arguments: json }) => ({
      id,
      name,
      input: json === '' ? {} : JSON.parse(json),
    })),
  };
}

type Vendor = readonly [name: string, Provider, readonly AnswerFixture<string | Uint8Array>[]];
const VENDORS: readonly Vendor[] = [
  ['openai', openai, OPENAI],
  ['compatible servers', openai, COMPATIBLE],
  ['anthropic', anthropic, ANTHROPIC],
  ['gemini', gemini, GEMINI],
  ['bedrock', bedrock, BEDROCK],
];

describe.each(VENDORS)('answers of %s', (_vendor, provider, fixtures) => {
  const isReadable = ({ expected }: AnswerFixture<string | Uint8Array>) =>
    expected.choices[0]?.toolCalls?.every(({ custom }) => custom !== true) ?? true;
  for (const fixture of fixtures.filter(isReadable)) {
    test(`${fixture.name}: the one shape, at any chunking`, () => {
      const bytes = bytesOf(fixture.stream);
      const expected = saidByChoice(fixture);
      fc.assert(
        fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
          expect(saidBy(readShape(encodeAll(batchesOf(provider, bytes, cuts))))).toEqual(expected);
        }),
        { numRuns: 20 },
      );
    });
    test(`${fixture.name}: replayed from a cache it says the same`, () => {
      expect(saidBy(readShape(encodeAll([replayResponse(fixture.expected)])))).toEqual(saidByChoice(fixture));
    });
    test(`${fixture.name}: whole, it says the same`, () => {
      const body = JSON.parse(anthropicMessages.encodeResponse(fixture.expected, { ...SUMMARY, request: THINKS }));
      expect(saidBy(body)).toEqual(saidByChoice(fixture));
    });
  }
});

describe('answers of the same format', () => {
  for (const fixture of ANTHROPIC) {
    test(`${fixture.name}: forwarded as they came, at any chunking`, () => {
      const bytes = bytesOf(fixture.stream);
      const expected = String(fixture.stream).replace(/event: message_stop\n[\s\S]*$/, '');
      fc.assert(
        fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
          const text = encodeAll(batchesOf(anthropic, bytes, cuts, NATIVE), NATIVE);
          expect(text.startsWith(expected)).toBe(true);
          expect(text.slice(expected.length)).toMatch(/^event: message_stop\ndata: \{.*\}\n\n$/);
        }),
        { numRuns: 20 },
      );
    });
    test(`${fixture.name}: its blocks come back from a cache, streamed and whole`, () => {
      const { plain } = fixture;
      if (plain === undefined || JSON.stringify(plain).includes('llm0_json_answer')) return;
      const batch = anthropic.decodeResponse(new TextEncoder().encode(JSON.stringify(plain)), NATIVE);
      const kept = JSON.parse(JSON.stringify(collectEvents(batch.events)));
      const isRefusal = plain.stop_reason === 'refusal';
      const content = isRefusal ? [{ type: 'text', text: kept.choices[0].refusal }] : plain.content;
      const { content: streamed, stop_reason } = readShape(encodeAll([replayResponse(kept)], NATIVE));
      expect([streamed, stop_reason]).toEqual([content, plain.stop_reason] as never);
      const whole = JSON.parse(anthropicMessages.encodeResponse(kept, SUMMARY));
      expect([whole.content, whole.stop_reason]).toEqual([content, plain.stop_reason]);
      const live = JSON.parse(anthropicMessages.encodeResponse(kept, SUMMARY, plain));
      expect(live).toEqual({ ...plain, latency_ms: 12.346, cost_usd: expect.any(Number) });
    });
  }

  test('a whole body in place of a stream is told as one', () => {
    const plain = ANTHROPIC.find(({ name }) => name.startsWith('a search'))?.plain ?? {};
    const batch = anthropic.decodeResponse(new TextEncoder().encode(JSON.stringify(plain)), NATIVE);
    expect(readShape(encodeAll([batch], NATIVE)).content).toEqual(plain.content as JsonObject[]);
  });

  test('a server that leaves out the first and the last event is completed', () => {
    const block =
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n';
    const piece = 'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}\n\n';
    const stop = 'data: {"type":"message_stop"}\n\n';
    const read = (text: string) => readShape(encodeAll(batchesOf(anthropic, bytesOf(text), [], NATIVE), NATIVE));
    expect(read(block + piece + stop).content).toEqual([{ type: 'text', text: 'x' }]);
    const start =
      'data: {"type":"message_start","message":{"type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}\n\n';
    const end = 'data: {"type":"content_block_stop","index":0}\n\n';
    expect(read(start + block + piece + end + stop)).toMatchObject({ stop_reason: 'end_turn' });
  });
});

describe('the shape of single things', () => {
  const start: ChatEvent = { type: 'start', id: 'id', model: 'm' };
  const finish: ChatEvent = { type: 'finish', choice: 0, reason: 'stop', nativeReason: 'stop' };
  const call = (toolIndex: number, name: string): ChatEvent => ({
    ...{ type: 'tool-call', choice: 0, toolIndex, id: `id_${name}`, name },
  });
  const piece = (toolIndex: number, text: string): ChatEvent => ({
    type: 'tool-arguments',
    choice: 0,
    toolIndex,
    text,
  });
  const read = (events: ChatEvent[], request?: ChatRequest) =>
    readShape(
      encodeAll(
        events.map((event) => ({ events: [event] })),
        request,
      ),
    );

  test('calls whose pieces come mixed, with words between, are put one behind the other', () => {
    const scripts: readonly ChatEvent[][] = [
      [call(0, 'a'), piece(0, '{"x":1}')],
      [call(1, 'b'), piece(1, '{"y":'), piece(1, '"}"}')],
      [call(2, 'c')],
      [call(3, 'd'), piece(3, '{'), piece(3, '}')],
      [{ type: 'text', choice: 0, text: 'words' }],
    ];
    const order = fc.shuffledSubarray(
      scripts.flatMap((script, i) => script.map(() => i)),
      { minLength: scripts.flat().length },
    );
    fc.assert(
      fc.property(order, (turns) => {
        const queues = scripts.map((script) => [...script]);
        const events = turns.flatMap((i) => queues[i]?.shift() ?? []);
        const said = saidBy(read([start, ...events, finish]));
        expect(said.text).toBe('words');
        expect(said.calls.sort((a, b) => String(a.id).localeCompare(String(b.id)))).toEqual([
          { id: 'id_a', name: 'a', input: { x: 1 } },
          { id: 'id_b', name: 'b', input: { y: '}' } },
          { id: 'id_c', name: 'c', input: {} },
          { id: 'id_d', name: 'd', input: {} },
        ]);
      }),
      { numRuns: runs(200) },
    );
  });

  test('an end that does not tell of its calls tells of them here', () => {
    expect(read([start, call(0, 'a'), piece(0, '{}'), finish]).stop_reason).toBe('tool_use');
    expect(read([start, { ...finish, reason: 'length', nativeReason: 'length' }]).stop_reason).toBe('max_tokens');
    expect(read([start, { ...finish, reason: 'content_filter', nativeReason: 'SAFETY' }]).stop_reason).toBe('refusal');
    expect(read([start, { ...finish, nativeReason: 'pause_turn' }]).stop_reason).toBe('pause_turn');
  });

  test('thoughts nobody asked for are not shown, but those of its own vendor', () => {
    const thought: ChatEvent = { type: 'reasoning', choice: 0, text: 'Hm' };
    const words: ChatEvent = { type: 'text', choice: 0, text: 'x' };
    const own: ChatEvent = {
      ...{ type: 'reasoning-detail', choice: 0 },
      detail: { type: 'reasoning.text', text: 'Hm', signature: 's', format: 'anthropic-claude-v1' },
    };
    const types = (events: ChatEvent[], request: ChatRequest) => read(events, request).content.map(({ type }) => type);
    expect(types([start, thought, words, finish], ANY_REQUEST)).toEqual(['text']);
    expect(types([start, thought, words, finish], THINKS)).toEqual(['thinking', 'text']);
    expect(read([start, thought, own, words, finish], ANY_REQUEST).content[0]).toEqual({
      type: 'thinking',
      thinking: 'Hm',
      signature: 's',
    });
  });

  test('usage: all of it at the end, exact cost in the last event', () => {
    const text = encodeAll([{ events: [start, finish] }]);
    expect(readShape(text).usage).toMatchObject({
      input_tokens: 30,
      cache_read_input_tokens: 64,
      output_tokens: 5,
    });
    expect(text).toEndWith('"provider":"p","cache":"miss","cost_usd":1000000.000000001}\n\n');
  });

  test('a failure is an error event with the envelope of the format', () => {
    const encoder = anthropicMessages.createStreamEncoder({
      ...{ requestId: 'req-1', model: 'm', createdSeconds: 0, request: ANY_REQUEST },
    });
    const bytes = encoder.fail(new GatewayError('upstream_timeout', 'late'), 'req-1');
    expect(new TextDecoder().decode(bytes)).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"timeout_error","message":"late","code":"upstream_timeout","param":null},"request_id":"req-1"}\n\n',
    );
  });
});
