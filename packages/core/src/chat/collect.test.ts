import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ResponseCollector } from './collect';
import type { ChatEvent } from './event';
import type { JsonObject } from './json';
import { replayResponse } from './replay';
import type { ChatResponse, FinishReason } from './response';
import { collectBatches, collectEvents } from './testing/collect-events';
import { ZERO_USAGE } from './usage';

const text = fc.string({ maxLength: 10 });
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)));
const jsonObject = fc.dictionary(text, json, { maxKeys: 3 }).map((value) => value as JsonObject);
const extras = fc.dictionary(text, json, { minKeys: 1, maxKeys: 3 });
const finish = fc.constantFrom<FinishReason>('stop', 'length', 'tool_calls', 'content_filter');
const optional = { requiredKeys: [] as never[] };

const toolCall = fc.record(
  { id: text, name: text, arguments: text, custom: fc.constant(true), signature: text },
  { requiredKeys: ['id', 'name', 'arguments'] },
);
const choiceParts = fc.record(
  {
    text: fc.option(text),
    reasoning: text,
    reasoningDetails: fc.array(jsonObject, { minLength: 1, maxLength: 2 }),
    refusal: text,
    toolCalls: fc.array(toolCall, { minLength: 1, maxLength: 3 }),
    finishReason: finish,
    nativeFinishReason: text,
    messageExtra: extras,
    choiceExtra: extras,
  },
  { requiredKeys: ['text', 'finishReason'] },
);
const answer: fc.Arbitrary<ChatResponse> = fc
  .tuple(
    fc.record({ id: text, model: text, createdSeconds: fc.nat() }, optional),
    fc.array(choiceParts, { minLength: 1, maxLength: 3 }),
    fc.record({ usage: fc.constant({ ...ZERO_USAGE, inputTokens: 3 }), extra: extras }, optional),
  )
  .map(([head, choices, tail]) => ({
    ...head,
    choices: choices.map((choice, index) => ({ index, ...choice })),
    ...tail,
  }));

describe('collecting and replaying', () => {
  test('a replayed answer collects into the same answer', () => {
    fc.assert(
      fc.property(answer, (response) => {
        expect(collectEvents(replayResponse(response).events)).toEqual(response);
      }),
    );
  });

  test('an answer survives being kept as JSON', () => {
    fc.assert(
      fc.property(answer, (response) => {
        const kept = JSON.parse(JSON.stringify(response)) as ChatResponse;
        expect(collectEvents(replayResponse(kept).events)).toEqual(response);
      }),
    );
  });

  test('pieces of choices and of parallel calls are put together by index, in any interleaving', () => {
    const events: ChatEvent[] = [
      { type: 'start', id: 'a', model: 'm' },
      { type: 'text', choice: 1, text: 'B' },
      { type: 'tool-call', choice: 0, toolIndex: 1, id: 'c1', name: 'second' },
      { type: 'tool-call', choice: 0, toolIndex: 0, id: 'c0', name: 'first' },
      { type: 'tool-arguments', choice: 0, toolIndex: 1, text: '{"b"' },
      { type: 'tool-arguments', choice: 0, toolIndex: 0, text: '{}' },
      { type: 'tool-arguments', choice: 0, toolIndex: 1, text: ':2}' },
      { type: 'text', choice: 1, text: 'C' },
      { type: 'finish', choice: 1, reason: 'stop' },
      { type: 'finish', choice: 0, reason: 'tool_calls', nativeReason: 'tool_use' },
    ];
    expect(collectEvents(events)).toEqual({
      id: 'a',
      model: 'm',
      choices: [
        {
          index: 0,
          text: null,
          toolCalls: [
            { id: 'c0', name: 'first', arguments: '{}' },
            { id: 'c1', name: 'second', arguments: '{"b":2}' },
          ],
          finishReason: 'tool_calls',
          nativeFinishReason: 'tool_use',
        },
        { index: 1, text: 'BC', finishReason: 'stop' },
      ],
    });
  });

  test('usage is cumulative, logprobs are appended, audio pieces are joined, other extras are replaced', () => {
    const logprobs = (token: string) => ({ content: [{ token }], refusal: null });
    const response = collectEvents([
      { type: 'usage', usage: { ...ZERO_USAGE, outputTokens: 1 } },
      { type: 'extra', scope: 'choice', choice: 0, name: 'logprobs', value: logprobs('a') },
      { type: 'extra', scope: 'choice', choice: 0, name: 'logprobs', value: logprobs('b') },
      { type: 'extra', scope: 'message', choice: 0, name: 'audio', value: { id: 'x', transcript: 'he' } },
      { type: 'extra', scope: 'message', choice: 0, name: 'audio', value: { transcript: 'llo' } },
      { type: 'extra', scope: 'answer', name: 'tag', value: 1 },
      { type: 'extra', scope: 'answer', name: 'tag', value: 2 },
      { type: 'usage', usage: { ...ZERO_USAGE, outputTokens: 7 } },
    ]);
    expect(response.usage?.outputTokens).toBe(7);
    expect(response.extra).toEqual({ tag: 2 });
    expect(response.choices[0]?.choiceExtra).toEqual({
      logprobs: { content: [{ token: 'a' }, { token: 'b' }], refusal: null },
    });
    expect(response.choices[0]?.messageExtra).toEqual({ audio: { id: 'x', transcript: 'hello' } });
  });

  test('an answer is complete only when every choice was finished', () => {
    const collector = new ResponseCollector();
    expect(collector.complete).toBe(false);
    collector.add([{ type: 'text', choice: 0, text: 'a' }]);
    collector.add([{ type: 'finish', choice: 1, reason: 'stop' }]);
    expect(collector.complete).toBe(false);
    expect(collector.response().choices[0]?.finishReason).toBe('length');
    collector.add([{ type: 'finish', choice: 0, reason: 'stop' }]);
    expect(collector.complete).toBe(true);
  });

  test('the error of a stream is passed on', async () => {
    async function* broken() {
      yield { events: [] };
      throw new Error('cut');
    }
    await expect(collectBatches(broken())).rejects.toThrow('cut');
  });
});

test('texts beyond the bound are cut, everything else stays', () => {
  const collector = new ResponseCollector(10);
  const piece = (text: string): ChatEvent => ({ type: 'text', choice: 0, text });
  collector.add([piece('12345'), piece('67890')]);
  expect(collector.isCut).toBe(false);
  collector.add([piece('beyond'), piece('!'), { type: 'finish', choice: 0, reason: 'stop' }]);
  expect([collector.isCut, collector.characters, collector.complete]).toEqual([true, 17, true]);
  const [choice] = collector.response().choices;
  expect(choice).toMatchObject({ text: '1234567890', finishReason: 'stop' });
});
