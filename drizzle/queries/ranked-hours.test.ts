import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { addToHistogram } from '@llm0/core/logs/histogram';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { createDatabase } from '@llm0/testing/stores/create-database';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { connectDatabase, type Database, type Db } from '../client';
import { migrateDatabase, readShippedMigrations } from '../migrate';
import { insertLogRecords } from './logs/log-insert';
import { deleteExpired } from './logs/retention';
import { rankDays } from './ranked-durations';
import { rankHours } from './ranked-hours';
import { type BucketQuery, type GroupBy, loadBuckets } from './stats';
import { durationsOf, type Histograms } from './stats-durations';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const HOURS = 30;
const MOST = 1000;
/** How long after its end an hour is ranked. */
const CLOSED_MS = 15 * MINUTE_MS;
const GROUPS = {
  project: (record) => record.projectId,
  key: (record) => record.apiKeyId,
  model: (record) => record.model,
  provider: (record) => record.finalProvider ?? '',
  status: (record) => record.status,
} as const satisfies Partial<Record<GroupBy, (record: LogRecord) => string>>;
const GROUP_NAMES = Object.keys(GROUPS) as (keyof typeof GROUPS)[];

interface Traffic {
  readonly projects: readonly [string, string];
  readonly keys: readonly [string, string, string];
  readonly records: readonly LogRecord[];
  /** The full hour after the last row. */
  readonly endMs: number;
}

