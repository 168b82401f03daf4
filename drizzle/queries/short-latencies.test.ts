import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { addToHistogram } from '@llm0/core/logs/histogram';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { createDatabase } from '@llm0/testing/stores/create-database';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import fc from 'fast-check';
import { connectDatabase, type Database, type Db } from '../client';
import { migrateDatabase } from '../migrate';
import { insertLogRecords } from './logs/log-insert';
import { deleteExpired } from './logs/retention';
import { type BucketQuery, type GroupBy, loadBuckets } from './stats';
import { type Durations, durationsOf, type Histograms } from './stats-durations';
import { type StatsSource, splitMinutes, splitRange } from './stats-range';

const MINUTE_MS = 60_000;
const SHORT_MS = 15 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;

describe('stretches of minutes', () => {
  const nowMs = Date.parse('2026-06-15T12:34:56.789Z');
  const intervals = [undefined, MINUTE_MS, 5 * MINUTE_MS, SHORT_MS, 2 * SHORT_MS, 3 * SHORT_MS, HOUR_MS, 12 * HOUR_MS];

  test('their parts are the stretch, minutes only at its ends, 15 minutes wherever they lie whole within it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 * 60 }),
        fc.integer({ min: 1, max: 60 * 60 }),
        fc.constantFrom(...intervals),
        (agoMinutes, minutes, intervalMs) => {
          const toMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS - (agoMinutes - 1) * MINUTE_MS;
          const whole = { source: 'rollup_minute', fromMs: toMs - minutes * MINUTE_MS, toMs } as const;
          const parts = splitMinutes(whole, intervalMs);
          let at = whole.fromMs;
          for (const part of parts) {
            expect(part.fromMs).toBe(at);
            expect(part.toMs).toBeGreaterThan(at);
            at = part.toMs;
          }
          expect(at).toBe(toMs);
          const short = parts.filter(({ source }) => source === 'rollup_latency_short');
          const edges = parts.filter(({ source }) => source === 'rollup_minute');
          expect(short.length + edges.length).toBe(parts.length);
          if (intervalMs !== undefined && intervalMs % SHORT_MS !== 0) return expect(parts).toEqual([whole]);
          for (const { fromMs, toMs } of short) expect([fromMs % SHORT_MS, toMs % SHORT_MS]).toEqual([0, 0]);
          // No full quarter of an hour is left to the minutes.
          for (const { fromMs, toMs } of edges)
            expect(Math.floor(toMs / SHORT_MS)).toBeLessThanOrEqual(Math.ceil(fromMs / SHORT_MS));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test.each<StatsSource>(['rows', 'rollup_hour', 'rollup_quarter', 'rollup_day'])('%s stays as it is', (source) => {
    const segment = { source, fromMs: nowMs - (nowMs % (24 * HOUR_MS)), toMs: nowMs, isLess: true };
    expect(splitMinutes(segment)).toEqual([segment]);
  });

  test('a day in steps of 15 minutes reads nearly all of it from them', () => {
    const split = splitRange({ fromMs: nowMs - 24 * HOUR_MS, toMs: nowMs, nowMs, intervalMs: SHORT_MS });
    const parts = split.flatMap((segment) => splitMinutes(segment, SHORT_MS));
    const short = parts.filter(({ source }) => source === 'rollup_latency_short');
    expect(parts.map(({ source }) => source).join(' ')).toBe(
      'rows rollup_minute rollup_latency_short rollup_minute rows',
    );
    expect(short.map(({ fromMs, toMs }) => (toMs - fromMs) / SHORT_MS)).toEqual([95]);
  });
});

interface Traffic {
  readonly projects: readonly string[];
  readonly records: readonly LogRecord[];
  readonly nowMs: number;
}

/** Two days of two projects, three models and two providers; some durations missing. */
function makeTraffic(end: string): Traffic {
  const nowMs = Date.parse(end);
  const projects = [crypto.randomUUID(), crypto.randomUUID()];
  const records = Array.from({ length: 500 }, (_, index) =>
    sampleRecord({
      projectId: projects[index % 2] ?? '',
      createdAtMs: nowMs - Math.floor(index * 5.3 * MINUTE_MS) - 1,
      model: `model-${index % 3}`,
      finalProvider: index % 5 === 0 ? 'beta' : 'alpha',
      status: index % 11 === 0 ? 'error' : 'success',
      cacheHit: index % 7 === 0,
      latencyMs: 0.2 + ((index * 7919) % 997) * 1.7,
      ttftMs: index % 2 === 0 ? 1 + index : undefined,
      upstreamMs: index % 7 === 0 ? undefined : 3 + ((index * 31) % 400),
    }),
  );
  return { projects, records, nowMs };
}

/** What is asked of the last day and of odd stretches of it; steps of 5 minutes are read from the minutes alone. */
function questionsOf({ projects, nowMs }: Traffic): readonly BucketQuery[] {
  const groups: readonly (GroupBy | undefined)[] = [undefined, 'project', 'model', 'provider', 'key', 'status'];
  const intervals = [undefined, SHORT_MS, 2 * SHORT_MS, 3 * SHORT_MS, 5 * MINUTE_MS, HOUR_MS];
  const [projectId] = projects;
  const filters = [
    { projectId },
    { projectId, model: 'model-1' },
    { projectId, provider: 'beta' },
    { projectId, status: 'success' },
  ];
  const ranges = [
    { fromMs: nowMs - 24 * HOUR_MS, toMs: nowMs, nowMs },
    { fromMs: nowMs - 7.321 * HOUR_MS, toMs: nowMs - 1_234_567, nowMs },
  ];
  return ranges.flatMap((range) =>
    filters.flatMap((filter) =>
      groups.flatMap((groupBy) =>
        intervals.map((intervalMs) => ({ ...range, ...filter, groupBy, intervalMs, withDurations: true })),
      ),
    ),
  );
}

const GROUPS: Readonly<Record<string, (record: LogRecord) => string>> = {
  project: (record) => record.projectId,
  model: (record) => record.model,
  provider: (record) => record.finalProvider ?? '',
  key: (record) => record.apiKeyId,
  status: (record) => record.status,
};

/** By bucket and group, from the records themselves. */
function expectedDurations({ records }: Traffic, query: BucketQuery): Record<string, Durations> {
  const { fromMs, toMs, intervalMs, groupBy } = query;
  const found = new Map<string, Record<'latency' | 'ttft' | 'overhead' | 'upstream', Map<number, number>>>();
  for (const record of records) {
    const { createdAtMs, model, finalProvider, status } = record;
    if (createdAtMs < fromMs || createdAtMs >= toMs || record.projectId !== query.projectId) continue;
    if ([query.model ?? model, query.provider ?? finalProvider].join() !== [model, finalProvider].join()) continue;
    if ((query.status ?? status) !== status) continue;
    const startMs = intervalMs === undefined ? fromMs : createdAtMs - (createdAtMs % intervalMs);
    const key = `${startMs} ${groupBy === undefined ? null : GROUPS[groupBy]?.(record)}`;
    const bins = found.get(key) ?? { latency: new Map(), ttft: new Map(), overhead: new Map(), upstream: new Map() };
    found.set(key, bins);
    const { latencyMs: latency, ttftMs: ttft, overheadMs: overhead, upstreamMs: upstream } = record;
    for (const [name, value] of Object.entries({ latency, ttft, overhead, upstream }))
      if (value !== undefined) addToHistogram(bins[name as keyof typeof bins], value, 1);
  }
  const measured = (bins: Histograms) => Object.entries(bins).filter(([, histogram]) => histogram.size > 0);
  return Object.fromEntries([...found].map(([key, bins]) => [key, durationsOf(Object.fromEntries(measured(bins)))]));
}

async function foundDurations(db: Db, query: BucketQuery) {
  const { buckets } = await loadBuckets(db, query);
  return Object.fromEntries(buckets.map(({ startMs, group, durations }) => [`${startMs} ${group}`, durations]));
}

/** What the roll-up holds of the traffic, in order. */
const rowsOf = ({ client }: Database, { projects }: Traffic) =>
  client<{ model: string; latency_histogram: string }[]>`
    select bucket::text as bucket, project_id::text as project, model, provider, latency_histogram::text,
      ttft_histogram::text, overhead_histogram::text, upstream_histogram::text
    from rollup_latency_short where project_id::text in (${projects[0] ?? ''}, ${projects[1] ?? ''})
    order by bucket, project_id, model, provider`.then((rows) => [...rows]);

describe.each(TEST_DATABASES)('durations in steps of 15 minutes on $name', (kind) => {
  let database: Database;
  let db: Db;
  const traffic = makeTraffic('2028-02-17T15:38:12.345Z');
  const { nowMs } = traffic;
  const [projectId = ''] = traffic.projects;
  beforeAll(async () => {
    database = await kind.open();
    db = database.db;
    // In two batches, so that histograms are added to.
    for (const part of [0, 1]) {
      const batch = traffic.records.filter((_, index) => index % 4 < 2 === (part === 0));
      await insertLogRecords(db, batch, { nowMs: () => nowMs });
    }
  }, 60_000);
  afterAll(() => database.close());

  test('every answer is that of the records', async () => {
    for (const question of questionsOf(traffic)) {
      const expected = expectedDurations(traffic, question);
      expect(Object.keys(expected).length).toBeGreaterThan(0);
      expect(await foundDurations(db, question)).toEqual(expected);
    }
  }, 120_000);

  test('what is corrected is taken out again', async () => {
    const [first] = traffic.records;
    const corrected = makeTraffic('2028-03-17T15:38:12.345Z');
    const record = sampleRecord({ ...first, id: Bun.randomUUIDv7(), createdAtMs: corrected.nowMs - 30 * MINUTE_MS });
    const own = { ...record, projectId: crypto.randomUUID() };
    const options = { nowMs: () => corrected.nowMs };
    await insertLogRecords(db, [{ ...own, latencyMs: 5_000 }], options);
    await insertLogRecords(db, [{ ...own, latencyMs: 9_000, corrects: true }], options);
    const [row, ...more] = await rowsOf(database, { ...corrected, projects: [own.projectId] });
    expect(more).toEqual([]);
    const [bin] = addedTo(9_000).keys();
    expect(row?.latency_histogram).toBe(`{${(BigInt(bin ?? 0) << 40n) + 1n}}`);
  });

  test('it is read wherever it has what is asked for, and nowhere else', async () => {
    const range = { fromMs: nowMs - 24 * HOUR_MS, toMs: nowMs, nowMs, projectId };
    const startMs = Math.floor((nowMs - 5 * HOUR_MS) / SHORT_MS) * SHORT_MS;
    const ask = (more: Partial<BucketQuery>) => foundDurations(db, { ...range, ...more, withDurations: true });
    const reads: readonly Partial<BucketQuery>[] = [
      { intervalMs: SHORT_MS },
      { intervalMs: 2 * SHORT_MS, groupBy: 'model' },
      { intervalMs: SHORT_MS, groupBy: 'provider', model: 'model-1' },
      // One total in which no hour is whole.
      { fromMs: startMs - 20 * MINUTE_MS, toMs: startMs + 80 * MINUTE_MS },
    ];
    const readsNot: readonly Partial<BucketQuery>[] = [
      { intervalMs: 5 * MINUTE_MS },
      { intervalMs: SHORT_MS, groupBy: 'key' },
      { intervalMs: SHORT_MS, groupBy: 'status' },
      { intervalMs: SHORT_MS, status: 'success' },
      { intervalMs: HOUR_MS, fromMs: startMs - (startMs % HOUR_MS) - HOUR_MS },
    ];
    const questions = [...reads, ...readsNot];
    const before = await Promise.all(questions.map(ask));
    // An hour of durations that nobody measured: bin 600.
    await database.client`update rollup_latency_short set latency_histogram = array[(600::bigint << 40) + 1000]
      where project_id = ${projectId} and bucket >= to_timestamp(${startMs / 1000}::float8)
        and bucket < to_timestamp(${(startMs + HOUR_MS) / 1000}::float8)`;
    const after = await Promise.all(questions.map(ask));
    for (const index of reads.keys()) expect(after[index]).not.toEqual(before[index]);
    for (const index of readsNot.keys()) expect(after[reads.length + index]).toEqual(before[reads.length + index]);
  });

  test('what is older than its time is deleted', async () => {
    const later = makeTraffic('2028-04-17T15:38:12.345Z');
    await insertLogRecords(db, later.records, { nowMs: () => later.nowMs });
    const before = await rowsOf(database, later);
    expect(await deleteExpired(db, 'rollup_latency_short', later.nowMs - 24 * HOUR_MS)).toBeGreaterThan(50);
    const kept = await rowsOf(database, later);
    expect(kept.length).toBeGreaterThan(50);
    expect(kept).toEqual(before.slice(-kept.length));
  });
});

/** One measured duration as a histogram. */
function addedTo(valueMs: number) {
  const histogram = new Map<number, number>();
  addToHistogram(histogram, valueMs, 1);
  return histogram;
}

const serverUrl = process.env.TEST_DATABASE_URL;
if (serverUrl !== undefined && serverUrl !== '') {
  test('an upgrade makes of the minutes what would have been written', async () => {
    const own = await createDatabase(serverUrl);
    const database = connectDatabase({ url: own.url });
    try {
      const quiet = { onWarning: () => {} };
      await migrateDatabase(database.client, quiet);
      const traffic = makeTraffic('2028-02-17T15:38:12.345Z');
      await insertLogRecords(database.db, traffic.records, { nowMs: () => traffic.nowMs });
      const written = await rowsOf(database, traffic);
      expect(written.length).toBeGreaterThan(100);
      await database.client`drop table rollup_latency_short`;
      await database.client`delete from llm0_migrations where name = '0024_short-latencies'`;
      expect(await migrateDatabase(database.client, quiet)).toEqual(['0024_short-latencies']);
      expect(await rowsOf(database, traffic)).toEqual(written);
    } finally {
      await database.close();
      await own.drop();
    }
  }, 60_000);
}
