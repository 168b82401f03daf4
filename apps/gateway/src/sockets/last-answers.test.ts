import { expect, test } from 'bun:test';
import type { AnswerReader, GivenResponse, StoredTurn } from '@llm0/core/conversations/stored-responses';
import { type AnswerStream, LastAnswers, TurnAnswers } from './last-answers';

const READER: AnswerReader = { projectId: 'p', apiKeyId: 'k', isShared: false };
const turn = (id: string, size = 0): StoredTurn => ({ id, input: 'i'.repeat(size), answer: '' });
const streamOf = (connection: object): AnswerStream => ({ connection });

function open(bounds = { ofOne: 100, ofAll: 1000 }) {
  const stored = new Map<string, readonly StoredTurn[]>();
  const kept: string[] = [];
  const store = {
    enabled: true,
    keep: ({ id }: GivenResponse) => void kept.push(id),
    readConversation: async (_reader: AnswerReader, id: string) => stored.get(id),
    readAnswer: async () => undefined,
    findByItems: async () => [],
    remove: async () => false,
  };
  const last = new LastAnswers(bounds);
  /** One turn: reads what it continues, and keeps its answer. */
  const take = async (stream: AnswerStream, id: string, options: { previous?: string; stores?: boolean } = {}) => {
    const { previous, stores = false } = options;
    const answers = new TurnAnswers({ last, stored: store, stream, stores });
    const found = previous === undefined ? [] : await answers.readConversation(READER, previous);
    if (found !== undefined) answers.keep({ ...turn(id, 10), ...READER, itemIds: [] });
    return found?.map((one) => one.id);
  };
  return { last, stored, kept, take };
}

test('a turn continues the last one of its connection, stored or not', async () => {
  const { take, kept } = open();
  const stream = streamOf({});
  await take(stream, 'a');
  expect(await take(stream, 'b', { previous: 'a' })).toEqual(['a']);
  expect(await take(stream, 'c', { previous: 'b', stores: true })).toEqual(['a', 'b']);
  expect(await take(stream, 'd', { previous: 'c' })).toEqual(['a', 'b', 'c']);
  expect(kept).toEqual(['c']);
});

test('only the last one is remembered, and only by its own connection', async () => {
  const { take } = open();
  const connection = {};
  const stream = streamOf(connection);
  await take(stream, 'a');
  await take(stream, 'b', { previous: 'a' });
  expect(await take(stream, 'x', { previous: 'a' })).toBeUndefined();
  expect(await take(streamOf({}), 'x', { previous: 'b' })).toBeUndefined();
  expect(await take(streamOf(connection), 'c', { previous: 'b' })).toEqual(['a', 'b']);
});

test('a stored conversation goes on in the connection', async () => {
  const { take, stored } = open();
  const stream = streamOf({});
  stored.set('old', [turn('older'), turn('old')]);
  expect(await take(stream, 'a', { previous: 'old' })).toEqual(['older', 'old']);
  expect(await take(stream, 'b', { previous: 'a' })).toEqual(['older', 'old', 'a']);
});

test('a conversation that is too long is forgotten; without room for all, the oldest one', async () => {
  const { last } = open({ ofOne: 50, ofAll: 120 });
  const connection = {};
  const streams = [1, 2, 3].map(() => streamOf(connection));
  const put = (index: number, id: string, size: number) => last.put(streams[index] as AnswerStream, [turn(id, size)]);
  const known = () => ['a', 'b', 'c', 'd'].filter((id) => last.find(connection, id) !== undefined);
  put(0, 'a', 50);
  put(1, 'b', 50);
  expect(known()).toEqual(['a', 'b']);
  put(2, 'c', 50);
  expect(known()).toEqual(['b', 'c']);
  put(1, 'd', 51);
  expect(known()).toEqual(['c']);
  for (const stream of streams) last.forget(stream);
  expect(known()).toEqual([]);
  for (const [i, id] of ['a', 'b'].entries()) put(i, id, 50);
  expect(known()).toEqual(['a', 'b']);
});
