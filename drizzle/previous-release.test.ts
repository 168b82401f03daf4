// `packages/testing/version-0.2/statements.jsonl` has what version 0.2.0 sends to Postgres, recorded: its drain of requests, tool calls and
// a late settlement, what it reads at its start and for a key, statistics, and rows that an operator makes.
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
import { takenBy } from './migrations-that-take.fixture';
import { insertLogRecords } from './queries/logs/log-insert';
import { loadOverview } from './queries/stats/read/load-stats';

/** Newest last, each with its last migration. A release is a line here and a date in CHANGELOG.md. */
const RELEASES = [
  { version: '0.1.0', last: '0027_ranked-hours' },
  { version: '0.2.0', last: '0053_alerts-that-name' },
] as const;
const [, PREVIOUS] = RELEASES;
const VERSIONS = RELEASES.map(({ version }) => version);
const ROOT = join(import.meta.dir, '..');
const AT_MS = Date.parse('2026-11-24T12:00:00Z');
const HOUR_MS = 3_600_000;

test('a migration behind the last release only adds: the release goes on beside it, and can come back', async () => {
  const later = (await readShippedMigrations()).filter(({ name }) => name > PREVIOUS.last);
  expect(later.flatMap(({ name, sql }) => takenBy(sql, VERSIONS).map((taken) => `${name}: ${taken}`))).toEqual([]);
});

test.each([
  ['DROP TABLE rollup_hour;', 1],
  ['ALTER TABLE projects\n  DROP COLUMN name;', 1],
  ['alter table projects drop name', 1],
  ['ALTER TABLE projects RENAME COLUMN name TO title', 1],
  ['ALTER TABLE rollup_hour ALTER a TYPE bytea, ALTER COLUMN b SET DATA TYPE text', 2],
  ['ALTER TABLE projects ALTER name SET NOT NULL', 1],
  ['ALTER TABLE projects ADD COLUMN kind text NOT NULL', 1],
  ['TRUNCATE gateway_logs', 1],
  ['DELETE FROM providers', 1],
  ['DROP TABLE rollup_hour; -- unused since 0.2.0', 0],
  ['DROP TABLE rollup_hour; -- unused since 0.9.0', 1],
  ["ALTER TABLE projects ADD COLUMN kind text NOT NULL DEFAULT 'a'; -- DROP TABLE is said, not done", 0],
  ['CREATE TABLE a (b text NOT NULL); CREATE TEMPORARY TABLE c ON COMMIT DROP AS SELECT 1', 0],
  ['ALTER TABLE alerts DROP CONSTRAINT alerts_kind_check; ALTER TABLE a ALTER b DROP NOT NULL', 0],
])('%s takes %i', (sql, count) => {
  expect(takenBy(sql, VERSIONS)).toHaveLength(count);
});

test('each release has its date in the changelog, and what is newer has none', async () => {
  const text = await Bun.file(join(ROOT, 'CHANGELOG.md')).text();
  const [unreleased, ...released] = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
  expect(unreleased).toBe('Unreleased');
  const dated = released.map((heading) => /^(\d+\.\d+\.\d+) – \d{4}-\d{2}-\d{2}$/.exec(heading ?? '')?.[1]);
  expect(dated).toEqual([...VERSIONS].reverse());
});

interface Statement {
  readonly sql: string;
  readonly params: readonly never[];
}

async function openEmpty(name: string): Promise<{ readonly database: Database; readonly close: () => Promise<void> }> {
  if (name === 'embedded') {
    const dataDir = temporaryFolder('version-0.2');
    const embedded = await startEmbeddedPostgres({ dataDir, onWarning: console.warn });
    const database = connectDatabase({ socketPath: embedded.socketPath });
    const close = async () => {
      await database.close();
      await embedded.stop();
      rmSync(dataDir, { recursive: true, force: true });
    };
    return { database, close };
  }
  const own = await createDatabase(process.env.TEST_DATABASE_URL ?? '');
  // One connection: transactions of the record are statements among others.
  const database = connectDatabase({ url: own.url }, { maxConnections: 1 });
  return { database, close: () => database.close().then(() => own.drop()) };
}

describe.each(TEST_DATABASES.map(({ name }) => name))(
  'the previous release on data of this version, and back, on %s',
  (name) => {
    let database: Database;
    let close: () => Promise<void>;
    beforeAll(async () => {
      ({ database, close } = await openEmpty(name));
      await migrateDatabase(database.client, { onWarning: console.warn });
    }, 120_000);
    afterAll(() => close());

    const write = (minutes: number) =>
      insertLogRecords(
        database.db,
        Array.from({ length: 5 }, (_, n) =>
          sampleRecord({ createdAtMs: AT_MS + minutes * 60_000 + n, costNanoUsd: 100 }),
        ),
      );
    const overview = () => {
      const range = { fromMs: AT_MS - 25 * HOUR_MS, toMs: AT_MS + 2 * HOUR_MS };
      return loadOverview(database.db, { ...range, nowMs: range.toMs });
    };

    test('it drains and reads, and this version goes on from there', async () => {
      // Its record makes the partition of its day itself.
      await write(-24 * 60);
      const lines = (await Bun.file(join(ROOT, 'packages/testing/version-0.2/statements.jsonl')).text())
        .trim()
        .split('\n');
      expect(lines.length).toBeGreaterThan(70);
      for (const line of lines) {
        const { sql, params } = JSON.parse(line) as Statement;
        await database.client.unsafe(sql, [...params]).catch((error: unknown) => {
          throw new Error(`0.2.0 cannot run this any more: ${sql.trim().slice(0, 300)}`, { cause: error });
        });
      }
      // 12 requests at $0.000014133, one of them corrected, and a tool call at 77 nano-dollars.
      expect(await overview()).toMatchObject({ requests: 17, errors: 3, costNanoUsd: 14_133 + 500 });
      await write(30);
      expect(await overview()).toMatchObject({ requests: 22, costNanoUsd: 14_133 + 1000 });
      const [sums] = await database.client.unsafe<{ rollups: string; rows: string }[]>(`
      select (select sum(cost_usd) from rollup_day)::text as rollups,
        ((select sum(cost_usd) from gateway_logs) + (select sum(cost_usd) from tool_calls))::text as rows`);
      expect(sums?.rollups).toBe(sums?.rows ?? '');
    });
  },
);
