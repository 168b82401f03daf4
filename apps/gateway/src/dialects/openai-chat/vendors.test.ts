import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatResponse } from '@llm0/core/chat/response';
import { collectEvents } from '@llm0/core/chat/testing/collect-events';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { ANSWERS as ANTHROPIC } from '@llm0/providers/anthropic/__fixtures__/answers';
import { anthropic } from '@llm0/providers/anthropic/index';
import { ANSWERS as BEDROCK } from '@llm0/providers/bedrock/__fixtures__/answers';
import { bedrock } from '@llm0/providers/bedrock/index';
import { ANSWERS as GEMINI } from '@llm0/providers/gemini/__fixtures__/answers';
import { gemini } from '@llm0/providers/gemini/index';
import { openai } from '@llm0/providers/openai/index';
import type { Provider } from '@llm0/providers/provider';
import { ANY_REQUEST, type AnswerFixture, bytesOf, decodeStream } from '@llm0/providers/provider.cases';
import type { ResponseSummary } from '../dialect';
import { openaiChat } from './index';

const SUMMARY: ResponseSummary = {
  requestId: 'req-1',
  provider: 'vendor',
  model: 'm',
  cache: 'miss',
  usage: ZERO_USAGE,
  costNanoUsd: 1,
  latencyMs: 1,
  createdSeconds: 1_760_000_000,
};
const CONTEXT = { requestId: 'req-1', model: 'm', createdSeconds: 1_760_000_000, request: ANY_REQUEST };

const VENDORS: readonly (readonly [Provider, readonly AnswerFixture<string | Uint8Array>[]])[] = [
  [anthropic, ANTHROPIC],
  [gemini, GEMINI],
  [bedrock, BEDROCK],
];

/** The stream that a client gets for a vendor's. */
function translateStream(provider: Provider, stream: string | Uint8Array): string {
  const encoder = openaiChat.createStreamEncoder(CONTEXT);
  const { events, error } = decodeStream(provider, [bytesOf(stream)]);
  expect(error).toBeUndefined();
  const bytes = [encoder.encode({ events }) ?? new Uint8Array(0), encoder.finish(SUMMARY)];
  return new TextDecoder().decode(Buffer.concat(bytes));
}

function chunksOf(text: string): JsonObject[] {
  const lines = text.split('\n').filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as JsonObject);
}

/** The whole answer that a client gets for a vendor's. */
function translateWhole(provider: Provider, plain: JsonObject): JsonObject {
  const { events, wire } = provider.decodeResponse(new TextEncoder().encode(JSON.stringify(plain)), ANY_REQUEST);
  expect(wire?.format).not.toBe(openaiChat.wireFormat);
  return JSON.parse(openaiChat.encodeResponse(collectEvents(events), SUMMARY)) as JsonObject;
}

/** Choices alone: ids, usage and metadata are the dialect's own affair. */
const choicesOf = (response: ChatResponse) => JSON.parse(JSON.stringify(response.choices));

describe.each(VENDORS)('answers of another vendor', (provider, fixtures) => {
  for (const fixture of fixtures) {
    const label = `${provider.name}: ${fixture.name}`;
    const expected = choicesOf(fixture.expected);

    test(`${label}: streamed, a client puts the same together`, () => {
      const text = translateStream(provider, fixture.stream);
      expect(choicesOf(collectEvents(decodeStream(openai, [new TextEncoder().encode(text)]).events))).toEqual(expected);
      const choices = chunksOf(text)
        .slice(0, -1)
        .flatMap((chunk) => chunk.choices as JsonObject[]);
      for (const { index } of fixture.expected.choices) {
        const own = choices.filter((choice) => choice.index === index);
        expect(own[0]?.delta).toMatchObject({ role: 'assistant' });
        expect(own.filter((choice) => choice.finish_reason !== null)).toHaveLength(1);
        expect(own.at(-1)?.finish_reason).not.toBeNull();
      }
      expect(text).toEndWith('data: [DONE]\n\n');
    });

    const { plain } = fixture;
    if (plain === undefined) continue;
    test(`${label}: whole, it says the same, with the vendor's own word for the end`, () => {
      const body = translateWhole(provider, plain);
      const bytes = new TextEncoder().encode(JSON.stringify(body));
      expect(choicesOf(collectEvents(openai.decodeResponse(bytes, ANY_REQUEST).events))).toEqual(expected);
      const [choice] = body.choices as JsonObject[];
      expect(choice?.native_finish_reason).toBe(fixture.expected.choices[0]?.nativeFinishReason as string);
    });
  }
});

