import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { AnswerReader, StoredResponse } from '@llm0/core/conversations/stored-responses';
import { RecordsRejectedError } from '@llm0/core/logs/decode-log-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import type { Database } from '../../client';
import { deleteExpired } from '../logs/retention';
import { createStoredResponseStore } from './stored-responses';

const NOW_MS = Date.parse('2033-02-03T04:05:06.789Z');
const HOUR_MS = 3_600_000;

describe.each(TEST_DATABASES)('kept answers on $name', (kind) => {
  let database: Database;
  const [projectId, apiKeyId] = [crypto.randomUUID(), crypto.randomUUID()];
  const reader = { projectId, apiKeyId, isShared: false };
  beforeAll(async () => {
    database = await kind.open();
  }, 60_000);
  afterAll(() => database.close());

  const store = () => createStoredResponseStore(database.db);
  const limits = { nowMs: NOW_MS, maxTurns: 100, maxBytes: 1_000_000 };
  const entry = (given: Partial<StoredResponse> = {}): StoredResponse => ({
    id: crypto.randomUUID(),
    projectId,
    apiKeyId,
    input: '[]',
    answer: '{}',
    itemIds: [],
    createdAtMs: NOW_MS,
    expiresAtMs: NOW_MS + HOUR_MS,
    ...given,
  });
  const idsOf = async (id: string, more = {}) =>
    (await store().readConversation(reader, id, { ...limits, ...more })).map((turn) => turn.id);

  test('texts come back to the letter, whatever JSON they hold', async () => {
    const input = '[{"a": "\\u0000 \\ud800 \\" ü 😀 \\\\u0000", "n": 1.50, "a": 2}]';
    const one = entry({ input, answer: '{"id":"\\u0007"}' });
    await store().write([one]);
    expect(await store().readConversation(reader, one.id, limits)).toEqual([{ id: one.id, input, answer: one.answer }]);
  });

  test('a conversation is read newest first, up to its first turn, in its own project only', async () => {
    const first = entry();
    const second = entry({ previousId: first.id });
    const third = entry({ previousId: second.id });
    await store().write([third, first, second]);
    expect(await idsOf(third.id)).toEqual([third.id, second.id, first.id]);
    expect(await idsOf(first.id)).toEqual([first.id]);
    expect(await store().readConversation({ ...reader, projectId: crypto.randomUUID() }, third.id, limits)).toEqual([]);
    expect(await store().readConversation(reader, crypto.randomUUID(), limits)).toEqual([]);
  });

  test('a turn that names another project’s answer does not reach it', async () => {
    const foreign = entry({ projectId: crypto.randomUUID() });
    const own = entry({ previousId: foreign.id });
    await store().write([foreign, own]);
    expect(await idsOf(own.id)).toEqual([own.id]);
  });

  test('the limits of turns and bytes cut the oldest off', async () => {
    const first = entry({ input: JSON.stringify(['x'.repeat(1000)]) });
    const second = entry({ previousId: first.id, input: JSON.stringify(['x'.repeat(1000)]) });
    const third = entry({ previousId: second.id });
    await store().write([first, second, third]);
    expect(await idsOf(third.id, { maxTurns: 2 })).toEqual([third.id, second.id]);
    expect(await idsOf(third.id, { maxBytes: 500 })).toEqual([third.id, second.id]);
  });

  test('an answer that is over is not found, but lives as long as what goes on from it', async () => {
    const first = entry({ expiresAtMs: NOW_MS + 1000 });
    await store().write([first]);
    expect(await idsOf(first.id, { nowMs: NOW_MS + 999 })).toEqual([first.id]);
    expect(await idsOf(first.id, { nowMs: NOW_MS + 1000 })).toEqual([]);
    const second = entry({ previousId: first.id, expiresAtMs: NOW_MS + HOUR_MS });
    const third = entry({ previousId: second.id, expiresAtMs: NOW_MS + 2 * HOUR_MS });
    await store().write([second]);
    await store().write([third]);
    await deleteExpired(database.db, 'kept_answers', NOW_MS + HOUR_MS + 1);
    expect(await idsOf(third.id, { nowMs: NOW_MS + HOUR_MS + 1 })).toEqual([third.id, second.id, first.id]);
    await deleteExpired(database.db, 'kept_answers', NOW_MS + 3 * HOUR_MS);
    expect(await idsOf(third.id)).toEqual([]);
  });

  test('answers are found by their items, the newest first', async () => {
    const [a, b] = [crypto.randomUUID(), crypto.randomUUID()];
    const older = entry({ itemIds: [a], answer: '{"n":1}', createdAtMs: NOW_MS - 1000 });
    const newer = entry({ itemIds: [b, a], answer: '{"n":2}' });
    await store().write([older, newer]);
    expect(await store().findByItems(reader, [a], NOW_MS)).toEqual(['{"n":2}', '{"n":1}']);
    expect(await store().findByItems(reader, [b, 'other'], NOW_MS)).toEqual(['{"n":2}']);
    expect(await store().findByItems({ ...reader, projectId: crypto.randomUUID() }, [a], NOW_MS)).toEqual([]);
    expect(await store().findByItems(reader, [a], NOW_MS + HOUR_MS)).toEqual([]);
  });

  test('another key or customer of the project finds nothing, unless answers are shared', async () => {
    const item = crypto.randomUUID();
    const first = entry({ customerId: 'ann', itemIds: [item] });
    const second = entry({ customerId: 'ann', previousId: first.id });
    const foreign = entry({ apiKeyId: crypto.randomUUID(), previousId: second.id });
    await store().write([first, second, foreign]);
    const seenBy = async (who: Partial<AnswerReader>) => {
      const by = { ...reader, ...who };
      const turns = await store().readConversation(by, second.id, limits);
      return [turns.length, (await store().findByItems(by, [item], NOW_MS)).length];
    };
    expect(await seenBy({ customerId: 'ann' })).toEqual([2, 1]);
    expect(await seenBy({})).toEqual([0, 0]);
    expect(await seenBy({ customerId: 'bob' })).toEqual([0, 0]);
    expect(await seenBy({ customerId: 'ann', apiKeyId: foreign.apiKeyId })).toEqual([0, 0]);
    expect(await seenBy({ apiKeyId: foreign.apiKeyId, isShared: true })).toEqual([2, 1]);
    // Nobody reads on into what is not theirs by what was shared once.
    const own = { ...reader, apiKeyId: foreign.apiKeyId };
    expect(await store().readConversation(own, foreign.id, limits)).toHaveLength(1);
    expect(await store().remove({ ...reader, customerId: 'bob' }, second.id, NOW_MS)).toBe(false);
    expect(await store().remove({ ...own, isShared: true }, second.id, NOW_MS)).toBe(true);
  });

  test('only its own project removes an answer, and only once', async () => {
    const one = entry();
    await store().write([one]);
    expect(await store().remove({ ...reader, projectId: crypto.randomUUID() }, one.id, NOW_MS)).toBe(false);
    expect(await store().remove(reader, one.id, NOW_MS)).toBe(true);
    expect(await store().remove(reader, one.id, NOW_MS)).toBe(false);
    expect(await idsOf(one.id)).toEqual([]);
  });

  test('the same answer twice changes nothing; what no table takes is told apart', async () => {
    const one = entry({ answer: '{"n":1}' });
    await store().write([one]);
    await store().write([{ ...one, answer: '{"n":2}' }]);
    expect((await store().readConversation(reader, one.id, limits))[0]?.answer).toBe('{"n":1}');
    await expect(store().write([entry({ id: 'no uuid' })])).rejects.toBeInstanceOf(RecordsRejectedError);
  });
});
