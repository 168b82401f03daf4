import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Redis } from 'ioredis';
import { flushNamespace, makeTempDir, requestOf, StoredRows, settlementOf, testRedisUrl } from '../store-rows.fixture';
import { openRedis } from './connection';
import { RedisHotStore } from './redis-hot-store';

const NAMESPACE = `llm0-test-${crypto.randomUUID()}`;
const dir = makeTempDir();
let store: RedisHotStore;
let client: Redis;
beforeAll(async () => {
  client = openRedis(testRedisUrl());
  store = new RedisHotStore({ url: testRedisUrl(), namespace: NAMESPACE, dataDir: dir.path, admitDeadlineMs: 5000 });
  await store.start(new StoredRows());
});
afterAll(async () => {
  await store.close();
  await flushNamespace(testRedisUrl(), NAMESPACE);
  client.disconnect();
  dir.remove();
});

const customerKeys = () => client.keys(`${NAMESPACE}:*:c:*`);

test('names that are refused leave no key, and those that were let in one that ends', async () => {
  const decide = async (customerId: string) =>
    (await store.admit(requestOf({ customerId, maxCustomers: 2, requested: { cacheKey: 'shared' } }))).type;
  store.cacheWrite('project-1', { key: 'shared', value: 'v', ttlMs: 60_000, provider: 'p', model: 'm' });
  await store.flush(10_000);
  const types = [];
  for (let n = 0; n < 50; n++) types.push(await decide(`invented-${n}`));
  expect(types).toEqual([...Array(2).fill('cached'), ...Array(48).fill('denied')]);
  const keys = await customerKeys();
  expect(keys).toHaveLength(2);
  for (const key of keys) expect(await client.ttl(key)).toBeGreaterThan(0);
});

test('a cost that is booked without a decision leaves a key that ends as well', async () => {
  const before = await customerKeys();
  const request = requestOf({ customerId: 'unchecked' });
  store.settle(settlementOf(request, Date.now(), { held: false, costNanoUsd: 5 }));
  await store.flush(10_000);
  const [added] = (await customerKeys()).filter((key) => !before.includes(key));
  expect(await client.ttl(added ?? '')).toBeGreaterThan(0);
});
