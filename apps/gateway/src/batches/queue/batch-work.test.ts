import { expect, test } from 'bun:test';
import type { StoredBatch } from '@llm0/drizzle/queries/batches/batches';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import type { Chunk } from './batch-queue';
import { BatchWork } from './batch-work';

const isQueueLoaded = () => Object.keys(require.cache).some((path) => path.includes('/pg-boss/'));

test('the queue is loaded with the first batch, and hands over each of its chunks once', async () => {
  const kind = TEST_DATABASES.find(({ name }) => /pglite|embedded/i.test(name));
  if (kind === undefined) throw new Error('there is no embedded database');
  const database = await kind.openOwn();
  const topics: string[] = [];
  const hotStore = { notify: async (topic: string) => void topics.push(topic), onNotify: () => () => {} };
  const log = { error: console.error, warn: console.warn };
  const options = { database, databaseUrl: undefined, hotStore, log, nowMs: Date.now, isEnabled: true };
  const work = new BatchWork(options);
  const done = Promise.withResolvers<void>();
  const chunks: Chunk[] = [];
  await work.begin(async (chunk) => {
    chunks.push(chunk);
    if (chunks.length === 3) done.resolve();
  });
  expect(isQueueLoaded()).toBe(false);
  const batch = { id: crypto.randomUUID(), total: 450, forwarded: null, expiresAtMs: Date.now() + 3_600_000 };
  await work.enqueue(batch as StoredBatch);
  await work.enqueue(batch as StoredBatch);
  await done.promise;
  await work.stop(2000);
  expect(isQueueLoaded()).toBe(true);
  expect(chunks.map(({ from, to }) => [from, to]).sort(([a = 0], [b = 0]) => a - b)).toEqual([
    [0, 200],
    [200, 400],
    [400, 450],
  ]);
  expect(topics).toEqual(['batches', 'batches']);
  await database.close();
});
