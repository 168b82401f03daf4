import { describe, expect, test } from 'bun:test';
import { undisturbedMs } from '@llm0/testing/thread-time';
import { ZERO_USAGE } from '../chat/usage';
import { encodeCachedAnswer } from './cached-answer';
import { StoredWarmCache, type WarmEntry, type WarmHitCount, type WarmOutcome, type WarmStore } from './warm-cache';

const value = encodeCachedAnswer({
  v: 1,
  provider: 'alpha',
  model: 'm',
  response: { choices: [{ index: 0, text: 'hi', finishReason: 'stop' }] },
  usage: ZERO_USAGE,
  costNanoUsd: 7,
});

/** A warm tier in memory that can be slow or broken. */
function createWorld() {
  const world = {
    nowMs: 1_000_000,
    delayMs: 0,
    broken: false,
    rows: new Map<string, WarmEntry>(),
    hits: [] as WarmHitCount[],
    outcomes: [] as WarmOutcome[],
  };
  const store: WarmStore = {
    write: async (entries) => {
      for (const entry of entries) world.rows.set(entry.cacheKey, entry);
    },
    find: async (_projectId, cacheKey) => {
      if (world.delayMs > 0) await Bun.sleep(world.delayMs);
      if (world.broken) throw new Error('away');
      return world.rows.get(cacheKey) ?? null;
    },
    countHits: async (hits) => void world.hits.push(...hits),
  };
  const cache = new StoredWarmCache({
    store,
    nowMs: () => world.nowMs,
    onLookUp: (outcome) => world.outcomes.push(outcome),
    onDrop: () => {},
    deadlineMs: 40,
    maxLookUps: 2,
    everyMs: 5,
  });
  return { world, cache };
}

const entry = (cacheKey: string, ttlMs: number) => ({
  projectId: 'p',
  cacheKey,
  value,
  provider: 'alpha',
  model: 'm',
  promptTokens: 1,
  completionTokens: 2,
  ttlMs,
});

describe('StoredWarmCache', () => {
  test('entries are found with their remaining time, and hits count', async () => {
    const { world, cache } = createWorld();
    cache.write(entry('k', 10_000));
    await cache.flush(1000);
    world.nowMs += 4000;
    const hit = await cache.find('p', 'k');
    expect(hit?.remainingMs).toBe(6000);
    expect(hit?.stored.costNanoUsd).toBe(7);
    await cache.find('p', 'k');
    await cache.flush(1000);
    expect(world.hits).toEqual([{ projectId: 'p', cacheKey: 'k', hits: 2 }]);
    world.nowMs += 6000;
    expect(await cache.find('p', 'k')).toBeUndefined();
    expect(world.outcomes).toEqual(['hit', 'hit', 'miss']);
  });

  test('late, broken and damaged are misses, told apart', async () => {
    const { world, cache } = createWorld();
    cache.write({ ...entry('k', 10_000), value: '{"v":2}' });
    await cache.flush(1000);
    expect(await cache.find('p', 'k')).toBeUndefined();
    world.broken = true;
    expect(await cache.find('p', 'k')).toBeUndefined();
    world.delayMs = 3000;
    const startMs = performance.now();
    expect(await cache.find('p', 'k')).toBeUndefined();
    expect(performance.now() - startMs).toBeLessThan(2000);
    expect(world.outcomes).toEqual(['miss', 'error', 'late']);
    cache.stop();
  });

  test(
    'look-ups that hang do not pile up',
    async () => {
      const { world, cache } = createWorld();
      world.delayMs = 200;
      await Promise.all([cache.find('p', 'a'), cache.find('p', 'b')]);
      const startMs = undisturbedMs();
      expect(await cache.find('p', 'c')).toBeUndefined();
      expect(undisturbedMs() - startMs).toBeLessThan(30);
      await Bun.sleep(220);
      world.delayMs = 0;
      await cache.find('p', 'd');
      expect(world.outcomes).toEqual(['late', 'late', 'busy', 'miss']);
      cache.stop();
    },
    { retry: 2 },
  );
});
