import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { TEST_DATABASES, type TestDatabase } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import type { LookUpPool } from '../../look-up-pool';
import { createSemanticStore } from './semantic-cache';

const GROUP_SIZE = 2600;
const STRANGERS = 2000;
const QUESTIONS = 200;
const DIMENSIONS = 24;
const SETUP_MS = 240_000;
/** Other connections report what they did late. */
const STATISTICS_MS = 15_000;

/** Vectors lie in clusters, as questions do; made by Postgres from a seed, so that millions of numbers need not travel. */
const fill = (projectId: string, rows: number, seed: number) => sql`
  insert into semantic_cache (project_id, cache_key, fingerprint, provider, model, dimensions, embedding,
    original_prompt, prompt_tokens, completion_tokens, cached_response, expires_at)
  select ${projectId}::uuid, i::text, 'f', 'alpha', 'm', ${sql.raw(String(DIMENSIONS))},
    (select array_agg(sin(i % 97 * 12.9898 + d * 78.233) + 0.35 * sin(i * 0.7 * d + ${seed}::float8 + i * 1.3))::vector
      from generate_series(1, ${sql.raw(String(DIMENSIONS))}) d),
    'question', 0, 0, '{}', now() + interval '1 hour'
  from generate_series(1, ${sql.raw(String(rows))}) i`;

describe.each(TEST_DATABASES)('large groups on $name', (kind) => {
  let database: TestDatabase;
  let lookUps: LookUpPool;
  const projectId = crypto.randomUUID();
  beforeAll(async () => {
    database = await kind.open();
    lookUps = database.openLookUps();
    const { db } = database;
    await createSemanticStore({ db, lookUps }).write([
      {
        ...{ projectId, provider: 'alpha', model: 'm', fingerprint: 'f', cacheKey: 'first', question: 'first' },
        ...{ questionHash: '', value: '{}', promptTokens: 0, completionTokens: 0, createdAtMs: 0, expiresAtMs: 1 },
        vector: Float32Array.from({ length: DIMENSIONS }, () => 1),
      },
    ]);
    await db.execute(fill(projectId, GROUP_SIZE, 1));
    await db.execute(fill(crypto.randomUUID(), STRANGERS, 2));
    await db.execute(sql`analyze semantic_cache`);
  }, SETUP_MS);
  afterAll(async () => {
    await database.db.execute(sql`delete from semantic_cache where dimensions = ${DIMENSIONS}`);
    await lookUps.close();
    await database.close();
  }, SETUP_MS);

  test(
    'recall@1 against brute force is at least 0.99, by the index',
    async () => {
      const { db } = database;
      const byIndex = createSemanticStore({ db, lookUps, largeGroup: GROUP_SIZE / 2 });
      const byScan = createSemanticStore({ db, lookUps, largeGroup: GROUP_SIZE * 10 });
      const before = await indexScans(database);
      let same = 0;
      for (let i = 0; i < QUESTIONS; i++) {
        const vector = Float32Array.from({ length: DIMENSIONS }, (_, d) => {
          const at = i * 29 + 3;
          return Math.sin((at % 97) * 12.9898 + (d + 1) * 78.233) + 0.35 * Math.sin(at * 1.9 * (d + 1) + 5);
        });
        const search = {
          group: { projectId, provider: 'alpha', model: 'm', fingerprint: 'f' },
          ...{ vector, questionHash: '', nowMs: Date.now(), limit: 5, valueFrom: 2 },
        };
        const [nearest] = await byScan.findNearest({ ...search });
        const [found] = await byIndex.findNearest({ ...search });
        if (nearest !== undefined && found !== undefined && found.similarity >= nearest.similarity - 1e-6) same += 1;
      }
      expect(same / QUESTIONS).toBeGreaterThanOrEqual(0.99);
      const deadlineMs = performance.now() + STATISTICS_MS;
      while ((await indexScans(database)) - before < QUESTIONS && performance.now() < deadlineMs) await Bun.sleep(100);
      expect((await indexScans(database)) - before).toBeGreaterThanOrEqual(QUESTIONS);
    },
    SETUP_MS,
  );
});

/** How often the index of this size was searched. */
async function indexScans({ db }: TestDatabase): Promise<number> {
  await db.execute(sql`select pg_stat_force_next_flush()`);
  await Bun.sleep(50);
  const [row] = await db.execute<{ n: number }>(
    sql`select idx_scan::int as n from pg_stat_user_indexes where indexrelname = 'semantic_cache_hnsw_24'`,
  );
  return row?.n ?? 0;
}
