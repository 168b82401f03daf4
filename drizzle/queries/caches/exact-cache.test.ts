import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { WarmEntry } from '@llm0/core/cache/warm-cache';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import fc from 'fast-check';
import type { Database } from '../../client';
import { fromJsonb, toJsonb } from '../jsonb-text';
import { deleteExpired } from '../logs/retention';
import { createWarmStore } from './exact-cache';

const NOW_MS = Date.parse('2032-02-03T04:05:06.789Z');

describe.each(TEST_DATABASES)('the warm cache tier on $name', (kind) => {
  let database: Database;
  const projectId = crypto.randomUUID();
  beforeAll(async () => {
    database = await kind.open();
  }, 60_000);
  afterAll(() => database.close());

  const entry = (given: Partial<WarmEntry> = {}): WarmEntry => ({
    projectId,
    cacheKey: crypto.randomUUID(),
    value: '{"v": 1}',
    provider: 'alpha',
    model: 'model-a',
    promptTokens: 3,
    completionTokens: 4,
    createdAtMs: NOW_MS,
    expiresAtMs: NOW_MS + 60_000,
    ...given,
  });
  const find = (cacheKey: string, nowMs = NOW_MS) => createWarmStore(database.db).find(projectId, cacheKey, nowMs);
  const write = (...entries: WarmEntry[]) => createWarmStore(database.db).write(entries);

  test('an entry is found until it expires, in its own project only', async () => {
    const one = entry();
    await write(one);
    expect(await find(one.cacheKey)).toEqual({
      value: '{"v": 1}',
      provider: 'alpha',
      model: 'model-a',
      expiresAtMs: NOW_MS + 60_000,
    });
    expect(await find(one.cacheKey, NOW_MS + 59_999)).not.toBeNull();
    expect(await find(one.cacheKey, NOW_MS + 60_000)).toBeNull();
    expect(await createWarmStore(database.db).find(crypto.randomUUID(), one.cacheKey, NOW_MS)).toBeNull();
  });

  test('a newer entry replaces, an older one does not; keys may repeat within a batch', async () => {
    const one = entry({ value: '{"n": 1}' });
    await write(one, { ...one, value: '{"n": 2}' });
    expect((await find(one.cacheKey))?.value).toBe('{"n": 2}');
    await write({ ...one, value: '{"n": 3}', createdAtMs: NOW_MS + 1 });
    await write({ ...one, value: '{"n": 4}', createdAtMs: NOW_MS });
    expect((await find(one.cacheKey))?.value).toBe('{"n": 3}');
  });

  test('hits are counted on top of each other', async () => {
    const one = entry();
    await write(one);
    const store = createWarmStore(database.db);
    await store.countHits([{ projectId, cacheKey: one.cacheKey, hits: 2 }], NOW_MS);
    await store.countHits([{ projectId, cacheKey: one.cacheKey, hits: 3 }], NOW_MS + 5);
    const [row] = await database.client<{ hits: string; at: Date }[]>`
      select hit_count as hits, last_hit_at as at from exact_cache where cache_key = ${one.cacheKey}`;
    expect(Number(row?.hits)).toBe(5);
  });

  test.each([
    '\u0000 in text',
    'half a pair \ud83d',
    'a backslash \\u0000 spelled out',
    'plain 😀',
    'base64:',
    '"base64:x"',
  ])('an answer with %j comes back as it was', async (text) => {
    const one = entry({ value: JSON.stringify({ v: 1, text }) });
    await write(one);
    expect(JSON.parse((await find(one.cacheKey))?.value ?? '')).toEqual({ v: 1, text });
  });

  test('expired entries are removed, others stay', async () => {
    const old = entry({ expiresAtMs: NOW_MS - 1 });
    const fresh = entry();
    await write(old, fresh);
    expect(await deleteExpired(database.db, 'exact_cache', NOW_MS)).toBeGreaterThanOrEqual(1);
    expect(await find(old.cacheKey, NOW_MS - 1000)).toBeNull();
    expect(await find(fresh.cacheKey)).not.toBeNull();
  });

  test('an entry the database can never take is told from a database that is away', async () => {
    await expect(write(entry({ model: 'nul \u0000' }), entry())).rejects.toMatchObject({
      name: 'RecordsRejectedError',
    });
  });
});

test('any JSON survives the way through jsonb text', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const json = JSON.stringify(value);
      expect(fromJsonb(toJsonb(json))).toBe(json);
      expect(toJsonb(json)).not.toMatch(/\\u(?:0000|d[89a-f])/i);
    }),
  );
});