describe('a turn sent back as the client got it', () => {
  /** What the vendor gets of its own earlier turn. */
  function sentBack(
    provider: Provider,
    fixtures: readonly AnswerFixture<string | Uint8Array>[],
    name: string,
    model: string,
  ): JsonObject {
    const plain = fixtures.find((fixture) => fixture.name.startsWith(name))?.plain;
    if (plain === undefined) throw new Error(`no fixture ${name}`);
    const [choice] = translateWhole(provider, plain).choices as [{ message: JsonObject }];
    const calls = (choice.message.tool_calls ?? []) as { id: string }[];
    const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: `of ${id}` }));
    const messages = [{ role: 'user', content: 'a' }, choice.message, ...results, { role: 'user', content: 'b' }];
    const request = openaiChat.decodeRequest({ model, messages } as JsonObject);
    const context = { connection: { baseUrl: 'https://h' }, model, dropParams: false };
    return JSON.parse(String(provider.encodeRequest(request, context).body)) as JsonObject;
  }

  test('anthropic: thoughts signed and sealed, text, calls and their results', () => {
    const thought = sentBack(anthropic, ANTHROPIC, 'thoughts', 'claude-sonnet-4-5');
    expect((thought.messages as JsonObject[])[1]?.content).toEqual([
      { type: 'thinking', thinking: 'Let me see…', signature: 'c2lnbmVk' },
      { type: 'redacted_thinking', data: 'c2VhbGVk' },
      { type: 'text', text: '42' },
    ]);
    const called = sentBack(anthropic, ANTHROPIC, 'text, then parallel calls', 'claude-sonnet-4-5');
    expect((called.messages as JsonObject[]).slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'One moment.' },
          { type: 'tool_use', id: 'toolu_w', name: 'weather', input: { city: 'Zürich' } },
          { type: 'tool_use', id: 'toolu_t', name: 'time', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_w', content: 'of toolu_w' },
          { type: 'tool_result', tool_use_id: 'toolu_t', content: 'of toolu_t' },
          { type: 'text', text: 'b' },
        ],
      },
    ]);
  });

  test('bedrock: thoughts signed and sealed, text, calls and their results', () => {
    const model = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
    const thought = sentBack(bedrock, BEDROCK, 'thoughts', model);
    expect((thought.messages as JsonObject[])[1]?.content).toEqual([
      { reasoningContent: { reasoningText: { text: 'Let me see…', signature: 'c2lnbmVk' } } },
      { reasoningContent: { redactedContent: 'c2VhbGVk' } },
      { text: '42' },
    ]);
    const called = sentBack(bedrock, BEDROCK, 'text, then parallel calls', model);
    expect((called.messages as JsonObject[])[2]?.content).toEqual([
      { toolResult: { toolUseId: 'tooluse_w', content: [{ text: 'of tooluse_w' }] } },
      { toolResult: { toolUseId: 'tooluse_t', content: [{ text: 'of tooluse_t' }] } },
      { text: 'b' },
    ]);
  });

  test('gemini: signatures of text and of calls, results by name', () => {
    const thought = sentBack(gemini, GEMINI, 'thoughts', 'gemini-3-flash-preview');
    expect((thought.contents as JsonObject[])[1]?.parts).toEqual([{ text: '42', thoughtSignature: 'c2lnbmVk' }]);
    const called = sentBack(gemini, GEMINI, 'text, then parallel calls', 'gemini-3-flash-preview');
    const id = 'call_aB3_d_0_0';
    expect((called.contents as JsonObject[]).slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          { text: 'One moment.' },
          { functionCall: { id, name: 'weather', args: { city: 'Zürich' } }, thoughtSignature: 'c2lnbmVk' },
          { functionCall: { id: 'fc-2', name: 'time', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id, name: 'weather', response: { output: `of ${id}` } } },
          { functionResponse: { id: 'fc-2', name: 'time', response: { output: 'of fc-2' } } },
          { text: 'b' },
        ],
      },
    ]);
  });
});