/** Thirty hours of two projects, three keys (one of both), three models; some durations missing, the tenth hour empty. */
async function makeTraffic(db: Db, from: string): Promise<Traffic> {
  const startMs = Date.parse(from);
  const projects = [crypto.randomUUID(), crypto.randomUUID()] as const;
  const keys = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()] as const;
  const all = Array.from({ length: 540 }, (_, index) =>
    sampleRecord({
      projectId: projects[index % 2],
      apiKeyId: keys[index % 6 === 5 ? 2 : index % 2],
      createdAtMs: startMs + Math.floor((index * HOURS * HOUR_MS) / 540),
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
  const records = all.filter(({ createdAtMs }) => Math.floor((createdAtMs - startMs) / HOUR_MS) !== 9);
  const endMs = startMs + HOURS * HOUR_MS;
  await insertLogRecords(db, records, { nowMs: () => endMs });
  return { projects, keys, records, endMs };
}

/** The last day, and a stretch with edges within hours; of both projects and of one, by everything and of some alone. */
function questionsOf({ projects, keys, endMs }: Traffic): readonly BucketQuery[] {
  const ranges = [
    { fromMs: endMs - 24 * HOUR_MS, toMs: endMs, nowMs: endMs + CLOSED_MS },
    { fromMs: endMs - 28.7 * HOUR_MS, toMs: endMs - 1_234_567, nowMs: endMs + HOUR_MS },
  ];
  const filters = [
    {},
    { projectId: projects[0] },
    { apiKeyId: keys[2] },
    { projectId: projects[1], model: 'model-1' },
    { provider: 'alpha' },
    { projectId: projects[1], status: 'error' },
    // By two things at once: of that nothing is ranked.
    { model: 'model-1', status: 'success' },
  ];
  const hourly = { intervalMs: HOUR_MS, withDurations: true };
  const asked = ranges.flatMap((range) =>
    filters.flatMap((filter) =>
      [undefined, ...GROUP_NAMES].map((groupBy) => ({ ...range, ...filter, ...hourly, groupBy })),
    ),
  );
  const withOthers = asked.filter(({ groupBy }) => groupBy !== undefined);
  const [first] = asked;
  return [
    ...asked,
    ...withOthers.map((question) => ({ ...question, top: 1 })),
    ...withOthers.slice(0, 10).map((question) => ({ ...question, metrics: ['ttft'] as const, top: 2 })),
    ...(first === undefined ? [] : [30 * MINUTE_MS, 2 * HOUR_MS].map((intervalMs) => ({ ...first, intervalMs }))),
  ];
}

/** Of all questions, or of some of each kind. */
async function answersOf(db: Db, traffic: Traffic, every = 1) {
  const answers: unknown[] = [];
  const asked = questionsOf(traffic).filter((_, index) => index % every === 0);
  for (const question of asked) answers.push((await loadBuckets(db, question)).buckets);
  return answers;
}

/** Starts of hours that stand as ranked, oldest first. */
async function rankedOf(db: Db, { endMs }: Pick<Traffic, 'endMs'>): Promise<readonly number[]> {
  const rows = await db.execute<{ ms: string }>(sql`
    select (date_part('epoch', bucket) * 1000)::bigint as ms
    from rollup_durations_hour_made left join customer_spend_hour_changes using (bucket)
    where bucket >= to_timestamp(${endMs - HOURS * HOUR_MS}::bigint / 1000.0)
      and bucket < to_timestamp(${endMs + DAY_MS}::bigint / 1000.0) and made_at_changes = coalesce(changes, 0) order by 1`);
  return rows.map(({ ms }) => Number(ms));
}

/** What the records themselves say: durations by hour and group; groups beyond the busiest are one. */
function expectedDurations(records: readonly LogRecord[], groupBy: keyof typeof GROUPS, top: number) {
  const counts = new Map<string, number>();
  for (const record of records) counts.set(GROUPS[groupBy](record), (counts.get(GROUPS[groupBy](record)) ?? 0) + 1);
  const kept = new Set([...counts].sort(([, a], [, b]) => b - a).map(([name]) => name));
  const isCut = kept.size > top;
  const names = new Set([...kept].slice(0, top));
  const found = new Map<string, Record<'latency' | 'ttft' | 'overhead' | 'upstream', Map<number, number>>>();
  for (const record of records) {
    const { createdAtMs, latencyMs: latency, ttftMs: ttft, overheadMs: overhead, upstreamMs: upstream } = record;
    const group = GROUPS[groupBy](record);
    const key = `${createdAtMs - (createdAtMs % HOUR_MS)} ${isCut && !names.has(group) ? '(other)' : group}`;
    const bins = found.get(key) ?? { latency: new Map(), ttft: new Map(), overhead: new Map(), upstream: new Map() };
    found.set(key, bins);
    for (const [name, value] of Object.entries({ latency, ttft, overhead, upstream }))
      if (value !== undefined) addToHistogram(bins[name as keyof typeof bins], value, 1);
  }
  const measured = (bins: Histograms) => Object.entries(bins).filter(([, histogram]) => histogram.size > 0);
  return Object.fromEntries([...found].map(([key, bins]) => [key, durationsOf(Object.fromEntries(measured(bins)))]));
}

async function foundDurations(db: Db, query: Omit<BucketQuery, 'withDurations' | 'intervalMs'>) {
  const { buckets } = await loadBuckets(db, { ...query, intervalMs: HOUR_MS, withDurations: true });
  return Object.fromEntries(buckets.map(({ startMs, group, durations }) => [`${startMs} ${group}`, durations]));
}

let round = 0;

describe.each(TEST_DATABASES)('ranked hours on $name', (kind) => {
  let database: Database;
  let db: Db;
  beforeAll(async () => {
    database = await kind.open();
    db = database.db;
  }, 60_000);
  afterAll(() => database.close());

  test('every answer is what it was before', async () => {
    const traffic = await makeTraffic(db, '2034-01-01T06:00:00Z');
    const before = await answersOf(db, traffic);
    expect(await rankedOf(db, traffic)).toEqual([]);
    await rankHours(db, traffic.endMs + CLOSED_MS, MOST);
    // The empty hour is not made.
    expect(await rankedOf(db, traffic)).toHaveLength(HOURS - 1);
    expect(await answersOf(db, traffic)).toEqual(before);
    // Days are ranked beside them, and neither takes anything from the other.
    await rankDays(db, traffic.endMs + 2 * DAY_MS, 3);
    expect(await answersOf(db, traffic)).toEqual(before);
    expect(await rankedOf(db, traffic)).toHaveLength(HOURS - 1);
    // Whatever another version makes of the hours' days, they stand by themselves.
    await db.execute(sql`delete from rollup_durations where step_hours = 1`);
    expect(await answersOf(db, traffic)).toEqual(before);
    expect(await rankHours(db, traffic.endMs + CLOSED_MS, MOST)).toEqual([]);
  }, 120_000);

  test('some hours ranked, others not: every answer is what it was before', async () => {
    const traffic = await makeTraffic(db, '2034-01-15T06:00:00Z');
    const before = await answersOf(db, traffic);
    await rankHours(db, traffic.endMs + CLOSED_MS, MOST);
    for (const hours of [1, 5, 6, 20, 24, HOURS])
      await db.execute(sql`delete from rollup_durations_hour_made
        where bucket = to_timestamp(${traffic.endMs - hours * HOUR_MS}::bigint / 1000.0)`);
    expect(await answersOf(db, traffic)).toEqual(before);
  }, 120_000);

  test('percentiles come from what was ranked, by whatever is asked', async () => {
    const traffic = await makeTraffic(db, '2034-02-05T06:00:00Z');
    const { endMs, projects, keys } = traffic;
    const [projectId] = projects;
    await rankHours(db, endMs + CLOSED_MS, MOST);
    // Bins 1, 2 and 3: durations that nobody measured.
    await db.execute(sql`update rollup_durations_hour set latency = 1 | (2 << 10) | (3 << 20)
      where project_id = ${projectId}::uuid or name in (${keys[0]}, ${keys[1]}, ${keys[2]})`);
    const range = { fromMs: endMs - 24 * HOUR_MS, toMs: endMs, nowMs: endMs + CLOSED_MS };
    const p99 = async (query: Partial<BucketQuery>) =>
      Object.values(await foundDurations(db, { ...range, ...query })).map((durations) => durations?.latency.p99 ?? 0);
    const questions: readonly Partial<BucketQuery>[] = [
      { projectId },
      ...GROUP_NAMES.map((groupBy) => ({ projectId, groupBy })),
      ...GROUP_NAMES.map((groupBy) => ({ projectId, groupBy, top: 10 })),
      { projectId, model: 'model-1' },
      { projectId, model: 'model-1', groupBy: 'model' },
      { apiKeyId: keys[0] },
    ];
    for (const question of questions) {
      const found = await p99(question);
      expect(found.length).toBeGreaterThanOrEqual(HOURS - 8);
      expect(Math.max(...found)).toBeLessThan(0.002);
    }
    // Groups that keep their name come from the ranks, all others from the roll-ups.
    const one = await foundDurations(db, { ...range, projectId, groupBy: 'model', top: 1 });
    for (const [key, durations] of Object.entries(one))
      expect((durations?.latency.p99 ?? 0) > 0.002).toBe(key.endsWith('(other)'));
    expect(Math.min(...(await p99({ projectId, model: 'model-1', status: 'success' })))).toBeGreaterThan(0.1);
  }, 60_000);

  test('an hour is ranked a quarter of an hour after its end, the latest first', async () => {
    const { endMs } = await makeTraffic(db, '2034-03-05T06:00:00Z');
    expect(await rankHours(db, endMs + CLOSED_MS - 1, 2)).toEqual([endMs - 2 * HOUR_MS, endMs - 3 * HOUR_MS]);
    expect(await rankHours(db, endMs + CLOSED_MS, 2)).toEqual([endMs - HOUR_MS, endMs - 4 * HOUR_MS]);
  }, 60_000);

  test('hours are ranked as long as they are kept', async () => {
    const startMs = Date.parse('2034-04-02T05:00:00Z');
    const row = (hours: number) => sampleRecord({ createdAtMs: startMs + hours * HOUR_MS + 1 });
    const nowMs = startMs + 8 * DAY_MS;
    await insertLogRecords(db, [row(0), row(1), row(100)], { nowMs: () => nowMs });
    expect(await rankHours(db, nowMs + 1, MOST)).toEqual([startMs + 100 * HOUR_MS]);
    expect(await rankHours(db, nowMs, MOST)).toEqual([startMs + HOUR_MS]);
  });

  test('what comes late or is corrected counts at once, and is ranked again', async () => {
    const traffic = await makeTraffic(db, '2034-05-07T06:00:00Z');
    const { endMs, projects, records } = traffic;
    const nowMs = endMs + CLOSED_MS;
    await rankHours(db, nowMs, MOST);
    const range = {
      fromMs: endMs - 24 * HOUR_MS,
      toMs: endMs,
      nowMs,
      projectId: projects[0],
      groupBy: 'model' as const,
    };
    const startMs = endMs - 3 * HOUR_MS;
    const model = records.find(({ createdAtMs }) => createdAtMs >= startMs)?.model;
    const late = sampleRecord({ projectId: projects[0], model, createdAtMs: startMs + MINUTE_MS, latencyMs: 5_000 });
    const p99 = async () => (await foundDurations(db, range))[`${startMs} ${model}`]?.latency.p99 ?? 0;
    expect(await p99()).toBeLessThan(2_000);
    const steps: readonly { readonly record: LogRecord; readonly above: number }[] = [
      { record: late, above: 4_800 },
      { record: { ...late, latencyMs: 9_000, corrects: true }, above: 8_700 },
    ];
    for (const { record, above } of steps) {
      await insertLogRecords(db, [record], { nowMs: () => nowMs });
      expect(await rankedOf(db, traffic)).not.toContain(startMs);
      expect(await p99()).toBeGreaterThan(above);
      expect(await rankHours(db, nowMs, MOST)).toEqual([startMs]);
      expect(await p99()).toBeGreaterThan(above);
    }
  }, 60_000);

  test('rows that come late, are corrected or move are what the answers say, whenever hours are ranked', async () => {
    const firstMs = Date.parse('2034-06-04T09:40:00Z');
    const row = fc.record({
      agoMs: fc.integer({ min: 0, max: 6 * HOUR_MS }),
      latencyMs: fc.integer({ min: 1, max: 90_000 }),
      ttftMs: fc.option(fc.integer({ min: 1, max: 900 }), { nil: undefined }),
      model: fc.constantFrom('a', 'b', 'c'),
      status: fc.constantFrom('success', 'error'),
    });
    const step = fc.record({
      laterMs: fc.integer({ min: 0, max: 90 * MINUTE_MS }),
      does: fc.oneof(
        row.map((values) => ({ kind: 'insert', which: 0, values }) as const),
        fc.tuple(fc.nat(20), row).map(([which, values]) => ({ kind: 'correct', which, values }) as const),
        fc.constant({ kind: 'rank' } as const),
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16 }), async (steps) => {
        const projectId = crypto.randomUUID();
        // A few days further each time: the embedded database is the same for all.
        let nowMs = firstMs + round++ * 3 * DAY_MS;
        const records: LogRecord[] = [];
        for (const { laterMs, does } of steps) {
          nowMs += laterMs;
          if (does.kind === 'rank') {
            await rankHours(db, nowMs, MOST);
          } else {
            const { agoMs, ...values } = does.values;
            const replaced = does.kind === 'correct' && records.length > 0 ? does.which % records.length : undefined;
            const base = replaced === undefined ? { projectId, createdAtMs: nowMs - agoMs } : records[replaced];
            const record = sampleRecord({ ...base, ...values, ...(replaced === undefined ? {} : { corrects: true }) });
            records[replaced ?? records.length] = record;
            await insertLogRecords(db, [record], { nowMs: () => nowMs });
          }
          const asked = { fromMs: nowMs - 2 * DAY_MS, toMs: nowMs + 1, nowMs, projectId };
          for (const groupBy of ['model', 'status', 'key'] as const)
            expect(await foundDurations(db, { ...asked, groupBy })).toEqual(expectedDurations(records, groupBy, 10));
        }
      }),
      { numRuns: 15 },
    );
  }, 120_000);

  test('groups that lose their name are what the records say of them together', async () => {
    const traffic = await makeTraffic(db, '2034-09-03T06:00:00Z');
    const { endMs, projects, records } = traffic;
    const [projectId] = projects;
    await rankHours(db, endMs + CLOSED_MS, MOST);
    const own = records.filter((record) => record.projectId === projectId && record.createdAtMs >= endMs - DAY_MS);
    const asked = { fromMs: endMs - DAY_MS, toMs: endMs, nowMs: endMs + CLOSED_MS, projectId };
    for (const groupBy of ['key', 'provider', 'status'] as const)
      for (const top of [1, 2])
        expect(await foundDurations(db, { ...asked, groupBy, top })).toEqual(expectedDurations(own, groupBy, top));
  });

  test('rows that are committed while their hour is being ranked are not lost', async () => {
    const { endMs, projects } = await makeTraffic(db, '2034-10-01T06:00:00Z');
    const nowMs = endMs + CLOSED_MS;
    const [projectId] = projects;
    const late = sampleRecord({ projectId, model: 'late', createdAtMs: endMs - MINUTE_MS, latencyMs: 5_000 });
    const asked = { fromMs: endMs - DAY_MS, toMs: endMs, nowMs, projectId, groupBy: 'model' as const };
    const p50 = async () => (await foundDurations(db, asked))[`${endMs - HOUR_MS} late`]?.latency.p50;
    const { ranking } = await db.transaction(async (tx) => {
      await insertLogRecords(tx, [late], { nowMs: () => nowMs });
      const ranking = rankHours(db, nowMs, 1);
      // Where there are connections enough, the hour is ranked without the row by now.
      await Bun.sleep(300);
      return { ranking };
    });
    expect(await ranking).toEqual([endMs - HOUR_MS]);
    for (const most of [0, 1]) {
      await rankHours(db, nowMs, most);
      expect(await p50()).toBeGreaterThan(4_800);
    }
  }, 60_000);

  test('two that rank the same hours do not get in each other’s way', async () => {
    const traffic = await makeTraffic(db, '2034-11-05T06:00:00Z');
    const before = await answersOf(db, traffic, 5);
    const nowMs = traffic.endMs + CLOSED_MS;
    await Promise.all([rankHours(db, nowMs, HOURS), rankHours(db, nowMs, HOURS)]);
    expect(await rankedOf(db, traffic)).toHaveLength(HOURS - 1);
    expect(await answersOf(db, traffic, 5)).toEqual(before);
  }, 120_000);

  test('hours are removed without a change of any answer, in whatever order', async () => {
    const tables = ['rollup_durations_hour_made', 'rollup_durations_hour', 'customer_spend_hour_changes'] as const;
    // Another version removes the changes, and knows nothing of what else stands by them.
    for (const [from, order] of [
      ['2034-12-03T06:00:00Z', tables],
      ['2035-01-08T06:00:00Z', [tables[2], tables[0], tables[1]]],
    ] as const) {
      const traffic = await makeTraffic(db, from);
      const { endMs, records } = traffic;
      const nowMs = endMs + CLOSED_MS;
      await insertLogRecords(db, [sampleRecord({ ...records[0], id: Bun.randomUUIDv7() })], { nowMs: () => nowMs });
      await rankHours(db, nowMs, MOST);
      const before = await answersOf(db, traffic, 5);
      for (const table of order) {
        expect(await deleteExpired(db, table, endMs - 6 * HOUR_MS)).toBeGreaterThan(0);
        expect(await answersOf(db, traffic, 5)).toEqual(before);
      }
      expect(await rankedOf(db, traffic)).toEqual([6, 5, 4, 3, 2, 1].map((hours) => endMs - hours * HOUR_MS));
    }
  }, 120_000);
});

const serverUrl = process.env.TEST_DATABASE_URL;
if (serverUrl !== undefined && serverUrl !== '') {
  test('hours from before an upgrade are ranked after it', async () => {
    const own = await createDatabase(serverUrl);
    const database = connectDatabase({ url: own.url });
    try {
      const quiet = { onWarning: () => {} };
      const earlier = (await readShippedMigrations()).filter(({ name }) => name < '0027');
      await migrateDatabase(database.client, { ...quiet, migrations: earlier });
      const traffic = await makeTraffic(database.db, '2034-01-01T06:00:00Z');
      expect(await migrateDatabase(database.client, quiet)).toContain('0027_ranked-hours');
      const before = await answersOf(database.db, traffic);
      expect(await rankHours(database.db, traffic.endMs + CLOSED_MS, MOST)).toHaveLength(HOURS - 1);
      expect(await answersOf(database.db, traffic)).toEqual(before);
    } finally {
      await database.close();
      await own.drop();
    }
  }, 60_000);
}
