import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { TEST_DATABASES, type TestDatabase } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import { createBatch, readBatch } from './batches';
import {
  claimLines,
  endLines,
  forgetPlaces,
  giveUpLines,
  insertLines,
  keepLines,
  type LineResult,
  placeResults,
  readLines,
  releaseLines,
  startLines,
  sumOpenLines,
} from './lines';

const LINES = 4;
const BOUND = 1_000_000_007;

describe.each(TEST_DATABASES)('the ledger of lines on $name', (kind) => {
  let database: TestDatabase;
  let batchId: string;
  beforeAll(async () => {
    database = await kind.open();
  });
  afterAll(() => database.close());
  const open = async () => {
    const id = Bun.randomUUIDv7();
    const [row] = await database.db.execute<{ id: string }>(
      sql`insert into projects (name) values (${`batches ${id}`}) returning id`,
    );
    const owner = { id, projectId: row?.id ?? '', apiKeyId: crypto.randomUUID() };
    const input = { inputFileId: crypto.randomUUID(), dialect: 'openai', endpoint: '/v1/responses' } as const;
    await createBatch(database.db, { ...owner, ...input, status: 'validating', headers: {}, expiresAtMs: Date.now() });
    return id;
  };
  beforeEach(async () => {
    batchId = await open();
    const lines = Array.from({ length: LINES }, (_, line) => ({
      ...{ line, customId: `"odd", {${line}} \\ ä`, at: line * 5_000_000_000, length: 10, boundNanoUsd: BOUND },
    }));
    await insertLines(database.db, batchId, lines);
  });

  const all = () => ({ batchId, from: 0, to: LINES });
  const result = (line: number, state: LineResult['state'] = 'completed'): LineResult => ({
    ...{ line, state, requestId: crypto.randomUUID(), httpStatus: state === 'completed' ? 200 : 400 },
    ...{ costNanoUsd: 1_234_567_891, tokensIn: 3, tokensOut: 5, answer: '{"a":"ä, \\"b\\" {\\\\}"}' },
  });
  const states = async () => (await readLines(database.db, all())).map(({ state }) => state);

  test('a line ends once, by its last owner, and the batch has exact sums', async () => {
    const { db } = database;
    const [early, late] = [crypto.randomUUID(), crypto.randomUUID()];
    const claimed = await claimLines(db, all(), early);
    expect(claimed[3]).toMatchObject({ customId: '"odd", {3} \\ ä', at: 15_000_000_000, boundNanoUsd: BOUND });
    expect(await startLines(db, batchId, early, [0, 1])).toEqual(new Set([0, 1]));
    expect(await endLines(db, { batchId, owner: early }, [result(0)])).toBe(1);
    expect((await claimLines(db, all(), late)).map(({ line }) => line)).toEqual([1, 2, 3]);
    expect(await endLines(db, { batchId, owner: early }, [result(0), result(1)])).toBe(0);
    expect(await startLines(db, batchId, early, [2])).toEqual(new Set());
    const last = result(2, 'failed');
    expect(await endLines(db, { batchId, owner: late }, [result(0), result(1), last])).toBe(2);
    expect(await states()).toEqual(['completed', 'completed', 'failed', 'waiting']);
    expect((await readLines(db, all()))[2]).toMatchObject({ answer: last.answer, requestId: last.requestId });
    expect(await readBatch(db, batchId)).toMatchObject({
      ...{ completed: 2, failed: 1, tokensIn: 9, tokensOut: 15, costNanoUsd: 3 * 1_234_567_891 },
    });
    expect(await sumOpenLines(db, batchId)).toEqual({ open: 1, waitingNanoUsd: BOUND });
  });

  test('only waiting lines without a result are given up; begun ones wait again once they are released', async () => {
    const { db } = database;
    const owner = crypto.randomUUID();
    await claimLines(db, all(), owner);
    await startLines(db, batchId, owner, [0]);
    await placeResults(db, batchId, [{ line: 3, at: 1, length: 1 }]);
    await forgetPlaces(db, batchId);
    await placeResults(db, batchId, [
      { line: 1, at: 7, length: 8 },
      { line: 1, at: 99, length: 1 },
    ]);
    await placeResults(db, batchId, [{ line: 1, at: 50, length: 1 }]);
    await giveUpLines(db, batchId, { state: 'cancelled' });
    expect(await states()).toEqual(['running', 'waiting', 'cancelled', 'cancelled']);
    await releaseLines(db, batchId, owner);
    const left = await claimLines(db, all(), owner);
    expect(left.map(({ line, resultAt, resultLength }) => [line, resultAt, resultLength])).toEqual([
      [0, null, null],
      [1, 7, 8],
    ]);
    await giveUpLines(db, batchId, { state: 'expired' });
    expect(await readBatch(db, batchId)).toMatchObject({ cancelled: 2, expired: 1, costNanoUsd: 0 });
  });

  test('lines that run here are claimed and given up apart from those of a vendor', async () => {
    const { db } = database;
    const owner = crypto.randomUUID();
    const own = async () => (await claimLines(db, { ...all(), isOwn: true }, owner)).map(({ line }) => line);
    expect(await own()).toEqual([]);
    await keepLines(db, batchId, [0, 3]);
    expect(await own()).toEqual([0, 3]);
    await keepLines(db, batchId, [1, 3]);
    expect(await own()).toEqual([1, 3]);
    await giveUpLines(db, batchId, { state: 'cancelled', isOwn: true });
    expect(await states()).toEqual(['waiting', 'cancelled', 'waiting', 'cancelled']);
    await keepLines(db, batchId, []);
    expect(await own()).toEqual([]);
  });

  test('a batch of many lines takes moments, also while Postgres thinks that it has none', async () => {
    const { db } = database;
    const [many, part] = [20_000, 4000];
    const numbers = (count: number) => Array.from({ length: count }, (_, line) => line);
    const lines = numbers(many).map((line) => ({ line, customId: `${line}`, at: 0, length: 10, boundNanoUsd: BOUND }));
    const [earlier, id] = [await open(), await open()];
    await insertLines(db, earlier, lines);
    await db.execute(sql`analyze batch_lines`);
    await insertLines(db, id, lines);
    // Comparing each line with each other one takes a minute.
    await db.transaction(async (tx) => {
      await tx.execute(sql`set local statement_timeout = '10s'`);
      const owner = crypto.randomUUID();
      await claimLines(tx, { batchId: id, from: 0, to: part }, owner);
      const results = numbers(part).map((line) => result(line));
      expect(await endLines(tx, { batchId: id, owner }, results)).toBe(part);
      await keepLines(tx, id, numbers(many / 2));
      await placeResults(
        tx,
        id,
        numbers(many / 2).map((line) => ({ line, at: 0, length: 1 })),
      );
      await giveUpLines(tx, id, { state: 'cancelled' });
    });
    expect(await readBatch(db, id)).toMatchObject({ completed: part, cancelled: many / 2 });
  });
});
