import { describe, expect, test } from 'bun:test';
import { ResponseCollector } from '@llm0/core/chat/collect';
import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { replayResponse } from '@llm0/core/chat/replay';
import type { ChatRequest, ToolCall } from '@llm0/core/chat/request';
import type { ChatChoice, ChatResponse } from '@llm0/core/chat/response';
import { collectEvents } from '@llm0/core/chat/testing/collect-events';
import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { SseDecoder } from '@llm0/core/sse/decode-sse';
import { openai } from '@llm0/providers/openai/index';
import type { FakeBehaviour } from '@llm0/testing/fake-upstream/behaviour';
import { responsesFormat } from '@llm0/testing/fake-upstream/render-responses';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import OpenAI from 'openai';
import { ResponseStream } from 'openai/lib/responses/ResponseStream';
import type { ResponseSummary } from '../dialect';
import { openaiResponses } from './index';

const REQUEST_ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const body: JsonObject = { model: 'gpt-x', input: 'Hi', stream: true };
const request: ChatRequest = openaiResponses.decodeRequest(body);
const encoder = new TextEncoder();

const summary = (usage: Usage = ZERO_USAGE): ResponseSummary => ({
  requestId: REQUEST_ID,
  provider: 'alpha',
  model: 'gpt-x',
  cache: 'miss',
  usage,
  costNanoUsd: 1500,
  latencyMs: 12,
  createdSeconds: 1_760_000_000,
  request,
});

const text = fc.string({ maxLength: 20, unit: 'grapheme' });
const words = text.map((one) => `w${one}`);
const count = fc.nat({ max: 1000 });

const call: fc.Arbitrary<ToolCall> = fc.record(
  {
    id: fc.stringMatching(/^call_[a-z0-9]{1,8}$/),
    name: fc.stringMatching(/^[a-z_]{1,8}$/),
    arguments: fc.dictionary(fc.string({ maxLength: 4 }), fc.integer()).map((value) => JSON.stringify(value)),
    custom: fc.constant(true as const),
  },
  { requiredKeys: ['id', 'name', 'arguments'] },
);
const calls = fc.uniqueArray(call, { maxLength: 3, selector: (one) => one.id });

const detail = fc.record(
  {
    type: fc.constant('reasoning.text'),
    text: words,
    signature: fc.string({ minLength: 1, maxLength: 8 }),
    format: fc.constant('some-vendor-v1'),
  },
  { requiredKeys: ['type', 'text', 'format'] },
);

const usage = fc
  .record({ inputTokens: count, cacheReadTokens: count, outputTokens: count, reasoningTokens: count })
  .map((counts): Usage => ({ ...ZERO_USAGE, ...counts }));

/** Complete answers as our own types hold them, within what any format can say. */
const answer = fc
  .record({ said: fc.option(words), refusal: fc.option(words), reasoning: fc.option(words), calls, usage })
  .chain(({ said, refusal, reasoning, calls: toolCalls, usage: used }) =>
    fc
      .constantFrom(
        ...(toolCalls.length > 0 ? ['tool_calls' as const] : (['stop', 'length', 'content_filter'] as const)),
      )
      .map(
        (finishReason): ChatResponse => ({
          model: 'gpt-x',
          usage: used,
          choices: [
            {
              index: 0,
              text: said,
              finishReason,
              ...(refusal === null ? {} : { refusal }),
              ...(reasoning === null ? {} : { reasoning }),
              ...(toolCalls.length === 0 ? {} : { toolCalls }),
            },
          ],
        }),
      ),
  );

/** What an answer says, without the ids and marks that travel beside it. */
function gist(response: ChatResponse) {
  const { text: said, reasoning, refusal, toolCalls, finishReason } = response.choices[0] as ChatChoice;
  const usageOf = response.usage;
  return { said: said || null, reasoning, refusal, toolCalls, finishReason, usage: usageOf, model: response.model };
}

function decodeWhole(json: string): ChatResponse {
  return collectEvents(openai.decodeResponse(encoder.encode(json), request).events);
}

function decodeStream(chunks: readonly Uint8Array[]): ChatResponse {
  const decoder = openai.createStreamDecoder(request);
  const collector = new ResponseCollector();
  for (const chunk of chunks) if (!decoder.done) collector.add(decoder.push(chunk).events);
  collector.add(decoder.end().events);
  return collector.response();
}

function encodeStream(batches: readonly EventBatch[], end: 'finish' | GatewayError, used?: Usage): Uint8Array {
  const stream = openaiResponses.createStreamEncoder({
    requestId: REQUEST_ID,
    model: 'gpt-x',
    createdSeconds: 1_760_000_000,
    request,
  });
  const pieces = batches.map((batch) => stream.encode(batch)).filter((piece) => piece !== null);
  const last = end === 'finish' ? stream.finish(summary(used)) : stream.fail(end);
  return Buffer.concat([...pieces, last]);
}

