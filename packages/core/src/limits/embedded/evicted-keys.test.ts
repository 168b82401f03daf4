import { expect, test } from 'bun:test';
import { makeTempDir } from '../store-rows.fixture';
import { EmbeddedCache } from './cache';
import { EvictedKeys } from './evicted-keys';

const keyOf = (n: number) => Bun.CryptoHasher.hash('sha256', String(n), 'hex');

test('every evicted key is known until it expires, and hardly any other', () => {
  const keys = new EvictedKeys();
  for (let n = 0; n < 800_000; n++) keys.add(keyOf(n), { expiresAtMs: 2_000, nowMs: 1_000 });
  let missing = 0;
  for (let n = 0; n < 800_000; n += 7) if (!keys.has(keyOf(n), 1_999)) missing += 1;
  let foreign = 0;
  for (let n = 1_000_000; n < 1_020_000; n++) if (keys.has(keyOf(n), 1_999)) foreign += 1;
  expect([missing, keys.isFull]).toEqual([0, true]);
  expect(foreign / 20_000).toBeLessThan(0.02);
  expect(keys.has(keyOf(0), 2_000)).toBe(false);
  keys.add(keyOf(-1), { expiresAtMs: 5_000, nowMs: 3_000 });
  expect([keys.has(keyOf(-1), 4_000), keys.has(keyOf(0), 4_000), keys.isFull]).toEqual([true, false, false]);
});

test('a full cache knows what it evicted; the process after it takes everything for evicted', () => {
  const dir = makeTempDir();
  try {
    const open = () => {
      const cache = new EmbeddedCache({ dir: dir.path, maxBytes: 10_000 });
      cache.open(0);
      return cache;
    };
    const cache = open();
    const put = (key: string) =>
      cache.put('p', { key, value: 'v'.repeat(1000), ttlMs: 500_000, provider: 'p', model: 'm' }, 0);
    for (let n = 0; n < 30; n++) put(keyOf(n));
    const evicted = (from: EmbeddedCache, n: number, atMs = 1) => from.isIncomplete('p', keyOf(n), atMs);
    expect([evicted(cache, 0), evicted(cache, 22), evicted(cache, 1000), evicted(cache, 0, 500_000)]).toEqual([
      ...[true, true, false, false],
    ]);
    cache.close();
    const next = open();
    expect([evicted(next, 0), evicted(next, 1000), next.isIncomplete('other', keyOf(1000), 1)]).toEqual([
      true,
      true,
      false,
    ]);
    expect(evicted(next, 1000, 600_000)).toBe(false);
    next.close();
  } finally {
    dir.remove();
  }
});
