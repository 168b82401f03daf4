import { rm } from 'node:fs/promises';
import type { AdmitRequest } from '@llm0/core/limits/hot-store';
import { openRedis } from '@llm0/core/limits/redis/connection';
import { RedisHotStore } from '@llm0/core/limits/redis/redis-hot-store';
import { makeTempDir, requestOf, StoredRows, settlementOf } from '@llm0/core/limits/store-rows.fixture';
import { startRedis } from '@llm0/testing/stores/start-redis';
import type { Redis } from 'ioredis';
import { median } from '../report/rows';

export interface ScriptResult {
  readonly name: string;
  /** Microseconds a call takes inside Redis (`INFO commandstats`): the best batch, and the median one. */
  readonly minUs: number;
  readonly medianUs: number;
  /** Microseconds until the caller has the reply, one call at a time; medians of batches. */
  readonly roundTripUs: number;
}

const BATCHES = 10;
const CALLS = 200;
const CUSTOMER_LIMIT = 1_000_000_000_000;

/** `evalsha` of `INFO commandstats`; 0 calls where it was never used. */
export function parseCommandStats(info: string): { readonly calls: number; readonly usec: number } {
  const [, calls = '0', usec = '0'] = /^cmdstat_evalsha:calls=(\d+),usec=(\d+)/m.exec(info) ?? [];
  return { calls: Number(calls), usec: Number(usec) };
}

interface Case {
  readonly name: string;
  call(store: RedisHotStore): Promise<unknown>;
}

const CACHE_KEY = 'cached';
const limits: Partial<AdmitRequest> = {
  keyBucket: { ratePerMinute: 1_000_000_000, burst: 1_000_000_000 },
  projectCapNanoUsd: CUSTOMER_LIMIT,
  keyBudgetNanoUsd: CUSTOMER_LIMIT,
  tokensPerMinute: 1_000_000_000,
  maxConcurrency: 1_000_000,
  customerId: 'customer',
};

const CASES: readonly Case[] = [
  { name: 'admit without limits', call: (store) => store.admit(requestOf({ requested: { cacheKey: 'absent' } })) },
  { name: 'admit with every limit', call: (store) => store.admit(requestOf({ ...limits, keyId: 'key-2' })) },
  {
    name: 'admit: exact hit',
    call: (store) => store.admit(requestOf({ ...limits, keyId: 'key-3', requested: { cacheKey: CACHE_KEY } })),
  },
  {
    name: 'admit: denied',
    call: (store) => store.admit(requestOf({ keyId: 'key-4', keyBucket: { ratePerMinute: 1, burst: 1 } })),
  },
];

/** What the admission scripts cost, on a Redis of their own. */
export async function measureScripts(): Promise<readonly ScriptResult[]> {
  const server = await startRedis();
  const dir = makeTempDir();
  const redis = openRedis(server.url);
  const store = new RedisHotStore({ url: server.url, dataDir: dir.path, admitDeadlineMs: 10_000 });
  try {
    await store.start(new StoredRows());
    await setUp(store);
    const results: ScriptResult[] = [];
    for (const { name, call } of CASES) {
      results.push(await measureBatches(redis, name, async () => () => callInTurn(() => call(store))));
    }
    results.push(await measureBatches(redis, 'settle, 200 at once', () => admitToSettle(store)));
    return results;
  } finally {
    await store.close();
    redis.disconnect();
    await server.stop();
    await rm(dir.path, { recursive: true, force: true });
  }
}

async function setUp(store: RedisHotStore): Promise<void> {
  const request = requestOf({ requested: { cacheKey: CACHE_KEY } });
  const decision = await store.admit(request);
  const value = JSON.stringify({ v: 1, response: 'word '.repeat(100) });
  const cache = { key: CACHE_KEY, value, ttlMs: 3_600_000, provider: 'openai', model: 'gpt-4o-mini' };
  store.settle(settlementOf(request, decision.nowMs, { cache }));
  await store.flush(1000);
}

/** Times batches of calls; what `prepare` does before it returns a batch is not timed. */
async function measureBatches(
  redis: Redis,
  name: string,
  prepare: () => Promise<() => Promise<unknown>>,
): Promise<ScriptResult> {
  const insideUs: number[] = [];
  const roundTripsUs: number[] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    const run = await prepare();
    await redis.config('RESETSTAT');
    const startMs = performance.now();
    await run();
    roundTripsUs.push(((performance.now() - startMs) * 1000) / CALLS);
    const { calls, usec } = parseCommandStats(await redis.info('commandstats'));
    insideUs.push(usec / Math.max(1, calls));
  }
  return { name, minUs: Math.min(...insideUs), medianUs: median(insideUs), roundTripUs: median(roundTripsUs) };
}

async function callInTurn(call: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < CALLS; i++) await call();
}

/** Admits requests; what it returns settles them together, as answers that end in the same turn are. */
async function admitToSettle(store: RedisHotStore): Promise<() => Promise<unknown>> {
  const open: { readonly request: AdmitRequest; readonly nowMs: number }[] = [];
  for (let i = 0; i < CALLS; i++) {
    const request = requestOf({ ...limits, keyId: 'key-5' });
    open.push({ request, nowMs: (await store.admit(request)).nowMs });
  }
  return () => {
    for (const { request, nowMs } of open) store.settle(settlementOf(request, nowMs));
    return store.flush(10_000);
  };
}
