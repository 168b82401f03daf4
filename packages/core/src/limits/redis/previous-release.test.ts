// `packages/testing/version-0.2/*.lua` are scripts of version 0.2.0. A rolling upgrade runs them beside this version's.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Redis } from 'ioredis';
import type { AdmitRequest, Settlement } from '../hot-store';
import { until } from '../hot-store.cases';
import { flushNamespace, makeTempDir, requestOf, StoredRows, settlementOf, testRedisUrl } from '../store-rows.fixture';
import { openRedis } from './connection';
import { createAccount, createShardKeys, doneKey, type ShardKeys } from './keys';
import { RedisHotStore } from './redis-hot-store';

/** Room for some ten entries. */
const CACHE_BYTES = 15_000;
const FOLDER = join(import.meta.dir, '../../../../testing/version-0.2');
const SCRIPTS = { admit: '', commit: '', reap: '' };
const namespace = `llm0-test-${crypto.randomUUID()}`;
const dir = makeTempDir();
const rows = new StoredRows();
let store: RedisHotStore;
let redis: Redis;
let keys: ShardKeys;
let epoch: string;

beforeAll(async () => {
  redis = openRedis(testRedisUrl());
  for (const name of Object.keys(SCRIPTS) as (keyof typeof SCRIPTS)[]) {
    SCRIPTS[name] = (await redis.script('LOAD', readFileSync(join(FOLDER, `${name}.lua`), 'utf8'))) as string;
  }
  const options = { namespace, dataDir: dir.path, admitDeadlineMs: 5_000, cacheMaxBytes: CACHE_BYTES };
  store = new RedisHotStore({ url: testRedisUrl(), ...options });
  await store.start(rows);
  [keys] = createShardKeys(namespace, 1) as [ShardKeys];
  epoch = (await redis.get(keys.epoch)) ?? '';
});
afterAll(async () => {
  await store.close();
  await flushNamespace(testRedisUrl(), namespace);
  redis.disconnect();
  dir.remove();
});

const run = (name: keyof typeof SCRIPTS, names: readonly string[], ...args: (string | number)[]) =>
  redis.evalsha(SCRIPTS[name], names.length, ...names, ...args) as Promise<unknown>;

const accountOf = ({ projectId, keyId, customerId = '' }: Pick<Settlement, 'projectId' | 'keyId' | 'customerId'>) =>
  createAccount(keys, { projectId, keyId, customer: customerId });

/** 0.2.0's decision: its kind, and the answer of a hit. */
async function admitBefore(request: AdmitRequest): Promise<{ type: string; nowMs: number; value?: string }> {
  const { projectId, keyId, requested } = request;
  const { names, customer } = accountOf(request);
  const shared = [keys.epoch, keys.tables, keys.log, keys.holds, keys.leases, keys.projects];
  const limits = [1e6, 1e6, 1e12, 1e12, request.keyBudgetPeriod, 1e9, 1e5];
  const account = [projectId, keyId, 1, 1, '1', ...limits, customer, `${projectId}\t${keyId}\t${customer}`, ''];
  const { model, holdNanoUsd, lostNanoUsd, tokens, cacheKey = '', lostRecord } = requested;
  const plan = [model, holdNanoUsd, lostNanoUsd, tokens, cacheKey, lostRecord];
  const names12 = [...shared, keys.cache[0], keys.cache[4], ...names];
  const reply = await run('admit', names12, epoch, '', '', 1e6, 1, ...account, 0, request.requestId, 1, ...plan);
  const [nowMs, row] = reply as [number, (string | number)[]];
  const type = row[0] === 5 ? 'admitted' : row[0] === 4 ? 'cached' : `${row}`;
  return { type, nowMs, value: String(row[4]).split(' ')[2] };
}

let commits = 0;
async function settleBefore({ requestId, costNanoUsd, tokens, record, cache, ...rest }: Settlement): Promise<void> {
  const { names, customer } = accountOf(rest);
  const shared = [keys.epoch, keys.log, keys.holds, keys.leases, `${keys.prefix}g:before:${++commits}`, ...keys.cache];
  const row = [0, 'held', requestId, costNanoUsd, tokens, record, cache?.key ?? ''];
  const entry =
    cache === undefined ? [] : [cache.value, cache.ttlMs, `${rest.projectId}\t${cache.provider}\t${cache.model}`];
  const names13 = [...shared, ...names.slice(0, 3)];
  const [reply] = (await run('commit', names13, epoch, '', CACHE_BYTES, 1, customer, ...row, ...entry)) as unknown[];
  expect(reply).toBeString();
}

