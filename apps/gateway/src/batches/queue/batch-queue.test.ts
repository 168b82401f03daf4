import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { TEST_DATABASES, type TestDatabase } from '@llm0/testing/stores/test-databases';
import { BatchQueue, type Chunk, executeSql } from './batch-queue';

describe.each(TEST_DATABASES)("pg-boss's statements on $name", (kind) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await kind.open();
  });
  afterAll(() => database.close());

  test('give lists as lists: by them it counts the jobs whose heart beats', async () => {
    const id = crypto.randomUUID();
    const text = "select array_agg(x) as ids, '{}'::uuid[] as none, $2::int as number from unnest($1::uuid[]) x";
    const { rows } = await executeSql(database.client, text, [[id, id], 3]);
    expect(rows).toEqual([{ ids: [id, id], none: [], number: 3 }]);
  });

  test('chunks run when they are due, and wait for no poll', async () => {
    const seen: { readonly chunk: Chunk; readonly atMs: number }[] = [];
    const run = async (chunk: Chunk) => void seen.push({ chunk, atMs: performance.now() });
    const onError = (error: unknown) => expect(error).toBeUndefined();
    const queue = await BatchQueue.open({ database, databaseUrl: database.url, run, onError });
    const late: number[] = [];
    try {
      for (let round = 1; round <= 8; round++) {
        const waitMs = round % 2 === 0 ? 150 : 0;
        const chunk = { batchId: crypto.randomUUID(), from: 0, to: round };
        const startMs = performance.now();
        await (waitMs === 0 ? queue.add([chunk]) : queue.addAgain({ ...chunk, atMs: Date.now() + waitMs }));
        while (seen.length < round) await Bun.sleep(5);
        expect(seen.at(-1)?.chunk).toEqual(chunk);
        late.push((seen.at(-1)?.atMs ?? 0) - startMs - waitMs);
      }
    } finally {
      await queue.close(1000);
    }
    // Polling alone is 350 ms late.
    expect(late.sort((a, b) => a - b)[3]).toBeLessThan(200);
  }, 30_000);
});
