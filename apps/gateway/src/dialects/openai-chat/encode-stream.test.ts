import { describe, expect, test } from 'bun:test';
import type { EventBatch } from '@llm0/core/chat/event';
import type { JsonObject } from '@llm0/core/chat/json';
import { replayResponse } from '@llm0/core/chat/replay';
import type { ChatResponse } from '@llm0/core/chat/response';
import { collectEvents } from '@llm0/core/chat/testing/collect-events';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { SseDecoder } from '@llm0/core/sse/decode-sse';
import { ANSWERS, BROKEN } from '@llm0/providers/openai/__fixtures__/answers';
import { openai } from '@llm0/providers/openai/index';
import { ANSWERS as COMPATIBLE } from '@llm0/providers/openai-compatible/__fixtures__/answers';
import { ANY_REQUEST, decodeStream } from '@llm0/providers/provider.cases';
import type { ResponseSummary } from '../dialect';
import { openaiChat } from './index';

const SUMMARY: ResponseSummary = {
  requestId: 'req-1',
  provider: 'openai',
  model: 'gpt-test',
  cache: 'miss',
  usage: { ...ZERO_USAGE, inputTokens: 30, cacheReadTokens: 64, outputTokens: 5, reasoningTokens: 12 },
  costNanoUsd: 1_000_000_000_000_001,
  latencyMs: 12.34567,
  createdSeconds: 1_760_000_000,
};
const CONTEXT = { requestId: 'req-1', model: 'gpt-test', createdSeconds: 1_760_000_000, request: ANY_REQUEST };
const FIXTURES = [...ANSWERS, ...COMPATIBLE];

/** All bytes a client gets for the batches. */
function encodeAll(batches: readonly EventBatch[]): string {
  const encoder = openaiChat.createStreamEncoder(CONTEXT);
  const pieces = batches.flatMap((batch) => encoder.encode(batch) ?? []);
  return new TextDecoder().decode(Buffer.concat([...pieces, encoder.finish(SUMMARY)]));
}

function batchesOf(stream: string, chunkBytes = Number.POSITIVE_INFINITY): EventBatch[] {
  const decoder = openai.createStreamDecoder(ANY_REQUEST);
  const bytes = new TextEncoder().encode(stream);
  const batches: EventBatch[] = [];
  const size = Math.min(chunkBytes, bytes.length);
  for (let from = 0; from < bytes.length; from += size) batches.push(decoder.push(bytes.slice(from, from + size)));
  batches.push(decoder.end());
  return batches;
}

const withoutWire = (batch: EventBatch): EventBatch => ({ events: batch.events });

interface Seen {
  readonly chunks: readonly JsonObject[];
  readonly metadata: JsonObject;
}

/** Checks the one shape of contract §3 and gives the chunks back. */
function readShape(text: string): Seen {
  const datas = new SseDecoder().push(new TextEncoder().encode(text)).map((event) => event.data);
  expect(datas.at(-1)).toBe('[DONE]');
  const all = datas.slice(0, -1).map((data) => JSON.parse(data) as JsonObject);
  const metadata = all.at(-1) ?? {};
  const chunks = all.slice(0, -1);
  const roles = new Map<number, number>();
  const finishes = new Map<number, number>();
  for (const chunk of chunks) {
    expect(chunk.object).toBe('chat.completion.chunk');
    expect(chunk.usage ?? null).toBeNull();
    for (const choice of chunk.choices as JsonObject[]) {
      const index = choice.index as number;
      const delta = choice.delta as JsonObject;
      if (delta.role !== undefined) roles.set(index, (roles.get(index) ?? 0) + 1);
      expect(roles.get(index)).toBe(1);
      expect(finishes.get(index)).toBeUndefined();
      if (choice.finish_reason === null) continue;
      finishes.set(index, 1);
      expect(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']).toContain(
        String(choice.finish_reason),
      );
    }
  }
  expect([...finishes.keys()].sort()).toEqual([...roles.keys()].sort());
  expect<JsonObject>(metadata).toMatchObject({
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: {}, finish_reason: null }],
    provider: 'openai',
    cache: 'miss',
  });
  expect(metadata.id).toEqual(chunks[0]?.id ?? null);
  return { chunks, metadata };
}

/** What a client puts together, by the very decoder that reads vendors. */
function readBack(text: string): ChatResponse {
  const response = collectEvents(decodeStream(openai, [new TextEncoder().encode(text)]).events);
  const { latency_ms, cost_usd, provider, cache, ...extra } = response.extra ?? {};
  return { ...response, usage: undefined, extra };
}

