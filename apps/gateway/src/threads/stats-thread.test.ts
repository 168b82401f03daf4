import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Database } from '@llm0/drizzle/client';
import { openDatabase } from '@llm0/drizzle/open-database';
import { storeLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { createDatabase } from '@llm0/testing/stores/create-database';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { createStatsReader, type StatsAnswer, type StatsQuestion } from '../admin/stats/answer-stats';
import { StatsThread } from './stats-thread';

const HOUR_MS = 3_600_000;
const nowMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
const query = { fromMs: nowMs - 6 * HOUR_MS, toMs: nowMs, nowMs };
const QUESTIONS: readonly StatsQuestion[] = [
  { kind: 'overview', query },
  { kind: 'histogram', query, metric: 'latency' },
  { kind: 'histogram', query: { ...query, intervalMs: HOUR_MS }, metric: 'ttft' },
  { kind: 'differences', query: { ...query, metric: 'latency', region: { ...query, minMs: 50, maxMs: 200 } } },
  { kind: 'flows', query },
  { kind: 'spend', query: { ...query, intervalMs: HOUR_MS, groupBy: 'customer', top: 2 } },
  { kind: 'latency', query: { ...query, intervalMs: HOUR_MS, groupBy: 'model', metrics: ['latency'] } },
  { kind: 'cache', query: { ...query, intervalMs: HOUR_MS } },
  { kind: 'errors', query: { ...query, groupBy: 'error_code' } },
  { kind: 'spend', query: { ...query, groupBy: 'label.team' } },
];

const serverUrl = process.env.TEST_DATABASE_URL;
if (serverUrl === undefined || serverUrl === '') throw new Error('TEST_DATABASE_URL is needed');

const textOf = async (answer: Promise<StatsAnswer>) => {
  const { json } = await answer;
  return typeof json === 'string' ? json : new TextDecoder().decode(json);
};

describe('statistics in a thread', () => {
  let own: Awaited<ReturnType<typeof createDatabase>>;
  let database: Database;
  let thread: StatsThread;
  beforeAll(async () => {
    own = await createDatabase(serverUrl);
    database = await openDatabase({ databaseUrl: own.url, dataDir: '', onWarning: () => {} });
    const records = Array.from({ length: 60 }, (_, index) =>
      sampleRecord({
        createdAtMs: query.fromMs + index * 300_000,
        model: `model-${index % 3}`,
        customerId: `customer-${index % 5}`,
        costNanoUsd: 1 + index,
        latencyMs: 10 + index * 7,
        labels: { team: index % 2 === 0 ? 'red' : '"blue"' },
        ...(index % 10 === 0 ? { status: 'error', httpStatus: 502, errorCode: 'upstream_error' } : {}),
      }),
    );
    await storeLogRecords(
      database.db,
      records.map((record) => JSON.stringify(record)),
    );
    thread = new StatsThread({ databaseUrl: own.url });
  }, 60_000);
  afterAll(async () => {
    thread.stop();
    await database.close();
    await own.drop();
  });

  test.each(QUESTIONS)('answers as the process itself would: %j', async (question) => {
    const expected = await textOf(createStatsReader(database.db).answer(question));
    expect(expected.length).toBeGreaterThan(80);
    expect(await textOf(thread.answer(question))).toBe(expected);
  });

  test('questions at once get their own answers', async () => {
    const alone = await Promise.all(
      QUESTIONS.map((question) => textOf(createStatsReader(database.db).answer(question))),
    );
    expect(await Promise.all(QUESTIONS.map((question) => textOf(thread.answer(question))))).toEqual(alone);
  });

  test('an error of the database keeps its code, and the next question is answered', async () => {
    const impossible: StatsQuestion = { kind: 'overview', query: { ...query, projectId: 'not a UUID' } };
    await expect(thread.answer(impossible)).rejects.toMatchObject({ code: '22P02' });
    expect(await textOf(thread.answer({ kind: 'overview', query }))).toContain('"requests":60');
  });

  test('a database that is not there is told as such', async () => {
    const alone = new StatsThread({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none' });
    try {
      await expect(alone.answer({ kind: 'overview', query })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    } finally {
      alone.stop();
    }
  });

  test('waiting callers get an error at a stop; the next question restarts it', async () => {
    const waiting = thread.answer({ kind: 'overview', query });
    thread.stop();
    await expect(waiting).rejects.toThrow('stopping');
    expect(await textOf(thread.answer({ kind: 'overview', query }))).toContain('"requests":60');
  });

  test('idle, it ends with its connections', async () => {
    const idle = new StatsThread({ databaseUrl: own.url, idleMs: 500 });
    const connections = async () => {
      const rows = await database.client<{ pid: number }[]>`
        select pid from pg_stat_activity where datname = current_database()`;
      return rows.map((row) => row.pid);
    };
    const before = new Set(await connections());
    const opened = async () => (await connections()).filter((pid) => !before.has(pid));
    await idle.answer({ kind: 'overview', query });
    expect(await opened()).not.toBeEmpty();
    for (let i = 0; i < 100 && (await opened()).length > 0; i++) await Bun.sleep(100);
    expect(await opened()).toBeEmpty();
    expect(await textOf(idle.answer({ kind: 'overview', query }))).toContain('"requests":60');
    idle.stop();
  });
});
