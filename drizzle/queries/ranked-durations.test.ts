import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { createDatabase } from '@llm0/testing/stores/create-database';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { connectDatabase, type Database, type Db } from '../client';
import { migrateDatabase, readShippedMigrations } from '../migrate';
import { insertLogRecords } from './logs/log-insert';
import { deleteExpired } from './logs/retention';
import { loadRankedDays, rankDays } from './ranked-durations';
import { type BucketQuery, type GroupBy, loadBuckets, loadHistogram, loadOverview } from './stats';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 4;

interface Traffic {
  readonly projects: readonly string[];
  readonly keys: readonly string[];
  readonly records: readonly LogRecord[];
  /** Start of the day after the last. */
  readonly endMs: number;
}

/** Two projects, three keys (one of both), three models; some durations missing. */
function makeTraffic(firstDay: string): Traffic {
  const startMs = Date.parse(firstDay);
  const projects = [crypto.randomUUID(), crypto.randomUUID()];
  const keys = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  const records = Array.from({ length: 600 }, (_, index) =>
    sampleRecord({
      projectId: projects[index % 2] ?? '',
      apiKeyId: keys[index % 6 === 5 ? 2 : index % 2] ?? '',
      createdAtMs: startMs + Math.floor((index * DAYS * DAY_MS) / 600),
      model: `model-${index % 3}`,
      finalProvider: index % 3 === 0 ? 'beta' : 'alpha',
      status: index % 11 === 0 ? 'error' : 'success',
      cacheHit: index % 5 === 0,
      costNanoUsd: 1_000 + (index % 3) * 100,
      latencyMs: 0.2 + ((index * 7919) % 997) * 1.7,
      ttftMs: index % 2 === 0 ? 1 + index : undefined,
      upstreamMs: index % 5 === 0 ? undefined : 3 + ((index * 31) % 400),
    }),
  );
  return { projects, keys, records, endMs: startMs + DAYS * DAY_MS };
}

/** What is asked of the traffic's days and a part of the day before and after. */
function questionsOf({ projects, keys, endMs }: Traffic): readonly BucketQuery[] {
  const range = { fromMs: endMs - DAYS * DAY_MS - 5 * HOUR_MS, toMs: endMs + 3 * HOUR_MS, nowMs: endMs + 8 * HOUR_MS };
  const filters = [
    {},
    { projectId: projects[0] },
    { apiKeyId: keys[2] },
    { model: 'model-1' },
    { projectId: projects[1], provider: 'alpha' },
    { status: 'error' },
    { model: 'model-1', status: 'success' },
  ];
  const groups: readonly (GroupBy | undefined)[] = [undefined, 'project', 'key', 'model', 'provider', 'status'];
  const intervals = [undefined, DAY_MS, 12 * HOUR_MS, 3 * HOUR_MS];
  const asked = filters.flatMap((filter, index) =>
    groups.flatMap((groupBy) =>
      (index > 0 ? intervals : [...intervals, 2 * DAY_MS, 6 * HOUR_MS, HOUR_MS]).map((intervalMs) => ({
        ...{ ...range, ...filter, groupBy, intervalMs, withDurations: true },
      })),
    ),
  );
  const withOthers = asked.filter(({ groupBy }) => groupBy === 'key' || groupBy === 'model');
  return [...asked, ...withOthers.map((question) => ({ ...question, top: 1 }))];
}

async function answersOf(db: Db, traffic: Traffic) {
  const buckets: unknown[] = [];
  for (const question of questionsOf(traffic)) buckets.push((await loadBuckets(db, question)).buckets);
  const [question] = questionsOf(traffic);
  if (question === undefined) throw new Error('nothing is asked');
  const histogram = [...(await loadHistogram(db, question, 'latency'))].sort(([a], [b]) => a - b);
  return { buckets, histogram, overview: await loadOverview(db, question) };
}

