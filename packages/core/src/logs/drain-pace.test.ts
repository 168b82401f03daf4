import { describe, expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { DrainPace } from './drain-pace';

interface Run {
  readonly depth: number;
  readonly incomingPerSecond: (second: number) => number;
  readonly batchMs: number;
  readonly seconds: number;
}

/** Batches of 1,000 until the queue has less than one, or the time is over. */
async function simulate({ depth, incomingPerSecond, batchMs, seconds }: Run) {
  let nowMs = 0;
  let queued = depth;
  let arrived = 0;
  let [drained, deepest] = [0, depth];
  const pass = (ms: number) => {
    const records = (incomingPerSecond(Math.floor(nowMs / 1000)) * ms) / 1000;
    nowMs += ms;
    queued += records;
    arrived += records;
    deepest = Math.max(deepest, queued);
  };
  const pace = new DrainPace({ nowMs: () => nowMs, depth: async () => queued });
  while (queued >= 1000 && nowMs < seconds * 1000) {
    pass(batchMs);
    queued -= 1000;
    drained += 1000;
    pass(await pace.pauseMs({ records: 1000, tookMs: batchMs }));
  }
  const took = nowMs / 1000;
  return { seconds: took, left: queued, deepest, drainedPerSecond: drained / took, arrivedPerSecond: arrived / took };
}

describe('pace of the drain', () => {
  test('while nothing comes in, it does not wait', async () => {
    const run = await simulate({ depth: 100_000, incomingPerSecond: () => 0, batchMs: 100, seconds: 60 });
    expect(run.drainedPerSecond).toBe(10_000);
  });

  test('while requests are served, it goes a bit faster than they come in, the faster the more it is behind', async () => {
    const extra = async (depth: number) => {
      const run = await simulate({ depth, incomingPerSecond: () => 2000, batchMs: 100, seconds: 20 });
      return run.drainedPerSecond - run.arrivedPerSecond;
    };
    expect(await extra(100_000)).toBeWithin(490, 700);
    expect(await extra(1_000_000)).toBeWithin(1600, 1900);
  });

  test('a million rows are gone within 40 minutes of full load', async () => {
    const run = await simulate({ depth: 1e6, incomingPerSecond: () => 2000, batchMs: 100, seconds: 3600 });
    expect(run.left).toBeLessThan(1000);
    expect(run.seconds).toBeLessThan(40 * 60);
  });

  test('it always catches up where the store can take what comes in, and no burst puts it far behind', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 4000 }), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1000, max: 50_000 }),
        async (rates, depth) => {
          const incomingPerSecond = (second: number) => rates[second % rates.length] ?? 0;
          const run = await simulate({ depth, incomingPerSecond, batchMs: 100, seconds: 1000 });
          expect(run.left).toBeLessThan(1000);
          expect(run.deepest).toBeLessThan(depth + 10_000);
        },
      ),
      { numRuns: runs(50) },
    );
  });

  test('a nearly full store never waits', async () => {
    const run = await simulate({ depth: 50_000, incomingPerSecond: () => 2000, batchMs: 480, seconds: 60 });
    expect(run.drainedPerSecond).toBeGreaterThan(2070);
  });

  test('without a depth, and after the backlog, it does not wait', async () => {
    let nowMs = 0;
    let isAway = false;
    const depth = async () => {
      if (isAway) throw new Error('away');
      return 10_000;
    };
    const pace = new DrainPace({ nowMs: () => nowMs, depth });
    const next = async () => {
      nowMs += 500;
      return await pace.pauseMs({ records: 1000, tookMs: 100 });
    };
    expect(await next()).toBe(0);
    expect(await next()).toBeGreaterThan(0);
    isAway = true;
    expect(await next()).toBe(0);
    isAway = false;
    expect(await next()).toBe(0);
    expect(await next()).toBeGreaterThan(0);
    pace.reset();
    expect(await next()).toBe(0);
  });
});
