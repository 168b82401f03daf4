import { describe, expect, test } from 'bun:test';
import type { EventBatch } from '@llm0/core/chat/event';
import { createUsageTap } from '../billing/usage-tap';
import { createStreamDecoder } from '../openai/decode-stream';
import { CHAT_BOUNDS, LOGPROBS_BOUNDS, parseAnswer, prepareAnswer } from '../translation/read-json';

const encode = (text: string) => new TextEncoder().encode(text);
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const chunk = (content: string) => event({ choices: [{ index: 0, delta: { content } }] });

describe('plain answers', () => {
  const wide = encode(`{"choices":[${'{},'.repeat(500_000)}{}]}`);

  test('with too many parts are refused before they are built', async () => {
    const answer = await prepareAnswer([wide], CHAT_BOUNDS);
    expect(() => parseAnswer('openai', answer)).toThrow('not JSON');
  });

  test('with likelihoods may hold more', async () => {
    const bytes = 'x'.charCodeAt(0);
    const words = Array.from({ length: 20 }, () => ({ token: 'x', logprob: -1.5, bytes: [bytes] }));
    const content = Array.from({ length: 4_000 }, () => ({ ...words[0], top_logprobs: words }));
    const answer = encode(JSON.stringify({ choices: [{ logprobs: { content } }] }));
    expect(parseAnswer('openai', await prepareAnswer([answer], LOGPROBS_BOUNDS)).choices).toHaveLength(1);
  });
});

describe('streamed answers', () => {
  /** Until it fails, or is taken whole. */
  const play = (piece: string, times: number) => {
    const decoder = createStreamDecoder('openai');
    const bytes = encode(piece);
    const batches: EventBatch[] = [decoder.push(encode(chunk('a')))];
    for (let i = 0; i < times; i++) batches.push(decoder.push(bytes));
    decoder.end();
    return batches;
  };

  test('of events that say nothing end', () => {
    expect(() => play('data: {}\n\n'.repeat(1_000), 200)).toThrow('empty events');
  });

  test('with too much text end', () => {
    expect(() => play(chunk('word '.repeat(50_000)), 100)).toThrow('more text than');
  });

  test('an event of more parts than any has is refused', async () => {
    const decoder = createStreamDecoder('openai');
    decoder.push(encode(`data: {"a":[${'{},'.repeat(300_000)}0]}\n\n`));
    expect(decoder.hasLarge).toBe(true);
    await expect(decoder.pushLarge?.()).rejects.toThrow('not a JSON object');
  });
});

test.each([
  ['an event', 'text/event-stream', (json: string) => `data: ${json}\n\n`],
  ['a line', 'application/x-ndjson', (json: string) => `${json}\n`],
  ['a large answer', 'application/json', (json: string) => json],
])('%s that is too much is not read for its usage', async (_name, type, write) => {
  const taken: object[] = [];
  const tap = createUsageTap(type, { take: (object: object) => void taken.push(object) } as never);
  await tap.push(encode(write(`{"a":${'[{"a":'.repeat(100_000)}1${'}]'.repeat(100_000)}}`)));
  await tap.end();
  expect(taken).toEqual([]);
});
