import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Database } from '@llm0/drizzle/client';
import { attachLogEngine } from '@llm0/drizzle/queries/clickhouse/log-engine';
import { endRows, NO_ROWS_MS } from '@llm0/drizzle/queries/clickhouse/log-floor';
import { writeLogBodies } from '@llm0/drizzle/queries/logs/log-bodies';
import { insertLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { listSinks } from '@llm0/drizzle/queries/logs/log-sinks';
import { deleteExpired } from '@llm0/drizzle/queries/logs/retention';
import { startCollector } from '@llm0/testing/fake-upstream/start-collector';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import type { BucketSetting, SinkSetting, SinkSettings } from '../config/sinks';
import type { JobContext } from '../jobs/job';
import { createSinkJobs } from './create-sink-jobs';
import { exportRows } from './export-rows';
import type { WritePart } from './write-part';
import { createWriteSpans } from './write-spans';

const HOUR_MS = 3_600_000;
const ANSWER = { upstreamRequest: null, response: '{"a":2}' };

const collector = startCollector();
afterAll(() => collector.stop());

/** Of its own: sinks belong to the whole database. */
describe.each(TEST_DATABASES)('sinks of the log on $name', (kind) => {
  let database: Database;
  let nowMs = Date.now();
  let objects = new Map<string, Record<string, unknown>[]>();
  /** Parts that get through before the sink `broken` breaks. */
  let partsLeft = Number.POSITIVE_INFINITY;
  beforeAll(async () => {
    database = await kind.openOwn();
  }, 60_000);
  afterAll(() => database.close());
  beforeEach(() => {
    nowMs = Date.now() + 60_000;
    objects = new Map();
    collector.received.spans.length = 0;
    partsLeft = Number.POSITIVE_INFINITY;
  });

  /** In one text. */
  let mostRows = 0;
  const sinkNamed = (name: string, more: Partial<BucketSetting> = {}): SinkSetting => ({
    ...{ kind: 's3' as const, name, bucket: name, prefix: '', everyMs: 0, withBodies: false, ...more },
  });
  const write: WritePart = async ({ name }, { key, texts }) => {
    const rows: Record<string, unknown>[] = [];
    for await (const text of texts) {
      mostRows = Math.max(mostRows, text.split('\n').length - 1);
      if (name === 'broken' && partsLeft-- <= 0) throw new Error('the bucket is away');
      for (const line of text.trimEnd().split('\n')) rows.push(JSON.parse(line));
    }
    objects.set(`${name}/${key}`, rows);
  };
  const context = (signal = new AbortController().signal) =>
    ({ db: database.db, nowMs: () => nowMs, log: pino({ level: 'silent' }), signal }) as unknown as JobContext;
  const jobsOf = (sinks: readonly SinkSetting[], writePart: WritePart) => {
    const names = sinks.map(({ name }) => name);
    return sinks.map((sink) => exportRows(sink, names, writePart));
  };
  const runWith = (sinks: readonly SinkSetting[], writePart: WritePart) =>
    Promise.all(jobsOf(sinks, writePart).map((job) => job.run(context())));
  const run = (...sinks: SinkSetting[]) => runWith(sinks, write);
  /** New rows in batches of these sizes. */
  async function store(...sizes: number[]) {
    const records = sizes.map((size) => Array.from({ length: size }, () => sampleRecord({ createdAtMs: Date.now() })));
    for (const batch of records) await insertLogRecords(database.db, batch);
    return records.flat();
  }
  const exported = () => [...objects.values()].flat();
  const idsOf = (rows: readonly { readonly id?: unknown }[]) => rows.map(({ id }) => String(id)).sort();
  const sinkState = async (name: string) => (await listSinks(database.db)).find((sink) => sink.name === name);

  test('each finished row once, with the columns of its table; a new sink begins with the next row', async () => {
    await store(3);
    const sink = sinkNamed('first');
    await run(sink);
    const records = await store(400, 300, 2);
    await run(sink);
    expect(idsOf(exported())).toEqual(idsOf(records));
    const [row] = exported();
    const record = records.find(({ id }) => id === row?.id);
    expect(row).toMatchObject({ model: record?.model, tokens_in: record?.tokensIn, status: 'success' });
    expect(Number(row?.cost_usd) * 1e9).toBeCloseTo(record?.costNanoUsd ?? 0, 0);
    await run(sink);
    expect(objects.size).toBe(1);
    expect(await sinkState('first')).toMatchObject({ waitingSinceMs: null, problem: null });
  });

  test('a new sink begins at the start of its process, not at the first look', async () => {
    await store(2);
    const sink: SinkSetting = {
      ...{ kind: 'otlp', name: 'fresh', url: `${collector.url}/v1/traces`, headers: {}, everyMs: 0, withBodies: false },
    };
    const log = pino({ level: 'silent' });
    const needs = { folder: '', fetch, version: '1', log, nowMs: () => nowMs, onRejected: () => {} };
    const jobs = await createSinkJobs(
      database.db,
      { sinks: [sink], s3: {} as SinkSettings['s3'], serviceName: 'gw' },
      needs,
    );
    const records = await store(3);
    collector.told.answer = () => new Response();
    for (const job of jobs) await job.run(context());
    const ids = collector.received.spans.map(({ attributes }) => ({ id: attributes['llm0.request.id'] }));
    expect(idsOf(ids)).toEqual(idsOf(records));
  });

  test('a sink that hangs holds up no other', async () => {
    const sinks = [sinkNamed('hangs'), sinkNamed('goes-on')];
    await run(...sinks);
    await store(1);
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const [hanging, other] = jobsOf(sinks, (sink, part) => {
      if (sink.name !== 'hangs') return write(sink, part);
      reached.resolve();
      return released.promise;
    });
    const hung = hanging?.run(context());
    await other?.run(context());
    await reached.promise;
    expect([...objects.keys()].map((key) => key.split('/')[0])).toEqual(['goes-on']);
    released.reject(new Error('no answer'));
    await hung;
  });

  test('a sink that hangs holds up no stop, and has failed nothing', async () => {
    const sink = sinkNamed('stopped');
    await run(sink);
    await store(1);
    const stopped = new AbortController();
    const given = Promise.withResolvers<AbortSignal | undefined>();
    const [job] = jobsOf([sink], (_, { signal }) => {
      given.resolve(signal);
      return new Promise(() => {});
    });
    const running = job?.run(context(stopped.signal));
    const signal = await given.promise;
    stopped.abort();
    expect(await running).toBeNull();
    expect([signal?.aborted, (await sinkState('stopped'))?.problem]).toEqual([true, null]);
    await run(sink);
    expect(exported()).toHaveLength(1);
  });

  test('a sink that breaks in the middle gets the same object again, holds up no other, and keeps its batches', async () => {
    const [sink, other] = [sinkNamed('broken'), sinkNamed('other')];
    await run(sink, other);
    const records = await store(500, 500, 500);
    partsLeft = 1;
    await run(sink, other);
    expect([...objects.keys()].map((key) => key.split('/')[0])).toEqual(['other']);
    const broken = await sinkState('broken');
    expect(broken).toMatchObject({ problem: 'the bucket is away', failingSinceMs: nowMs });
    nowMs += 60_000;
    partsLeft = 0;
    await run(sink, other);
    expect(await sinkState('broken')).toMatchObject({ failingSinceMs: broken?.failingSinceMs });
    expect(await deleteExpired(database.db, 'log_batches', Date.now() + HOUR_MS)).toBeGreaterThan(0);
    partsLeft = Number.POSITIVE_INFINITY;
    await run(sink, other);
    expect([...objects.values()].map((rows) => idsOf(rows))).toEqual([idsOf(records), idsOf(records)]);
    expect(await sinkState('broken')).toMatchObject({ problem: null, waitingSinceMs: null });
  });

  test('spans: the position moves between requests, and a new process goes on after the last one', async () => {
    const sink: SinkSetting = {
      ...{ kind: 'otlp', name: 'otlp', url: `${collector.url}/v1/traces`, headers: {}, everyMs: 0, withBodies: false },
    };
    // Each of them a process of its own: what they know is in the database.
    const process = () => {
      const needs = { fetch, version: '1', serviceName: 'gw', nowMs: () => nowMs, onRejected: () => {} };
      const writeSpans = createWriteSpans(needs);
      return runWith([sink], (to, part) => (to.kind === 'otlp' ? writeSpans(to, part) : write(to, part)));
    };
    const spans = () => collector.received.spans.map(({ attributes }) => attributes['llm0.request.id'] as string);
    await process();
    const records = await store(500, 500, 500);
    let answers = 4;
    collector.told.answer = () => new Response('', { status: answers-- > 0 ? 200 : 503 });
    await process();
    expect(await sinkState('otlp')).toMatchObject({ problem: 'the collector answered with status 503' });
    expect(spans().length).toBeGreaterThanOrEqual(600);
    await process();
    collector.told.answer = () => new Response();
    await process();
    expect([...new Set(spans())].sort()).toEqual(idsOf(records));
    // Only what followed the last position came twice.
    expect(spans().length).toBeLessThanOrEqual(1500 + 500);
    expect(await sinkState('otlp')).toMatchObject({ problem: null, waitingSinceMs: null });
    const twice = collector.received.spans.map(({ traceId, spanId }) => `${traceId} ${spanId}`);
    expect(new Set(twice).size).toBe(1500);
  });

  test('an object is one hour of stored rows, and waits for the end of the hour', async () => {
    const sink = sinkNamed('hourly', { everyMs: HOUR_MS });
    await run(sink);
    const hourMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
    const records = await store(2, 3);
    // The clock of the database may be in the hour before.
    for (const [last, atMs] of [
      [1, hourMs - 1],
      [0, hourMs],
    ] as const) {
      await database.db.execute(sql`update log_batches set created_at = to_timestamp(${atMs}::bigint / 1000.0)
        where seq = (select max(seq) - ${last}::int from log_batches)`);
    }
    nowMs = hourMs + 30 * 60_000;
    await run(sink);
    const before = new Date(hourMs - HOUR_MS).toISOString();
    expect([...objects].map(([key, rows]) => [key.replace(/\/\d{16}/, ''), rows.length])).toEqual([
      [`hourly/${before.slice(0, 10)}/${before.slice(11, 13)}.jsonl.gz`, 2],
    ]);
    nowMs = hourMs + HOUR_MS + 10_000;
    await run(sink);
    expect(idsOf(exported())).toEqual(idsOf(records));
    expect(objects.size).toBe(2);
  });

  test('a corrected row comes again under its id', async () => {
    const sink = sinkNamed('corrected');
    await run(sink);
    const [record] = await store(1);
    if (record === undefined) throw new Error('no record');
    await run(sink);
    await insertLogRecords(database.db, [{ ...record, corrects: true, costNanoUsd: 77 }]);
    await run(sink);
    expect(exported().map(({ id, cost_usd }) => [id, cost_usd])).toEqual([
      [record.id, record.costNanoUsd / 1e9],
      [record.id, 77 / 1e9],
    ]);
  });

  test('prompts and answers come only where the sink wants them', async () => {
    const sinks = [sinkNamed('plain'), sinkNamed('with-bodies', { withBodies: true })];
    await run(...sinks);
    const [record] = await store(1);
    if (record === undefined) throw new Error('no record');
    const { id: requestId, projectId, createdAtMs } = record;
    await writeLogBodies(database.db, [{ requestId, projectId, createdAtMs, request: '{"q":1}', ...ANSWER }]);
    await run(...sinks);
    const bodies = Object.fromEntries([...objects].map(([key, [row]]) => [key.split('/')[0], row?.request_body]));
    expect(bodies).toEqual({ plain: undefined, 'with-bodies': { q: 1 } });
  });

  test('however long prompts are, few megabytes of them are in memory at a time', async () => {
    const sink = sinkNamed('long', { withBodies: true });
    await run(sink);
    const records = await store(60);
    const request = JSON.stringify({ q: 'x'.repeat(240_000) });
    const bodies = records.map(({ id, projectId, createdAtMs }) => ({
      requestId: id,
      projectId,
      createdAtMs,
      request,
    }));
    await writeLogBodies(
      database.db,
      bodies.map((one) => ({ ...one, ...ANSWER })),
    );
    const lengths: number[] = [];
    await runWith([sink], async (_, { texts }) => {
      for await (const text of texts) lengths.push(text.length);
    });
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBeGreaterThan(60 * 240_000);
    expect(Math.max(...lengths)).toBeLessThan(5_000_000);
  });

  test('a row whose prompt may still be on its way waits for it, and the next look takes it', async () => {
    const sinks = [sinkNamed('plain'), sinkNamed('with-bodies', { withBodies: true })];
    await run(...sinks);
    await store(1);
    const names = () => [...objects.keys()].map((key) => key.split('/')[0]).sort();
    nowMs = Date.now() + 1_000;
    await run(...sinks);
    expect(names()).toEqual(['plain']);
    nowMs += 2_000;
    await run(...sinks);
    expect(names()).toEqual(['plain', 'with-bodies']);
  });

  test('a sink that is no longer configured keeps no batches', async () => {
    await run(sinkNamed('gone'));
    await run(sinkNamed('stays'));
    expect((await listSinks(database.db)).map(({ name }) => name)).toEqual(['stays']);
  });

  test('rows that Postgres does not get reach every sink whole, and then leave', async () => {
    const { db } = database;
    const sinks = [sinkNamed('whole'), sinkNamed('other', { everyMs: 2 * HOUR_MS })];
    await store(1);
    await run(...sinks);
    await endRows(db, 'whole', Date.now() - HOUR_MS);
    const engine = { store: 'whole', ask: async () => [], splitMs: async () => 0, floorMs: async () => NO_ROWS_MS };
    attachLogEngine(db, engine);
    const records = await store(600, 2);
    const kept = async () => {
      const [row] = await db.execute<{ n: number }>(
        sql`select sum(rows)::int as n from log_lines where lines is not null`,
      );
      return Number(row?.n ?? 0);
    };
    objects = new Map();
    await run(...sinks);
    expect(idsOf(exported())).toEqual(idsOf(records));
    expect(exported()[0]).toMatchObject({ request_id: exported()[0]?.id, error_code: null, cost_usd: 0.000012345 });
    expect(await kept()).toBe(602);
    expect(mostRows).toBe(500);
    nowMs += 3 * HOUR_MS;
    await run(...sinks);
    expect(idsOf(exported())).toEqual(idsOf([...records, ...records]));
    expect(await kept()).toBe(0);
  });
});
