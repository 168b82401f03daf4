// `packages/testing/version-0.1` holds what version 0.1 wrote of some 140 requests (`rows.sql`: all its tables, roll-ups included) and
// what it answered to questions about them (`answers.jsonl`; what is 0 or null is left out, and 9 digits are told).
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase } from '@llm0/testing/stores/create-database';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { temporaryFolder } from '@llm0/testing/stores/server-process';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { connectDatabase, type Database } from './client';
import { startEmbeddedPostgres } from './embedded/start-embedded-postgres';
import { migrateDatabase, readShippedMigrations } from './migrate';
import { listCustomers } from './queries/limits/customers';
import { insertLogRecords } from './queries/logs/log-insert';
import { loadBuckets, loadHistogram, loadOverview } from './queries/stats/read/load-stats';
import { sumMonths } from './queries/stats/read/spend-sums';

const FOLDER = join(import.meta.dir, '../packages/testing/version-0.1');
const LAST = '0027_ranked-hours';
const serverUrl = process.env.TEST_DATABASE_URL ?? '';

/** An empty database of its own. */
async function openEmpty(name: string): Promise<{ readonly database: Database; readonly close: () => Promise<void> }> {
  if (name === 'embedded') {
    const dataDir = temporaryFolder('version-0.1');
    const embedded = await startEmbeddedPostgres({ dataDir, onWarning: console.warn });
    const database = connectDatabase({ socketPath: embedded.socketPath });
    const close = async () => {
      await database.close();
      await embedded.stop();
      rmSync(dataDir, { recursive: true, force: true });
    };
    return { database, close };
  }
  const own = await createDatabase(serverUrl);
  const database = connectDatabase({ url: own.url });
  return { database, close: () => database.close().then(() => own.drop()) };
}

interface Asked {
  readonly kind: keyof typeof ASK;
  readonly query: never;
  readonly metric: never;
  readonly answer: unknown;
}

const ASK = {
  overview: (database: Database, { query }: Asked) => loadOverview(database.db, query),
  histogram: async (database: Database, { query, metric }: Asked) =>
    [...(await loadHistogram(database.db, query, metric)).all].sort(([a], [b]) => a - b),
  buckets: (database: Database, { query }: Asked) => loadBuckets(database.db, query),
  customers: (database: Database, { query }: Asked) => listCustomers(database.db, query),
  months: (database: Database, { query }: Asked) => sumMonths(database.db, query),
};

/** Parts of `errors`, which are counted since. */
const LATER_SUMS: ReadonlySet<string> = new Set(['failures', 'callerErrors']);

/** As the answers are kept. */
function shorten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shorten);
  if (typeof value === 'number') return Number.isInteger(value) ? value : Number(value.toPrecision(9));
  if (typeof value !== 'object' || value === null) return value;
  const known = Object.entries(value).filter(([name]) => !LATER_SUMS.has(name));
  const entries = known.map(([name, entry]) => [name, shorten(entry)] as const);
  const isSaid = (name: string, entry: unknown) =>
    name === 'startMs' || !(entry === 0 || entry === null || entry === undefined || isEmpty(entry));
  return Object.fromEntries(entries.filter(([name, entry]) => isSaid(name, entry)));
}

const isEmpty = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;

const ROLLUPS_AGAINST_ROWS = `select sum(cost_usd)::text as cost, sum(requests)::text as requests from rollup_day
  union all select sum(cost_usd)::text, count(*)::text from gateway_logs`;

describe.each(TEST_DATABASES.map(({ name }) => name))('a database of version 0.1 on %s', (name) => {
  let database: Database;
  let close: () => Promise<void>;
  let asked: readonly Asked[];
  beforeAll(async () => {
    ({ database, close } = await openEmpty(name));
    const migrations = (await readShippedMigrations()).filter((migration) => migration.name <= LAST);
    await migrateDatabase(database.client, { migrations, onWarning: () => {} });
    await database.client.unsafe(await Bun.file(join(FOLDER, 'rows.sql')).text()).simple();
    const lines = (await Bun.file(join(FOLDER, 'answers.jsonl')).text()).trim().split('\n');
    asked = lines.map((line) => JSON.parse(line));
    await migrateDatabase(database.client, { onWarning: console.warn });
  }, 120_000);
  afterAll(() => close());

  test('its migrations are still those that it was made with', async () => {
    const migrations = (await readShippedMigrations()).filter((migration) => migration.name <= LAST);
    const hash = new Bun.CryptoHasher('sha256');
    for (const migration of migrations) hash.update(`${migration.name}\n${migration.sql}\n`);
    expect(migrations).toHaveLength(26);
    expect(hash.digest('hex')).toBe('93bbe4f447266c71b86aba112eff4a594555c16fd8a352a0a4fb72cb88f978be');
  });

  test('gives the same statistics', async () => {
    expect(asked.length).toBeGreaterThan(30);
    for (const question of asked) {
      const answer = shorten(await ASK[question.kind](database, question));
      expect({ query: question.query, answer }).toEqual({ query: question.query, answer: question.answer } as never);
    }
  });

  test('has only the aggregates that are written and read', async () => {
    const rows = await database.client.unsafe<{ name: string }[]>(`
      select tablename as name from pg_tables where schemaname = 'public' and (tablename like 'rollup%' or tablename like 'customer_spend%')
      order by 1`);
    expect(rows.map((row) => row.name)).toEqual([
      'customer_spend',
      'rollup_day',
      'rollup_error',
      'rollup_guardrail_day',
      'rollup_guardrail_hour',
      'rollup_hour',
      'rollup_minute',
      'rollup_modality_day',
      'rollup_modality_hour',
      'rollup_tool_day',
      'rollup_tool_hour',
    ]);
  });

  test('takes new rows into its roll-ups', async () => {
    const query = { fromMs: Date.parse('2026-09-15T00:00:00Z'), toMs: Date.parse('2026-09-16T16:00:00Z') };
    const range = { ...query, nowMs: query.toMs };
    const before = await loadOverview(database.db, range);
    const records = Array.from({ length: 50 }, (_, index) =>
      sampleRecord({ createdAtMs: query.toMs - 1 - index * 61_000, latencyMs: 40_000, costNanoUsd: 11 + index }),
    );
    await insertLogRecords(database.db, records);
    const after = await loadOverview(database.db, range);
    expect(after.requests).toBe(before.requests + 50);
    expect(after.durations.latency.p95).toBeGreaterThan(39_000);
    const [rollups, rows] = await database.client.unsafe(ROLLUPS_AGAINST_ROWS);
    expect(rollups).toEqual(rows as never);
  });
});