const daysOf = ({ endMs }: Traffic) => Array.from({ length: DAYS }, (_, index) => endMs - (index + 1) * DAY_MS);
const rankedOf = async (db: Db, traffic: Traffic) =>
  [...(await loadRankedDays(db, traffic.endMs - DAYS * DAY_MS, traffic.endMs))].sort((a, b) => b - a);

describe.each(TEST_DATABASES)('ranked durations on $name', (kind) => {
  let database: Database;
  let db: Db;
  beforeAll(async () => {
    database = await kind.open();
    db = database.db;
  }, 60_000);
  afterAll(() => database.close());

  const insert = async (traffic: Traffic) => {
    await insertLogRecords(db, traffic.records, { nowMs: () => traffic.endMs });
    return traffic;
  };

  test('every answer is what it was before, and percentiles come from what was ranked', async () => {
    const traffic = await insert(makeTraffic('2023-03-06'));
    const before = await answersOf(db, traffic);
    expect(before.histogram.length).toBeGreaterThan(50);
    expect(await rankedOf(db, traffic)).toEqual([]);
    await rankDays(db, traffic.endMs + 6 * HOUR_MS, DAYS);
    expect(await rankedOf(db, traffic)).toEqual(daysOf(traffic));
    expect(await answersOf(db, traffic)).toEqual(before);
    expect(await rankDays(db, traffic.endMs + 6 * HOUR_MS, 1)).not.toContain('2023-03-09');

    await database.client`update rollup_durations set p50 = 300 where project_id = ${traffic.projects[0] ?? ''}
      and step_hours = 24 and dimension = 'model'`;
    const range = { fromMs: traffic.endMs - DAY_MS, toMs: traffic.endMs, nowMs: traffic.endMs + 8 * HOUR_MS };
    const asked = { ...range, projectId: traffic.projects[0], groupBy: 'model' as const, intervalMs: DAY_MS };
    const { buckets } = await loadBuckets(db, { ...asked, withDurations: true });
    expect(new Set(buckets.map(({ durations }) => durations?.latency.p50)).size).toBe(1);
  }, 60_000);

  test('a day is ranked six hours after its end, the latest first', async () => {
    const traffic = await insert(makeTraffic('2023-04-03'));
    const [last = 0, ...earlier] = daysOf(traffic);
    await rankDays(db, traffic.endMs + 6 * HOUR_MS - 1, 1);
    expect(await rankedOf(db, traffic)).toEqual([earlier[0] ?? 0]);
    await rankDays(db, traffic.endMs + 6 * HOUR_MS, 1);
    expect(await rankedOf(db, traffic)).toEqual([last, earlier[0] ?? 0]);
  });

  test('what comes late or is corrected counts at once, and is ranked again', async () => {
    const traffic = await insert(makeTraffic('2023-05-01'));
    await rankDays(db, traffic.endMs + 6 * HOUR_MS, DAYS);
    const [first] = traffic.records;
    if (first === undefined) throw new Error('no traffic');
    const firstDay = daysOf(traffic).at(-1) ?? 0;
    const late = sampleRecord({ ...first, id: Bun.randomUUIDv7(), createdAtMs: firstDay + HOUR_MS, latencyMs: 5_000 });
    const options = { nowMs: () => traffic.endMs + 7 * HOUR_MS };
    const p99 = async () => {
      const range = { fromMs: firstDay, toMs: firstDay + DAY_MS, nowMs: traffic.endMs };
      const query = { ...range, projectId: first.projectId, groupBy: 'model' as const, intervalMs: DAY_MS };
      const { buckets } = await loadBuckets(db, { ...query, withDurations: true });
      return buckets.find(({ group }) => group === first.model)?.durations?.latency.p99 ?? 0;
    };
    expect(await p99()).toBeLessThan(2_000);
    await insertLogRecords(db, [late], options);
    expect(await rankedOf(db, traffic)).not.toContain(firstDay);
    expect(await p99()).toBeGreaterThan(4_800);
    await rankDays(db, traffic.endMs + 7 * HOUR_MS, 1);
    expect(await rankedOf(db, traffic)).toContain(firstDay);
    expect(await p99()).toBeGreaterThan(4_800);
    await insertLogRecords(db, [{ ...late, latencyMs: 9_000, corrects: true }], options);
    expect(await p99()).toBeGreaterThan(8_700);
    await rankDays(db, traffic.endMs + 7 * HOUR_MS, 1);
    expect(await p99()).toBeGreaterThan(8_700);
  });

  test('rows that are committed while their day is being ranked are not lost', async () => {
    const traffic = await insert(makeTraffic('2023-06-05'));
    const [first] = traffic.records;
    const lastDay = daysOf(traffic)[0] ?? 0;
    const nowMs = traffic.endMs + 7 * HOUR_MS;
    const late = sampleRecord({ ...first, id: Bun.randomUUIDv7(), createdAtMs: lastDay + HOUR_MS, latencyMs: 5_000 });
    const p99 = async () => {
      const query = { fromMs: lastDay, toMs: traffic.endMs, nowMs, projectId: late.projectId, intervalMs: DAY_MS };
      const { buckets } = await loadBuckets(db, { ...query, groupBy: 'model', withDurations: true });
      return buckets.find(({ group }) => group === late.model)?.durations?.latency.p99;
    };
    const { ranking } = await db.transaction(async (tx) => {
      await insertLogRecords(tx, [late], { nowMs: () => nowMs });
      const ranking = rankDays(db, nowMs, 1);
      // Where there are connections enough, the day is ranked without the row by now.
      await Bun.sleep(300);
      return { ranking };
    });
    expect(await ranking).toEqual(['2023-06-08']);
    expect(await p99()).toBeGreaterThan(4_800);
    await rankDays(db, nowMs, 1);
    expect(await rankedOf(db, traffic)).toContain(lastDay);
    expect(await p99()).toBeGreaterThan(4_800);
  });

  test('days stay when their hours are no longer kept', async () => {
    const traffic = await insert(makeTraffic('2023-07-03'));
    await rankDays(db, traffic.endMs + 6 * HOUR_MS, DAYS);
    const steps = async () => {
      const rows = await database.client<{ hours: number }[]>`select distinct step_hours as hours from rollup_durations
        where project_id = ${traffic.projects[0] ?? ''} order by 1`;
      return rows.map(({ hours }) => hours);
    };
    expect(await steps()).toEqual([1, 3, 12, 24]);
    await deleteExpired(db, 'rollup_durations', traffic.endMs);
    expect(await steps()).toEqual([24]);
    const nowMs = traffic.endMs + 120 * DAY_MS;
    const [first] = traffic.records;
    await insertLogRecords(db, [sampleRecord({ ...first, id: Bun.randomUUIDv7() })], { nowMs: () => nowMs });
    expect(await rankDays(db, nowMs, 1)).toEqual(['2023-07-03']);
    expect(await steps()).toEqual([24]);
  });
});

const serverUrl = process.env.TEST_DATABASE_URL;
if (serverUrl !== undefined && serverUrl !== '') {
  test('rows from before an upgrade are ranked after it', async () => {
    const own = await createDatabase(serverUrl);
    const database = connectDatabase({ url: own.url });
    try {
      const quiet = { onWarning: () => {} };
      const shipped = await readShippedMigrations();
      const earlier = shipped.filter(({ name }) => name !== '0023_ranked-durations');
      await migrateDatabase(database.client, { ...quiet, migrations: earlier });
      const traffic = makeTraffic('2023-03-06');
      await insertLogRecords(database.db, traffic.records, { nowMs: () => traffic.endMs - DAYS * DAY_MS });
      expect(await migrateDatabase(database.client, quiet)).toContain('0023_ranked-durations');
      const before = await answersOf(database.db, traffic);
      expect(await rankDays(database.db, traffic.endMs + 8 * HOUR_MS, 10)).toHaveLength(DAYS);
      expect(await answersOf(database.db, traffic)).toEqual(before);
    } finally {
      await database.close();
      await own.drop();
    }
  }, 60_000);
}
