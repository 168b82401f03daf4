import { expect, test } from 'bun:test';
import type { ImageRequest } from '../tasks/image';
import { CACHED_TASK_CODEC, digestTask } from './cached-task';

const file = (...pieces: string[]) => fileOf('p.png', ...pieces);
const fileOf = (name: string, ...pieces: string[]) => ({
  name,
  type: 'image/png',
  pieces: pieces.map((one) => Buffer.from(one)),
});
const request: ImageRequest = {
  model: 'm',
  prompt: 'p',
  stream: false,
  count: 1,
  extra: {},
  pictures: [file('abc', 'def')],
};
const digest = (more: Partial<ImageRequest> = {}, dialect = 'd') => digestTask(dialect, { ...request, ...more });

test('a request is another one by its fields and the bytes of its files', async () => {
  const first = await digest();
  const same: Partial<ImageRequest>[] = [
    { model: 'other' },
    { stream: true },
    { user: 'u' },
    { pictures: [file('a', 'bcde', 'f')] },
    { pictures: [fileOf('of another name.PNG', 'abc', 'def')] },
    { size: undefined },
  ];
  for (const more of same) expect([more, await digest(more)]).toEqual([more, first]);
  const others: Partial<ImageRequest>[] = [
    { prompt: 'q' },
    { count: 2 },
    { extra: { seed: 1 } },
    { pictures: [file('abc', 'deg')] },
    { pictures: [fileOf('p.jpg', 'abc', 'def')] },
    { pictures: [fileOf('p', 'abc', 'def')] },
    { pictures: [file('abc'), file('def')] },
    { pictures: [], mask: file('abc', 'def') },
  ];
  const found = await Promise.all([digest(), digest({}, 'e'), ...others.map((more) => digest(more))]);
  expect(new Set(found).size).toBe(others.length + 2);
});

test('only entries of this version are read', () => {
  const usage = { inputTokens: 1 } as never;
  const stored = { provider: 'p', model: 'm', answer: { results: [1] }, usage, costNanoUsd: 7 };
  expect(CACHED_TASK_CODEC.decode(CACHED_TASK_CODEC.encode(stored))).toMatchObject(stored);
  for (const text of ['', '{}', '{"v":"task-0","answer":{}}', '[1]'])
    expect(CACHED_TASK_CODEC.decode(text)).toBeUndefined();
});
