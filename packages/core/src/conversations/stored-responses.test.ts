import { describe, expect, test } from 'bun:test';
import { GatewayError } from '../errors/gateway-error';
import { RecordsRejectedError } from '../logs/decode-log-record';
import { answerId, isOwnItemId, ownItemId, requestIdOf } from './own-ids';
import {
  type AnswerReader,
  type StoredResponse,
  type StoredResponseStore,
  StoredResponses,
  type StoredResponsesOptions,
} from './stored-responses';

const READER = { projectId: 'p1', apiKeyId: 'k1', isShared: false };
const FOREIGN = { ...READER, projectId: 'p2' };
const DAY_MS = 86_400_000;

const isOf = (reader: AnswerReader, one: StoredResponse) =>
  one.projectId === reader.projectId &&
  (reader.isShared || (one.apiKeyId === reader.apiKeyId && one.customerId === reader.customerId));

/** A store in memory that can be slow, or away. */
class MemoryStore implements StoredResponseStore {
  readonly rows = new Map<string, StoredResponse>();
  reads = 0;
  failure: Error | undefined;

  async write(answers: readonly StoredResponse[]): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    if (answers.some(({ answer }) => answer === 'bad')) throw new RecordsRejectedError('bad');
    for (const one of answers) this.rows.set(one.id, one);
  }

  async readConversation(reader: AnswerReader, id: string) {
    this.reads += 1;
    if (this.failure !== undefined) throw this.failure;
    const turns: StoredResponse[] = [];
    for (let at = this.rows.get(id); at !== undefined; at = this.rows.get(at.previousId ?? '')) turns.push(at);
    return turns.filter((one) => isOf(reader, one));
  }

  async findByItems(reader: AnswerReader, ids: readonly string[]) {
    if (this.failure !== undefined) throw this.failure;
    return [...this.rows.values()]
      .filter((one) => isOf(reader, one) && one.itemIds.some((id) => ids.includes(id)))
      .map(({ answer }) => answer);
  }

  async remove(_reader: AnswerReader, id: string): Promise<boolean> {
    return this.rows.delete(id);
  }
}

function open(more: Partial<StoredResponsesOptions> = {}) {
  const store = new MemoryStore();
  const slept: number[] = [];
  let dropped = 0;
  const answers = new StoredResponses({
    store,
    nowMs: () => 1000,
    retentionMs: DAY_MS,
    maxBytes: 10_000,
    onDrop: (count) => {
      dropped += count;
    },
    everyMs: 5,
    sleep: async (ms) => void slept.push(ms),
    ...more,
  });
  const keep = (id: string, previousId?: string, given: Partial<StoredResponse> = {}) =>
    answers.keep({
      id,
      projectId: READER.projectId,
      apiKeyId: READER.apiKeyId,
      input: `[${id}]`,
      answer: `{${id}}`,
      itemIds: [`item-${id}`],
      ...(previousId === undefined ? {} : { previousId }),
      ...given,
    });
  const idsOf = async (id: string) => (await answers.readConversation(READER, id))?.map((turn) => turn.id);
  return { store, answers, keep, idsOf, slept, dropped: () => dropped };
}

