import { describe, expect, test } from 'bun:test';
import { findRefusal } from '@llm0/core/cache/semantic/guards/near-match-guards';
import { benchKey, benchKeyHash } from './bench-keys';
import type { RequestShape } from './load-job';
import { createBodyMaker, createHeaderMaker, respace, roundOf, TAUGHT } from './make-request';

const SHAPE: RequestShape = { model: 'm', stream: false, question: 'unique' };
const questionOf = (body: string) =>
  (JSON.parse(body) as { messages: { content: string }[] }).messages[0]?.content ?? '';

describe('bodies', () => {
  test('of the same question are equal, of different ones never', () => {
    const same = createBodyMaker({ ...SHAPE, question: 'same' }, 'run');
    expect(same()).toBe(same());
    const unique = createBodyMaker(SHAPE, 'run');
    expect(new Set(Array.from({ length: 100 }, unique)).size).toBe(100);
    expect(createBodyMaker(SHAPE, 'one')()).not.toBe(createBodyMaker(SHAPE, 'two')());
  });

  test('are as large as asked for', () => {
    const body = createBodyMaker({ ...SHAPE, bytes: 100_000 }, 'run')();
    expect(questionOf(body).length).toBeGreaterThanOrEqual(100_000);
    expect(questionOf(body).length).toBeLessThan(100_100);
  });

  test('carry what the dialect and the fake upstream need', () => {
    const messages = createBodyMaker({ ...SHAPE, path: '/v1/messages' }, 'run')();
    expect(JSON.parse(messages)).toMatchObject({ model: 'm', max_tokens: 256 });
    const responses = createBodyMaker({ ...SHAPE, path: '/v1/responses' }, 'run')();
    expect(JSON.parse(responses)).toMatchObject({ model: 'm', input: expect.stringContaining('question run-') });
    const embeddings = createBodyMaker({ ...SHAPE, path: '/v1/embeddings', question: 'same' }, 'run')();
    expect(JSON.parse(embeddings)).toEqual({ model: 'm', input: 'the same question' });
    const long = createBodyMaker({ ...SHAPE, stream: true, chunks: 500 }, 'run')();
    expect(JSON.parse(long)).toMatchObject({ stream: true, x_fake: { chunks: 500 } });
  });

  test('rewordings all differ, and no guard refuses them for the taught question', () => {
    const make = createBodyMaker({ ...SHAPE, question: 'reworded' }, 'run');
    const questions = Array.from({ length: 500 }, () => questionOf(make()));
    expect(new Set(questions).size).toBe(500);
    for (const question of questions.slice(0, 20)) expect(findRefusal(TAUGHT, question)).toBeUndefined();
  });
});

test('each variant spaces the words in its own way', () => {
  const all = Array.from({ length: 27 }, (_, variant) => respace('a b c d', variant));
  expect(new Set(all).size).toBe(27);
  expect(new Set(all.map((text) => text.replaceAll(/ +/g, ' ')))).toEqual(new Set(['a b c d']));
});

test('a round holds each shape as often as its share says, spread out', () => {
  const [a, b]: RequestShape[] = [
    { ...SHAPE, model: 'a', share: 6 },
    { ...SHAPE, model: 'b', share: 3 },
  ];
  const models = roundOf([a, b].filter((shape) => shape !== undefined)).map(({ model }) => model);
  expect(models.toSorted().join('')).toBe('aaaaaabbb');
  expect(models.join('')).not.toContain('bb');
});

test('many callers take turns, each with its own key and customer', () => {
  const next = createHeaderMaker({ type: 'many', count: 2, customers: true });
  const asked = [next(), next(), next()];
  expect(asked[0]).toEqual(asked[2] ?? {});
  expect(asked.map((headers) => headers.authorization)).toEqual([0, 1, 0].map((i) => `Bearer ${benchKey(i)}`));
  expect(asked[1]).toMatchObject({ 'x-customer-id': 'bench-customer-1' });
  expect(benchKey(0)).toMatch(/^llm0_live_[0-9a-f]{64}$/);
  expect(benchKeyHash(0)).toMatch(/^[0-9a-f]{64}$/);
});