const requestFor = (given: { key: number; customer: number; question: number }): AdmitRequest =>
  requestOf({
    projectId: `p${given.key % 2}`,
    keyId: `k${given.key}`,
    ...(given.customer === 0 ? {} : { customerId: `c${given.customer}` }),
    keyBucket: { ratePerMinute: 1e6, burst: 1e6 },
    ...{ projectCapNanoUsd: 1e12, keyBudgetNanoUsd: 1e12, keyBudgetPeriod: given.key === 1 ? 'total' : 'month' },
    ...{ tokensPerMinute: 1e9, maxConcurrency: 1e5 },
    requested: { cacheKey: `question-${given.question}` },
  });

test('both decide, book and cache on the same data, whoever does what', async () => {
  const by = fc.constantFrom('before' as const, 'now' as const);
  const step = fc.record({
    ...{ admits: by, settles: by, cost: fc.nat(1000), ttlMs: fc.constantFrom(1, 60_000) },
    ...{ key: fc.nat(2), customer: fc.nat(2), question: fc.nat(30) },
  });
  const types = new Set<string>();
  let spent = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      for (const { admits, settles, cost, ttlMs, ...given } of steps) {
        const request = requestFor(given);
        const value = 'v'.repeat(1000);
        const decision = admits === 'now' ? await store.admit(request) : await admitBefore(request);
        types.add(`${admits} ${decision.type}`);
        if (decision.type === 'cached') expect((decision as { value?: string }).value).toBe(value);
        else expect(decision.type).toBe('admitted');
        if (decision.type !== 'admitted') continue;
        const cache = { key: request.requested.cacheKey ?? '', value, ttlMs, provider: 'p', model: 'm' };
        const end = settlementOf(request, decision.nowMs, { costNanoUsd: cost, cache });
        spent += cost;
        if (settles === 'before') await settleBefore(end);
        else {
          store.settle(end);
          await store.flush(5_000);
        }
      }
      const counters = await store.counters();
      const spentNanoUsd = counters.reduce((sum, counter) => sum + counter.spentNanoUsd, 0);
      const heldNanoUsd = counters.reduce((sum, counter) => sum + counter.heldNanoUsd, 0);
      expect([spentNanoUsd, heldNanoUsd, await store.openHolds()]).toEqual([spent, 0, 0]);
    }),
    { numRuns: 25 },
  );
  expect([...types].sort()).toEqual(['before admitted', 'before cached', 'now admitted', 'now cached']);
  await rows.drain(store);
  expect([rows.costNanoUsd, rows.doubled]).toEqual([spent, 0]);
  expect(await redis.hmget(`${keys.prefix}k:k1`, 'c', 'h')).toEqual(['0', '0']);
  const [values, facts, byAge, byExpiry, totals] = keys.cache;
  const kept = await redis.hgetall(facts);
  const bytes = Object.values(kept).reduce((all, fact) => all + Number(fact.split(' ')[1]), 0);
  expect(bytes).toBeLessThanOrEqual(CACHE_BYTES);
  expect(Number(await redis.hget(totals, 'b'))).toBe(bytes);
  const counts = [await redis.hlen(values), await redis.zcard(byAge), await redis.zcard(byExpiry)];
  expect(counts).toEqual(counts.map(() => Object.keys(kept).length));
}, 30_000);

test('each reaps what a dead process of the other left open', async () => {
  const [left, mine] = [0, 1].map((key) => requestFor({ key, customer: 1, question: 99 })) as [
    AdmitRequest,
    AdmitRequest,
  ];
  await admitBefore(left);
  await store.admit(mine);
  for (const { requestId } of [left, mine]) await redis.zadd(keys.leases, 1, requestId);
  const { names } = accountOf(mine);
  const reaped = [
    keys.epoch,
    names[0],
    names[1],
    keys.log,
    keys.holds,
    keys.leases,
    names[2],
    doneKey(keys, mine.requestId),
  ];
  expect(await run('reap', reaped, epoch, '', mine.requestId, 'c1', mine.requested.lostRecord)).toBe(1);
  expect(await store.reap()).toBe(1);
  await until(async () => (await store.openHolds()) === 0);
  expect((await store.counters()).every(({ heldNanoUsd }) => heldNanoUsd === 0)).toBe(true);
});
