import { afterEach, beforeEach, expect, test } from 'bun:test';
import type { AdmitRequest, Settlement } from '../hot-store';
import { until } from '../hot-store.cases';
import {
  flushNamespace,
  makeTempDir,
  requestOf,
  StoredRows,
  settlementOf,
  type TempDir,
  testRedisUrl,
} from '../store-rows.fixture';
import { CommitGroup } from './commits';
import { connectRedis, openRedis, waitForReady } from './connection';
import { Accounts, type CommitId, createShardKeys, customerKey, type ShardKeys } from './keys';
import { RedisHotStore } from './redis-hot-store';
import { type RedisClient, runScript } from './scripts';
import { decodeSettle, encodeSettle } from './settle-args';

const CACHE_BYTES = 1_000_000;
const ONE = { process: 'one', number: 1 };
const TWO = { process: 'two', number: 1 };
let dir: TempDir;
let rows: StoredRows;
let namespace: string;
let store: RedisHotStore;
let client: RedisClient;
let keys: ShardKeys;
let epoch: string;

beforeEach(async () => {
  dir = makeTempDir();
  rows = new StoredRows();
  namespace = `llm0-test-${crypto.randomUUID()}`;
  store = new RedisHotStore({ url: testRedisUrl(), namespace, dataDir: dir.path, admitDeadlineMs: 5_000 });
  await store.start(rows);
  client = connectRedis({ url: testRedisUrl() }, 'commits');
  await waitForReady(client, 5_000);
  [keys] = createShardKeys(namespace, 1) as [ShardKeys];
  epoch = (await client.get(keys.epoch)) ?? '';
});
afterEach(async () => {
  await store.close();
  client.disconnect();
  await flushNamespace(testRedisUrl(), namespace);
  dir.remove();
});

async function open(count: number, given: Partial<AdmitRequest> = {}): Promise<Settlement[]> {
  const requests = Array.from({ length: count }, () => requestOf({ reloaded: true, ...given }));
  const decisions = await Promise.all(requests.map((request) => store.admit(request)));
  return requests.map((request, i) => settlementOf(request, decisions[i]?.nowMs ?? 0, { costNanoUsd: 10 + i }));
}

async function commit(id: CommitId, settlements: readonly Settlement[]): Promise<readonly unknown[]> {
  const group = new CommitGroup<Settlement>(id, keys, { epoch, clock: '', cacheMaxBytes: CACHE_BYTES });
  const accounts = new Accounts(() => keys);
  for (const one of settlements) group.add(one, accounts.of(one.projectId, one.keyId, one.customerId), one);
  return (await runScript(client, 'commit', group.encode())) as readonly unknown[];
}

async function settleAgain(settlement: Settlement, sentIn: CommitId) {
  const args = encodeSettle(settlement, 'held', { keys, epoch, clock: '', cacheMaxBytes: CACHE_BYTES, sentIn });
  return decodeSettle(await runScript(client, 'settle', args));
}

const spent = async () => (await store.counters()).reduce((sum, { spentNanoUsd }) => sum + spentNanoUsd, 0);

test('a commit whose reply was lost is known when its settlements come again, each by itself', async () => {
  const settlements = await open(3);
  const entries = await commit(ONE, settlements);
  expect(entries).toHaveLength(3);
  for (const settlement of settlements) {
    expect(await settleAgain(settlement, ONE)).toEqual({ type: 'queued', entryId: entries.at(-1) as string });
  }
  expect([await spent(), await store.openHolds()]).toEqual([10 + 11 + 12, 0]);
  await rows.drain(store);
  expect([rows.rows.size, rows.doubled, rows.costNanoUsd]).toEqual([3, 0, 33]);
});