/** The bytes cut at the given places. */
function cut(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [...new Set(cuts.map((at) => at % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, i) => bytes.slice(from, places[i] ?? bytes.length));
}

function eventsOf(bytes: Uint8Array): JsonObject[] {
  const decoder = new SseDecoder();
  return [...decoder.push(bytes), ...decoder.flush()].map(({ event, data }) => {
    const payload = JSON.parse(data) as JsonObject;
    expect(payload.type).toBe(event ?? '');
    return payload;
  });
}

/** What the SDK's own accumulator makes of the events; it throws on any slip in order, ids or indexes. */
async function accumulate(events: readonly JsonObject[]): Promise<OpenAI.Responses.Response> {
  const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('');
  return ResponseStream.fromReadableStream(new Response(lines).body as ReadableStream).finalResponse();
}

function outputOf({ response }: JsonObject): JsonValue[] {
  return (response as { output: JsonValue[] }).output;
}

/** The items without what the SDK adds to them. */
function asSent({ output }: OpenAI.Responses.Response): JsonValue {
  const added = new Set(['parsed', 'parsed_arguments']);
  return JSON.parse(JSON.stringify(output, (name, value) => (added.has(name) ? undefined : value))) as JsonValue;
}

function expectNumbered(events: readonly JsonObject[]): void {
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, i) => i));
}

describe('the native format decodes our encoding', () => {
  test('whole answers', () => {
    fc.assert(
      fc.property(answer, (response) => {
        const json = openaiResponses.encodeResponse(response, summary(response.usage));
        expect(gist(decodeWhole(json))).toEqual(gist(response));
      }),
      { numRuns: runs(200) },
    );
  });

  test('streams, at any chunking', () => {
    fc.assert(
      fc.property(answer, fc.array(fc.nat(), { maxLength: 12 }), (response, cuts) => {
        const bytes = encodeStream([replayResponse(response)], 'finish', response.usage);
        expect(gist(decodeStream(cut(bytes, cuts)))).toEqual(gist(response));
      }),
      { numRuns: runs(200) },
    );
  });

  test('answers sent back as input are the turn they were', () => {
    fc.assert(
      fc.property(answer, fc.array(detail, { maxLength: 2 }), (response, details) => {
        const [choice] = response.choices as [ChatChoice];
        const whole: ChatResponse = {
          ...response,
          choices: [{ ...choice, ...(details.length === 0 ? {} : { reasoningDetails: details }) }],
        };
        const { output } = JSON.parse(openaiResponses.encodeResponse(whole, summary())) as { output: JsonValue };
        const parts = [
          ...(choice.text === null ? [] : [{ type: 'text' as const, text: choice.text }]),
          ...(choice.refusal === undefined ? [] : [{ type: 'refusal' as const, text: choice.refusal }]),
        ];
        const plain = choice.reasoning === undefined ? [] : [{ text: choice.reasoning }];
        const reasoning = details.length === 0 ? plain : details.map(({ type: _type, ...one }) => one);
        if (parts.length === 0 && reasoning.length === 0 && choice.toolCalls === undefined) {
          // Nothing was said: there is nothing to send back.
          expect(output).toEqual([]);
          return;
        }
        const [turn] = openaiResponses.decodeRequest({ model: 'm', input: output }).messages;
        expect(turn).toEqual({
          role: 'assistant',
          content: parts,
          ...(choice.toolCalls === undefined ? {} : { toolCalls: choice.toolCalls }),
          ...(reasoning.length === 0 ? {} : { reasoning }),
        });
      }),
      { numRuns: runs(200) },
    );
  });
});

/** Pieces of an answer as vendors send them: thoughts, words and calls in turns, calls side by side. */
const pieces = fc
  .array(
    fc.oneof(
      words.map((one): ChatEvent => ({ type: 'text', choice: 0, text: one })),
      fc.constant<ChatEvent>({ type: 'text', choice: 0, text: '' }),
      words.map((one): ChatEvent => ({ type: 'reasoning', choice: 0, text: one })),
      words.map((one): ChatEvent => ({ type: 'refusal', choice: 0, text: one })),
      detail.map((one): ChatEvent => ({ type: 'reasoning-detail', choice: 0, detail: one })),
      fc.constant<ChatEvent>({ type: 'tool-call', choice: 0, toolIndex: -1, id: '', name: 'f' }),
      fc
        .record({ at: fc.nat(), text: words })
        .map(({ at, text: one }): ChatEvent => ({ type: 'tool-arguments', choice: 0, toolIndex: at, text: one })),
    ),
    { maxLength: 25 },
  )
  .map((events) => {
    let begun = 0;
    return events.flatMap((event): ChatEvent[] => {
      if (event.type === 'tool-call') {
        begun += 1;
        return [{ ...event, toolIndex: begun - 1, id: `call_${begun}` }];
      }
      if (event.type !== 'tool-arguments') return [event];
      return begun === 0 ? [] : [{ ...event, toolIndex: event.toolIndex % begun }];
    });
  });