describe('encoding a stream', () => {
  for (const fixture of FIXTURES) {
    const { usage: _usage, ...expected } = fixture.expected;
    const normal = (response: ChatResponse) => JSON.parse(JSON.stringify(response));
    const { service_tier: _tier, ...extra } = expected.extra ?? {};

    test(`${fixture.name}: forwarded bytes have the one shape and lose nothing`, () => {
      for (const size of [Number.POSITIVE_INFINITY, 7]) {
        const text = encodeAll(batchesOf(fixture.stream, size));
        readShape(text);
        const back = normal(readBack(text));
        expect(back.choices.map(stripNative)).toEqual(normal(expected).choices.map(stripNative));
        expect(back.extra).toMatchObject(extra);
      }
    });

    test(`${fixture.name}: encoded from events it says the same`, () => {
      const text = encodeAll(batchesOf(fixture.stream).map(withoutWire));
      readShape(text);
      const back = normal(readBack(text));
      expect(back.choices.map(stripNative)).toEqual(normal(expected).choices.map(stripNative));
      expect(back.extra).toMatchObject(extra);
    });

    test(`${fixture.name}: replayed from a cache it says the same`, () => {
      const text = encodeAll([replayResponse(fixture.expected)]);
      readShape(text);
      expect(normal(readBack(text)).choices.map(stripNative)).toEqual(normal(expected).choices.map(stripNative));
    });
  }

  test('plain chunks of the same format are the very bytes that came', () => {
    const stream = ANSWERS[0]?.stream ?? '';
    const [batch] = batchesOf(stream);
    const sent = new TextDecoder().decode(batch?.wire?.kind === 'bytes' ? batch.wire.bytes : undefined);
    const upToFinish = stream.indexOf('data: {', stream.indexOf('😀'));
    expect(sent.startsWith(stream.slice(0, upToFinish))).toBe(true);
  });

  test('the metadata chunk tells cost exactly, usage in nested counts, latency and origin', () => {
    const text = encodeAll(batchesOf(ANSWERS[0]?.stream ?? ''));
    expect(text).toContain('"cost_usd":1000000.000000001}');
    expect(readShape(text).metadata).toMatchObject({
      model: 'gpt-test-2026',
      latency_ms: 12.346,
      usage: {
        prompt_tokens: 94,
        completion_tokens: 17,
        total_tokens: 111,
        prompt_tokens_details: { cached_tokens: 64, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 12, audio_tokens: 0 },
      },
    });
  });

  test.each([
    [{ include_usage: true }, []],
    [{ include_usage: false }, [{ index: 0, delta: {}, finish_reason: null }]],
    [null, [{ index: 0, delta: {}, finish_reason: null }]],
  ])('stream_options %j: the metadata chunk has the choices %j', (stream_options, choices) => {
    const request = { ...ANY_REQUEST, extra: { stream_options } };
    const encoder = openaiChat.createStreamEncoder({ ...CONTEXT, request });
    const [chunk = ''] = new TextDecoder().decode(encoder.finish(SUMMARY)).split('\n\n');
    expect(JSON.parse(chunk.slice('data: '.length)).choices).toEqual(choices);
  });

  test('a failure after the first output never looks complete', () => {
    const encoder = openaiChat.createStreamEncoder(CONTEXT);
    encoder.encode({ events: [{ type: 'start' }, { type: 'text', choice: 0, text: 'Hi' }] });
    const frame = new TextDecoder().decode(encoder.fail(new GatewayError('upstream_error', 'it broke'), 'req-1'));
    expect(frame).not.toContain('[DONE]');
    const { error } = JSON.parse(frame.replace(/^data: /, ''));
    expect(error).toEqual({ message: 'it broke', type: 'api_error', code: 'upstream_error', param: null });
  });

  test('nothing is sent for batches without content', () => {
    const encoder = openaiChat.createStreamEncoder(CONTEXT);
    expect(
      encoder.encode({
        events: [
          { type: 'start', id: 'a' },
          { type: 'usage', usage: ZERO_USAGE },
        ],
      }),
    ).toBeNull();
  });

  test('a broken upstream stream gives the client what came before', () => {
    const broken = BROKEN.find((fixture) => fixture.failure === 'truncated');
    const decoder = openai.createStreamDecoder(ANY_REQUEST);
    const encoder = openaiChat.createStreamEncoder(CONTEXT);
    const sent = encoder.encode(decoder.push(new TextEncoder().encode(broken?.stream)));
    expect(new TextDecoder().decode(sent ?? undefined)).toContain('"lo"');
    expect(() => decoder.end()).toThrow('before the answer was complete');
  });
});

/** A vendor without a word of its own gets ours; ids made up for calls without one depend on the stream's id. */
function stripNative(choice: JsonObject): JsonObject {
  const { nativeFinishReason: _native, ...rest } = choice;
  return rest;
}
