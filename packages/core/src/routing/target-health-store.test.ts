import { afterAll, describe, expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { connectRedis } from '../limits/redis/connection';
import { flushNamespace, testRedisUrl } from '../limits/store-rows.fixture';
import { Peers } from './places/peers';
import { RedisTargetHealth } from './redis-target-health';
import type { HealthReport } from './target-health-store';
import { healthStoreCases, type OpenHealthStores } from './target-health-store.cases';
import { MemoryTargetHealth } from './testing/memory-target-health';

const openMemory = (nowMs: () => number): OpenHealthStores => {
  const store = new MemoryTargetHealth(nowMs);
  return { process: (owner) => store.open(owner), dispose: async () => {} };
};

const client = connectRedis({ url: testRedisUrl() }, 'llm0-health-test');
afterAll(() => client.disconnect());

const openRedis = (nowMs: () => number): OpenHealthStores => {
  const namespace = `llm0-test-${crypto.randomUUID()}`;
  return {
    process: (owner) => new RedisTargetHealth({ client, owner, namespace, clock: nowMs }),
    dispose: () => flushNamespace(testRedisUrl(), namespace),
  };
};

healthStoreCases('memory', openMemory);
healthStoreCases('Redis', openRedis);

test('processes count each other, once they have something to split, while they beat', async () => {
  const clock = { ms: 1_800_000_000_000 };
  const namespace = `llm0-test-${crypto.randomUUID()}`;
  const open = (owner: string) => {
    const peers = new Peers();
    return { peers, store: new RedisTargetHealth({ client, owner, namespace, clock: () => clock.ms, peers }) };
  };
  const [one, two] = [open('one'), open('two')];
  const beat = async (...all: (typeof one)[]) => {
    for (const { store } of all) await store.exchange([]);
  };
  const shares = (limit: number) => [one.peers.shareOf(limit), two.peers.shareOf(limit)];
  try {
    await beat(one, two);
    expect([shares(5), await client.exists(`${namespace}:{health}:processes`)]).toEqual([[5, 5], 0]);
    one.peers.isNeeded = true;
    two.peers.isNeeded = true;
    await beat(one, two, one);
    expect(shares(5)).toEqual([3, 2]);
    clock.ms += 2000;
    await beat(one);
    expect(shares(5)).toEqual([3, 2]);
    clock.ms += 2000;
    await beat(one);
    expect(shares(5)).toEqual([5, 2]);
    await beat(two, one);
    expect(shares(1)).toEqual([1, 1]);
  } finally {
    await flushNamespace(testRedisUrl(), namespace);
  }
});

describe('both stores of target health', () => {
  test('give the same answers to any sequence of reports from three processes', async () => {
    const target = fc.constantFrom('a/x', 'a/y', 'b/x');
    const forMs = fc.integer({ min: 1, max: 20_000 });
    const report: fc.Arbitrary<HealthReport> = fc.oneof(
      fc.record({ type: fc.constant('open' as const), target, forMs, trips: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ type: fc.constant('close' as const), target }),
      fc.record({ type: fc.constant('cool' as const), target, forMs }),
      fc.record({ type: fc.constant('claim' as const), target }),
    );
    const step = fc.record({
      owner: fc.constantFrom('one', 'two', 'three'),
      waitMs: fc.oneof(fc.integer({ min: 0, max: 8000 }), fc.constantFrom(0, 40_000, 700_000)),
      reports: fc.array(report, { maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const clock = { ms: 1_800_000_000_000 };
        const [memory, redis] = [openMemory(() => clock.ms), openRedis(() => clock.ms)];
        try {
          for (const { owner, waitMs, reports } of steps) {
            clock.ms += waitMs;
            const sorted = (all: readonly { target: string }[] = []) =>
              all.toSorted((x, y) => x.target.localeCompare(y.target));
            const expected = sorted(await memory.process(owner).exchange(reports));
            expect(sorted(await redis.process(owner).exchange(reports))).toEqual(expected);
          }
        } finally {
          await redis.dispose();
        }
      }),
      { numRuns: runs(60) },
    );
  });
});
