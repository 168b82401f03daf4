import { describe, expect, test } from 'bun:test';
import type { ChatEvent } from '@llm0/core/chat/event';
import { collectEvents } from '@llm0/core/chat/testing/collect-events';
import { openai } from '../index';

const HEAD = { id: 'cmpl-1', object: 'text_completion', created: 5, model: 'm' };
const part = openai.completions;
if (part === undefined) throw new Error('the vendor of the format continues text');

const piece = (index: number, text: string, more: object = {}) => ({
  ...HEAD,
  choices: [{ index, text, logprobs: null, finish_reason: null, ...more }],
});
const LOGPROBS = (token: string, at: number) => ({
  logprobs: { tokens: [token], token_logprobs: [-1], top_logprobs: [{ [token]: -1 }], text_offset: [at] },
});
const STREAM = [
  piece(0, 'Grü', LOGPROBS('Grü', 0)),
  piece(1, 'two'),
  piece(0, 'ße 🌍', LOGPROBS('ße 🌍', 3)),
  piece(0, '', { finish_reason: 'stop', stop_reason: 'END' }),
  piece(1, '', { finish_reason: 'length' }),
  { ...HEAD, choices: [], usage: { prompt_tokens: 4, completion_tokens: 6, total_tokens: 10 } },
];
const sse = (chunks: readonly object[]) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');

function decode(text: string, size: number): ChatEvent[] {
  const decoder = part?.createStreamDecoder();
  const bytes = new TextEncoder().encode(text);
  const events: ChatEvent[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const batch = decoder?.push(bytes.slice(at, at + size));
    expect(batch?.wire).toBeUndefined();
    events.push(...(batch?.events ?? []));
  }
  return [...events, ...(decoder?.end().events ?? [])];
}

const EXPECTED = {
  ...{ id: 'cmpl-1', model: 'm', createdSeconds: 5 },
  usage: { inputTokens: 4, outputTokens: 6 },
  choices: [
    {
      ...{ index: 0, text: 'Grüße 🌍', finishReason: 'stop' },
      choiceExtra: { stop_reason: 'END', logprobs: { tokens: ['Grü', 'ße 🌍'], text_offset: [0, 3] } },
    },
    { index: 1, text: 'two', finishReason: 'length' },
  ],
};

describe('continued text', () => {
  test.each([1, 2, 3, 7, 50, 10_000])('streamed, it is the same in pieces of %p bytes', (size) => {
    expect(collectEvents(decode(`${sse(STREAM)}data: [DONE]\n\n`, size))).toMatchObject(EXPECTED);
  });

  test('also without an end mark, or a finish', () => {
    expect(collectEvents(decode(sse(STREAM), 10_000))).toMatchObject(EXPECTED);
    const { choices } = collectEvents(decode(`${sse([piece(0, 'a')])}data: [DONE]\n\n`, 10_000));
    expect(choices).toMatchObject([{ text: 'a', finishReason: 'stop' }]);
  });

  test('a stream that breaks off, fails or says nothing is no answer', () => {
    expect(() => decode(sse([piece(0, 'a')]), 10_000)).toThrow('before the answer was complete');
    expect(() => decode(`${sse([piece(0, 'a')])}data: {"error":{"message":"broke"}}\n\n`, 10_000)).toThrow('broke');
    expect(() => decode('data: [DONE]\n\n', 10_000)).toThrow();
  });

  test('whole, in this format and in that of chat', () => {
    const texts = [
      { index: 0, text: 'hi', finish_reason: 'stop' },
      { index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' },
    ];
    for (const choice of texts) {
      const body = new TextEncoder().encode(JSON.stringify({ ...HEAD, choices: [choice] }));
      const batch = part.decodeResponse(body);
      expect(batch.wire).toBeUndefined();
      expect(collectEvents(batch.events).choices).toMatchObject([{ text: 'hi', finishReason: 'stop' }]);
    }
    const thought = { index: 0, text: '', reasoning: 'hmm', finish_reason: 'stop' };
    const { events } = part.decodeResponse(new TextEncoder().encode(JSON.stringify({ ...HEAD, choices: [thought] })));
    expect(collectEvents(events).choices).toMatchObject([{ reasoning: 'hmm' }]);
    expect(() => part.decodeResponse(new TextEncoder().encode('{"choices":[]}'))).toThrow('without any message');
  });
});
