import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { SemanticEntry, SemanticGroup } from '@llm0/core/cache/semantic/semantic-store';
import { TEST_DATABASES, type TestDatabase } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import type { LookUpPool } from '../../look-up-pool';
import { deleteExpiredSemantic } from '../logs/retention';
import { purgeStoredCache } from './cache-purge';
import { createSemanticStore } from './semantic-cache';
import { evictSemanticEntry, rememberRejection, writeSemanticMatches } from './semantic-matches';

const HOUR_MS = 3_600_000;

describe.each(TEST_DATABASES)('semantic store on $name', (kind) => {
  let database: TestDatabase;
  let lookUps: LookUpPool;
  beforeAll(async () => {
    database = await kind.open();
    lookUps = database.openLookUps();
  }, 60_000);
  afterAll(async () => {
    await lookUps.close();
    await database.close();
  });

  const store = (largeGroup?: number) => createSemanticStore({ db: database.db, lookUps, largeGroup });
  const newGroup = (given: Partial<SemanticGroup> = {}): SemanticGroup => ({
    projectId: crypto.randomUUID(),
    provider: 'alpha',
    model: 'm1',
    fingerprint: 'f'.repeat(64),
    ...given,
  });
  const entry = (group: SemanticGroup, given: Partial<SemanticEntry> = {}): SemanticEntry => ({
    ...group,
    cacheKey: crypto.randomUUID(),
    question: 'what is it?',
    questionHash: crypto.randomUUID(),
    vector: direction(1, 0),
    value: '{"v":1,"response":{"choices":[]}}',
    promptTokens: 3,
    completionTokens: 4,
    createdAtMs: Date.now(),
    expiresAtMs: Date.now() + HOUR_MS,
    ...given,
  });
  const search = (group: SemanticGroup, vector: Float32Array, questionHash = 'none') => ({
    ...{ group, vector, questionHash, nowMs: Date.now(), limit: 5, valueFrom: 2 },
  });

  test('nearest first, with similarity and what it takes to answer', async () => {
    const group = newGroup();
    const near = entry(group, { question: 'near', vector: direction(1, 0.1) });
    const far = entry(group, { question: 'far', vector: direction(1, 1) });
    await store().write([far, near]);
    const found = await store().findNearest(search(group, direction(1, 0)));
    expect(found.map(({ question }) => question)).toEqual(['near', 'far']);
    expect(found[1]?.similarity).toBeCloseTo(Math.SQRT1_2, 5);
    expect(found[0]).toMatchObject({ cacheKey: near.cacheKey, isRejected: false });
    expect(await store().readValue(group.projectId, near.cacheKey)).toContain('choices');
    const [withValue, ...others] = await store().findNearest({ ...search(group, direction(1, 0)), valueFrom: 0.5 });
    expect(JSON.parse(withValue?.value ?? '')).toEqual(JSON.parse(near.value));
    expect(others.every(({ value }) => value === undefined)).toBe(true);
    expect(found[0]?.value).toBeUndefined();
    expect(await store().isAvailable()).toBe(true);
  });

  test.each<[string, Partial<SemanticGroup>]>([
    ['project', { projectId: crypto.randomUUID() }],
    ['provider', { provider: 'beta' }],
    ['model', { model: 'm2' }],
    ['surroundings', { fingerprint: 'e'.repeat(64) }],
  ])('another %s never sees it, by either way of searching', async (_name, other) => {
    const group = newGroup();
    await store().write([entry(group)]);
    for (const largeGroup of [undefined, 0]) {
      expect(await store(largeGroup).findNearest(search(group, direction(1, 0)))).toHaveLength(1);
      expect(await store(largeGroup).findNearest(search({ ...group, ...other }, direction(1, 0)))).toEqual([]);
    }
  });

  test('vectors of another size are never compared, and each size gets its index', async () => {
    const group = newGroup();
    await store().write([entry(group), entry(group, { vector: Float32Array.from([1, 0, 0]) })]);
    expect(await store().findNearest(search(group, Float32Array.from([0, 1, 0])))).toMatchObject([{ similarity: 0 }]);
    expect(await store(0).findNearest(search(group, Float32Array.from([0, 1, 0])))).toHaveLength(1);
    const [index] = await database.db.execute<{ def: string }>(
      sql`select indexdef as def from pg_indexes where indexname = 'semantic_cache_hnsw_3'`,
    );
    expect(index?.def).toContain('(dimensions = 3)');
  });

  test('beyond 2,000 dimensions the scan is exact', async () => {
    const group = newGroup();
    const vector = new Float32Array(2500);
    vector[2499] = 1;
    await store().write([entry(group, { vector })]);
    expect(await store(0).findNearest(search(group, vector))).toMatchObject([{ similarity: 1 }]);
  });

  test('the same key is renewed, never by an older answer; what expired is not found, and cleaned up', async () => {
    const group = newGroup();
    const first = entry(group, { question: 'first' });
    const second = { ...first, question: 'second', createdAtMs: first.createdAtMs + 5 };
    await store().write([first, second]);
    await store().write([first]);
    expect(await store().findNearest(search(group, direction(1, 0)))).toMatchObject([{ question: 'second' }]);
    const gone = entry(group, { expiresAtMs: Date.now() - 1, question: 'gone' });
    await store().write([gone]);
    expect(await store().findNearest(search(group, direction(1, 0)))).toHaveLength(1);
    expect(await deleteExpiredSemantic(database.db, Date.now())).toBeGreaterThanOrEqual(1);
    expect(await store().readValue(group.projectId, gone.cacheKey)).toBeNull();
  });

  test('texts Postgres can not hold are refused alone', async () => {
    await expect(store().write([entry(newGroup(), { question: 'a\u0000b' })])).rejects.toThrow(/\S/);
  });

  test('a rejected pair is marked in both directions, in its project only', async () => {
    const group = newGroup();
    const stranger = newGroup();
    const kept = { questionHash: 'kept', cacheKey: 'k1' };
    await store().write([entry(group, kept), entry(stranger, kept)]);
    const match = sampleMatch({ projectId: group.projectId, questionHash: 'asked', matchedHash: 'kept' });
    await rememberRejection(database.db, match);
    await rememberRejection(database.db, match);
    const isRejected = async (of: SemanticGroup, hash: string) =>
      (await store().findNearest(search(of, direction(1, 0), hash)))[0]?.isRejected;
    expect(await isRejected(group, 'asked')).toBe(true);
    expect(await isRejected(group, 'else')).toBe(false);
    expect(await isRejected(stranger, 'asked')).toBe(false);
    await store().write([entry(group, { ...kept, questionHash: 'asked', createdAtMs: Date.now() + 5 })]);
    expect(await isRejected(group, 'kept')).toBe(true);
  });

  test('eviction takes the entry and what it was served to; purge takes by condition', async () => {
    const group = newGroup();
    const [one, two] = [entry(group), entry(group, { model: 'm2' })];
    await store().write([one, two]);
    await writeSemanticMatches(database.db, [
      sampleMatch({
        projectId: group.projectId,
        outcome: 'served',
        cacheKey: 'other wording',
        matchedKey: one.cacheKey,
      }),
    ]);
    const evicted = await evictSemanticEntry(database.db, group.projectId, one.cacheKey);
    expect(evicted).toMatchObject({ semantic: 1, warm: 0 });
    expect(evicted.keys.toSorted()).toEqual([one.cacheKey, 'other wording'].toSorted());
    const purged = await purgeStoredCache(database.db, { projectId: group.projectId, model: 'm2' }, Date.now());
    expect(purged.semantic).toBe(1);
  });

  test('hits are counted', async () => {
    const group = newGroup();
    const one = entry(group);
    await store().write([one]);
    await store().countHits([one, one, one], Date.now());
    const [row] = await database.db.execute<{ n: number }>(
      sql`select hit_count::int as n from semantic_cache where cache_key = ${one.cacheKey}`,
    );
    expect(row?.n).toBe(3);
  });
});

const sampleMatch = (given: object) => ({
  projectId: crypto.randomUUID(),
  requestId: crypto.randomUUID(),
  createdAtMs: Date.now(),
  outcome: 'served' as const,
  guard: null,
  similarity: 0.9,
  threshold: 0.86,
  cacheKey: 'a',
  matchedKey: 'b',
  questionHash: 'a',
  matchedHash: 'b',
  prompt: null,
  matchedPrompt: null,
  ...given,
});

/** A unit vector of 384 dimensions in the plane of the first two. */
function direction(x: number, y: number): Float32Array {
  const vector = new Float32Array(384);
  const length = Math.hypot(x, y);
  vector[0] = x / length;
  vector[1] = y / length;
  return vector;
}