const batchesOf = (events: readonly ChatEvent[], cuts: readonly number[]): EventBatch[] => {
  const places = [...new Set(cuts.map((at) => at % (events.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, i) => ({ events: events.slice(from, places[i] ?? events.length) }));
};

describe("the SDK's accumulator takes every stream of ours", () => {
  test('any events in any order', async () => {
    await fc.assert(
      fc.asyncProperty(pieces, fc.array(fc.nat(), { maxLength: 6 }), async (events, cuts) => {
        const whole: ChatEvent[] = [{ type: 'start', model: 'gpt-x' }, ...events];
        const finish: ChatEvent = { type: 'finish', choice: 0, reason: 'stop' };
        const sent = eventsOf(encodeStream([...batchesOf(whole, cuts), { events: [finish] }], 'finish'));
        expectNumbered(sent);
        const seen = await accumulate(sent);
        const expected = collectEvents([...events, finish]).choices[0];
        expect(seen.output_text).toBe(expected?.text ?? '');
        const called = seen.output.flatMap((item) => (item.type === 'function_call' ? [item.arguments] : []));
        expect(called).toEqual((expected?.toolCalls ?? []).map((one) => one.arguments));
        expect(seen.status).toBe('completed');
        // What was told in pieces is what the last event holds.
        const done = sent.flatMap((event) => (event.type === 'response.output_item.done' ? [event] : []));
        const byIndex = done.toSorted((a, b) => Number(a.output_index) - Number(b.output_index));
        expect(byIndex.map(({ item }) => item ?? null)).toEqual(outputOf(sent.at(-1) ?? {}));
      }),
      { numRuns: runs(200) },
    );
  });

  test('an error anywhere is an error, and never looks complete', async () => {
    await fc.assert(
      fc.asyncProperty(pieces, async (events) => {
        const error = new GatewayError('upstream_error', 'alpha broke off', { param: 'x' });
        const sent = eventsOf(encodeStream([{ events }], error));
        expectNumbered(sent);
        expect(sent.some(({ type }) => type === 'response.completed')).toBe(false);
        expect(sent.at(-1)).toMatchObject({ type: 'response.failed', response: { status: 'failed' } });
        const thrown = await accumulate(sent).then(
          () => undefined,
          (cause: unknown) => cause,
        );
        expect(thrown).toBeInstanceOf(OpenAI.APIError);
        expect(thrown).toMatchObject({ code: 'upstream_error', param: 'x' });
      }),
      { numRuns: runs(100) },
    );
  });
});

const BEHAVIOURS: readonly (readonly [string, FakeBehaviour])[] = [
  ['words', { text: 'Grüße 😀', chunks: 4 }],
  ['parallel calls', { toolCalls: [1, 2].map((n) => ({ name: `f${n}`, arguments: `{"n":${n}}` })) }],
  ['reasoning', { reasoning: 'Hm, hm', text: '42', chunks: 2 }],
  ['a refusal', { refusal: 'No.' }],
  ['a cut', { text: 'Once upon', finishReason: 'length', chunks: 2 }],
  [
    'a built-in tool',
    {
      text: 'Found.',
      chunks: 1,
      outputItems: [{ id: 'ws_vendor1', type: 'web_search_call', status: 'completed', action: { type: 'search' } }],
    },
  ],
];

describe.each(BEHAVIOURS)('a native stream of %s', (_name, behaviour) => {
  const vendor = Buffer.from(responsesFormat.events(behaviour, { model: 'gpt-x', includeUsage: true }).join(''));
  const plain = responsesFormat.plain(behaviour, { model: 'gpt-x', includeUsage: true });

  const forward = (cuts: readonly number[]) => {
    const decoder = openai.createStreamDecoder(request);
    const batches = cut(vendor, cuts).flatMap((chunk) => (decoder.done ? [] : [decoder.push(chunk)]));
    return [...batches, decoder.end()];
  };

  test('is forwarded whole at any chunking, under our id', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { maxLength: 20 }), async (cuts) => {
        const sent = eventsOf(encodeStream(forward(cuts), 'finish'));
        expectNumbered(sent);
        const seen = await accumulate(sent);
        expect(asSent(seen)).toEqual(plain.output ?? null);
        expect(seen.id).toBe('resp_01890a5dac96774bbcceb302099a8057');
        expect(seen).toMatchObject({ vendor_note: 'kept', status: plain.status, cost_usd: 0.0000015 });
      }),
      { numRuns: runs(60) },
    );
  });

  test('is the same answer plain, streamed and replayed from a cache', async () => {
    const streamed = collectEvents(forward([]).flatMap(({ events }) => events));
    const whole = collectEvents(openai.decodeResponse(encoder.encode(JSON.stringify(plain)), request).events);
    expect(streamed).toEqual(whole);
    const replayed = eventsOf(encodeStream([replayResponse(whole)], 'finish', whole.usage));
    expectNumbered(replayed);
    const seen = await accumulate(replayed);
    const hit = JSON.parse(openaiResponses.encodeResponse(whole, summary(whole.usage))) as JsonObject;
    expect(asSent(seen)).toEqual(hit.output ?? null);
    expect(gist(decodeWhole(JSON.stringify(hit)))).toEqual(gist(whole));
    expect(gist(decodeStream([encodeStream([replayResponse(whole)], 'finish', whole.usage)]))).toEqual(gist(whole));
  });
});