test('rows missing from a commit stay pending, whatever happened to others', async () => {
  const [first, second] = (await open(2)) as [Settlement, Settlement];
  const stranger = settlementOf(requestOf({}), first.admittedAtMs, { costNanoUsd: 5 });
  const replies = await commit(ONE, [first, stranger, second]);
  expect(replies.map((reply) => typeof reply)).toEqual(['string', 'number', 'string']);
  expect(await settleAgain(stranger, ONE)).toEqual({ type: 'unknown' });
  expect([await spent(), await store.openHolds()]).toEqual([21, 0]);
});

test('the same commit twice books once', async () => {
  const settlements = await open(4);
  await commit(ONE, settlements);
  expect(await commit(ONE, settlements)).toEqual([2, 2, 2, 2]);
  expect([await spent(), await store.openHolds()]).toEqual([46, 0]);
});

test('a later commit that has the mark is not taken for the one that is asked for', async () => {
  const [first, second] = (await open(2)) as [Settlement, Settlement];
  await commit(ONE, [first]);
  await commit({ ...ONE, number: 1025 }, [second]);
  expect(await settleAgain(first, ONE)).toEqual({ type: 'unknown' });
  expect(await settleAgain(second, { ...ONE, number: 1025 })).toMatchObject({ type: 'queued' });
  expect(await client.keys(`${keys.prefix}g:*`)).toHaveLength(1);
});

test('two processes end requests of one account at once', async () => {
  const settlements = await open(6);
  await Promise.all([commit(ONE, settlements.slice(0, 3)), commit(TWO, settlements.slice(3))]);
  expect([await spent(), await store.openHolds()]).toEqual([75, 0]);
});

test('another epoch: nothing is booked', async () => {
  const settlements = await open(2);
  epoch = 'another';
  expect(await commit(ONE, settlements)).toBe(0 as never);
  expect([await spent(), await store.openHolds()]).toEqual([0, 2]);
});

test.each([
  ['NaN', Number.NaN],
  ['a fraction', 0.5],
  ['endless', Number.POSITIVE_INFINITY],
])('a cost that is no whole number (%s) keeps nobody else from being booked', async (_name, costNanoUsd) => {
  const settlements = await open(3);
  const replies = await commit(
    ONE,
    settlements.map((one, i) => (i === 1 ? { ...one, costNanoUsd } : one)),
  );
  expect(replies.map((reply) => typeof reply)).toEqual(['string', 'number', 'string']);
  expect([await spent(), await store.openHolds()]).toEqual([22, 1]);
});

test('answers that cannot be cached are booked all the same', async () => {
  const cache = { key: 'k', value: 'v', ttlMs: 1_000, provider: 'p', model: 'm' };
  const [one, two] = (await open(2)) as [Settlement, Settlement];
  const admin = openRedis(testRedisUrl());
  await admin.set(keys.cache[0], 'not a hash');
  const written = [
    { ...one, cache },
    { ...two, cache: { ...cache, key: 'l' } },
  ].map((settlement) => store.settle(settlement));
  await Promise.all(written);
  await until(async () => (await store.openHolds()) === 0);
  expect(await spent()).toBe(21);
  admin.disconnect();
});

test('a request that the store cannot decide fails alone', async () => {
  const admin = openRedis(testRedisUrl());
  await admin.set(customerKey(keys, 'project-1', 'broken'), 'not a hash');
  const asked = ['fine', 'broken', 'well'].map((customerId) => store.admit(requestOf({ reloaded: true, customerId })));
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(outcomes[1]).toMatchObject({ reason: { kind: 'store_unavailable' } });
  expect(await store.openHolds()).toBe(2);
  admin.disconnect();
});

test('a turn that is too long for one script call is cut', async () => {
  const settlements = await open(130, { maxConcurrency: null });
  expect(await store.openHolds()).toBe(130);
  await Promise.all(settlements.map((settlement) => store.settle(settlement)));
  await store.flush(10_000);
  expect([await spent(), await store.openHolds()]).toEqual([
    settlements.reduce((sum, one) => sum + one.costNanoUsd, 0),
    0,
  ]);
});