async function kindOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof GatewayError) return error.kind;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('kept answers', () => {
  test('are there at once, before they are written, and afterwards', async () => {
    const { answers, keep, idsOf, store } = open();
    keep('a');
    keep('b', 'a');
    expect(await idsOf('b')).toEqual(['a', 'b']);
    expect(await answers.findByItems(READER, ['item-a'])).toEqual(['{a}']);
    expect(store.reads).toBe(0);
    await answers.flush(1000);
    expect(store.rows.get('b')).toMatchObject({ createdAtMs: 1000, expiresAtMs: 1000 + DAY_MS });
    keep('c', 'b');
    expect(await idsOf('c')).toEqual(['a', 'b', 'c']);
    expect(store.reads).toBe(1);
    expect(await answers.readAnswer(READER, 'a')).toMatchObject({ id: 'a' });
  });

  test('of another key or customer are unknown before the write too, unless shared', async () => {
    const { answers, keep } = open();
    keep('a', undefined, { customerId: 'ann' });
    const ids = async (who: Partial<AnswerReader>) =>
      (await answers.readConversation({ ...READER, ...who }, 'a'))?.map((turn) => turn.id);
    expect(await ids({ customerId: 'ann' })).toEqual(['a']);
    for (const who of [{}, { customerId: 'bob' }, { customerId: 'ann', apiKeyId: 'k2' }])
      expect(await answers.readAnswer({ ...READER, ...who }, 'a')).toBeUndefined();
    expect(await ids({ apiKeyId: 'k2', isShared: true })).toEqual(['a']);
  });

  test('of another project are unknown, written or not', async () => {
    const { answers, keep } = open();
    keep('a');
    expect(await answers.readConversation(FOREIGN, 'a')).toBeUndefined();
    expect(await answers.readAnswer(FOREIGN, 'a')).toBeUndefined();
    expect(await answers.findByItems(FOREIGN, ['item-a'])).toEqual([]);
    await answers.flush(1000);
    expect(await answers.readConversation(FOREIGN, 'a')).toBeUndefined();
  });

  test('still being written by another process are read again', async () => {
    const { answers, store, slept } = open();
    const one = { id: 'a', ...READER, input: '', answer: '', itemIds: [], createdAtMs: 0, expiresAtMs: 1 };
    const read = store.readConversation.bind(store);
    store.readConversation = async (...args) => {
      if (store.reads === 1) store.rows.set('a', one);
      return read(...args);
    };
    expect(await answers.readConversation(READER, 'a')).toHaveLength(1);
    expect(store.reads).toBe(2);
    expect(slept).toHaveLength(1);
  });

  test('are never waited for long where there are none', async () => {
    const { answers, slept } = open();
    expect(await answers.readConversation(READER, 'none')).toBeUndefined();
    expect(slept.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(200);
  });

  test('a conversation with a turn gone, or too long, is refused', async () => {
    const { answers, keep, store } = open();
    keep('a');
    keep('b', 'a');
    await answers.flush(1000);
    store.rows.delete('a');
    expect(await kindOf(answers.readConversation(READER, 'b'))).toBe('conflict');
    keep('big', 'gone', { input: 'x'.repeat(10_000) });
    expect(await kindOf(answers.readConversation(READER, 'big'))).toBe('request_too_large');
  });

  test('with the store away: what is here is found, what is not is refused, and nothing is lost meanwhile', async () => {
    const { answers, keep, idsOf, store } = open();
    store.failure = new Error('away');
    keep('a');
    await Bun.sleep(30);
    expect(await idsOf('a')).toEqual(['a']);
    expect(await kindOf(answers.readConversation(READER, 'b'))).toBe('store_unavailable');
    expect(await kindOf(answers.findByItems(READER, ['item-b']))).toBe('store_unavailable');
    store.failure = undefined;
    await answers.flush(1000);
    expect([...store.rows.keys()]).toEqual(['a']);
  });

  test('unstorable rows are dropped and counted, the rest is stored', async () => {
    const { answers, keep, store, dropped, idsOf } = open();
    keep('a');
    keep('b', undefined, { answer: 'bad' });
    keep('c');
    await answers.flush(1000);
    expect([...store.rows.keys()].sort()).toEqual(['a', 'c']);
    expect(dropped()).toBe(1);
    expect(await idsOf('b')).toBeUndefined();
  });

  test('removed ones are gone, also those not yet written', async () => {
    const { answers, keep, idsOf } = open();
    keep('a');
    expect(await answers.remove(READER, 'a')).toBe(true);
    expect(await idsOf('a')).toBeUndefined();
    expect(await answers.remove(READER, 'a')).toBe(false);
  });

  test('without a retention nothing is kept', async () => {
    const { answers, keep, store } = open({ retentionMs: 0 });
    keep('a');
    await answers.flush(1000);
    expect([answers.enabled, store.rows.size]).toEqual([false, 0]);
  });
});

describe('ids', () => {
  const id = '01890a5d-ac96-774b-bcce-b302099a8057';
  test('of answers name their request; other texts do not', () => {
    expect(requestIdOf(answerId(id))).toBe(id);
    for (const other of [
      '',
      'resp_',
      `${answerId(id)}0`,
      answerId(id).toUpperCase(),
      'resp_67ccd2bed1ec8190b14f964abc',
    ]) {
      expect(requestIdOf(other)).toBeUndefined();
    }
  });

  test('of items differ from providers’', () => {
    expect(isOwnItemId(ownItemId('msg', id, 3))).toBe(true);
    for (const other of ['msg_67ccd3acc8d48190a77525dc6de64b41', undefined, 7]) expect(isOwnItemId(other)).toBe(false);
  });
});
