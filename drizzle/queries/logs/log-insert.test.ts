import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { RecordsRejectedError } from '@llm0/core/logs/decode-log-record';
import { addToHistogram, type Histogram } from '@llm0/core/logs/histogram';
import { RecordsOutdatedError } from '@llm0/core/logs/log-drain';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { runs } from '@llm0/testing/lane';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { and, asc, eq, sql } from 'drizzle-orm';
import fc from 'fast-check';
import type { Database, Db } from '../../client';
import { customerSpend } from '../../schema/customers';
import { gatewayLogs } from '../../schema/gateway-logs';
import { rollupDay, rollupHour, rollupMinute } from '../../schema/rollups';
import { findLostRequests, findStoredRequests } from '../log-lines/stored-requests';
import { loadSpend, sumMonths } from '../stats/read/spend-sums';
import { listFailovers } from './failovers';
import { readLogFence } from './log-fence';
import { insertLogRecords, storeLogRecords } from './log-insert';
import { getLogByRequestId } from './search-logs';

const ROLLUPS = [
  { table: rollupMinute, sizeMs: 60_000 },
  { table: rollupHour, sizeMs: 3_600_000 },
  { table: rollupDay, sizeMs: 86_400_000 },
];

describe.each(TEST_DATABASES)('log insert on $name', (kind) => {
  let database: Database;
  let db: Db;
  beforeAll(async () => {
    database = await kind.open();
    db = database.db;
  }, 60_000);
  afterAll(() => database.close());

  const rowsOf = (projectId: string) => db.select().from(gatewayLogs).where(eq(gatewayLogs.projectId, projectId));

  test('a record comes back with every field', async () => {
    const record = sampleRecord({
      projectId: crypto.randomUUID(),
      createdAtMs: Date.parse('2026-03-01T23:59:59.987Z'),
      clientRequestId: 'client-1',
      runId: 'run-1',
      traceId: '0af7651916cd43dd8448eb211c80319c',
      costDetail: { input: 5, other_attempts: 7, price_source: 'seed' },
      costEstimated: true,
      savedNanoUsd: 9_007_199_254_740_991,
      similarityScore: 0.5,
      semanticCacheHit: true,
      cacheHit: true,
      failoverCount: 1,
      attempts: [
        { provider: 'alpha', model: 'model-a', outcome: 'timeout', status: 504, startMs: 1, latencyMs: 30.5 },
        { provider: 'alpha', model: 'model-a', outcome: 'server_error', status: 500, startMs: 32, latencyMs: 10 },
        { provider: 'beta', model: 'model-b', outcome: 'ok', startMs: 43, latencyMs: 55.25, costNanoUsd: 3 },
      ],
      finalProvider: 'beta',
      status: 'error',
      httpStatus: 502,
      errorCode: 'upstream_error',
      errorMessage: 'it "failed"\n\\',
      customerId: "o'brien \u{1f600}",
      labels: { team: 'a"b' },
      droppedParams: ['store', 'tools.web_search'],
      guardrails: [
        { rule: 'no "cards"', on: 'input', part: 'user', check: 'pii', action: 'redact', count: 2, ms: 0.25 },
        { rule: 'mail', on: 'output', part: 'assistant', check: 'pii', action: 'block', count: 1, ms: 1, shadow: true },
      ],
      matchedBy: crypto.randomUUID(),
      refusedCount: 3,
      modality: 'audio',
      units: { seconds: 12.5 },
      routing: [{ provider: 'alpha', model: 'model-a', reason: 'timeout' }],
    });
    await storeLogRecords(db, [JSON.stringify(record)]);
    const row = await getLogByRequestId(db, record.id);
    const { corrects: _c, id, createdAtMs, ...fields } = record;
    expect(row).toEqual({
      ...fields,
      id,
      createdAtMs,
      requestId: id,
      tokensTotal: 30,
      failoverOccurred: true,
      clientRequestId: 'client-1',
    } as never);
    expect(await listFailovers(db, id)).toMatchObject([
      {
        switchIndex: 0,
        originalProvider: 'alpha',
        fallbackProvider: 'beta',
        fallbackModel: 'model-b',
        triggerReason: 'server_error',
        triggerStatusCode: 500,
        originalAttemptLatencyMs: 10,
        fallbackLatencyMs: 55.25,
        totalLatencyMs: 123.456,
        fallbackSucceeded: true,
      },
    ]);
  });

  test('fields left out are null', async () => {
    const { provider: _p, finalProvider: _f, overheadMs: _o, upstreamMs: _u, ttftMs: _t, ...bare } = sampleRecord();
    await insertLogRecords(db, [bare]);
    const row = await getLogByRequestId(db, bare.id);
    const nulls = ['provider', 'finalProvider', 'overheadMs', 'ttftMs', 'labels', 'attempts', 'customerId'] as const;
    for (const name of nulls) expect(row?.[name]).toBeNull();
  });

  test('invalid text becomes storable', async () => {
    const record = sampleRecord({ errorMessage: 'a\0b\ud800c', labels: { 'k\0': 'v\udc00' } });
    await storeLogRecords(db, [JSON.stringify(record)]);
    const row = await getLogByRequestId(db, record.id);
    expect(row?.errorMessage).toBe('ab\ufffdc');
    expect(row?.labels).toEqual({ k: 'v\ufffd' });
  });

  test.each<[string, string]>([
    ['not JSON', '{'],
    ['no object', 'null'],
    ['an id that is none', JSON.stringify({ ...sampleRecord(), id: 'x' })],
    ['money that is not whole', JSON.stringify({ ...sampleRecord(), costNanoUsd: 0.5 })],
    ['a clock out of range', JSON.stringify(sampleRecord({ createdAtMs: 1 }))],
    ['a number no column can hold', JSON.stringify(sampleRecord({ failoverCount: 2 ** 40 }))],
    ['an unknown status', JSON.stringify({ ...sampleRecord(), status: 'maybe' })],
  ])('%s is rejected as data, and nothing of its batch is written', async (_name, text) => {
    const good = sampleRecord();
    await expect(storeLogRecords(db, [JSON.stringify(good), text])).rejects.toBeInstanceOf(RecordsRejectedError);
    expect(await getLogByRequestId(db, good.id)).toBeNull();
  });

  test('numbers that only JSON takes for whole ones are no fault', async () => {
    const record = sampleRecord();
    const text = JSON.stringify(record).replace(`"costNanoUsd":${record.costNanoUsd}`, `"costNanoUsd":7.0`);
    expect(text).toContain('7.0');
    expect(await storeLogRecords(db, [text])).toEqual({ inserted: 1, corrected: 0 });
    expect((await getLogByRequestId(db, record.id))?.costNanoUsd).toBe(7);
  });

  test('the last of two equal fields counts, as in a late correction', async () => {
    const [record, later] = [sampleRecord(), Date.parse('2026-03-01T10:00:00Z')];
    await storeLogRecords(db, [`${JSON.stringify(record).slice(0, -1)},"createdAtMs":${later}}`]);
    expect((await getLogByRequestId(db, record.id))?.createdAtMs).toBe(later);
  });

  test('only new rows of a large batch count', async () => {
    const projectId = crypto.randomUUID();
    const records = Array.from({ length: 600 }, () => sampleRecord({ projectId }));
    const known = records.filter((_, index) => index % 7 === 0);
    await insertLogRecords(db, known);
    const result = await storeLogRecords(
      db,
      records.map((record) => JSON.stringify(record)),
    );
    expect(result).toEqual({ inserted: records.length - known.length, corrected: 0 });
    expect(await rowsOf(projectId)).toHaveLength(records.length);
    const counted = await db.select().from(rollupDay).where(eq(rollupDay.projectId, projectId));
    expect(counted.reduce((sum, row) => sum + Number(row.requests), 0)).toBe(records.length);
  });

  test('stored requests are found, others are not', async () => {
    const record = sampleRecord();
    await insertLogRecords(db, [record]);
    const other = { id: Bun.randomUUIDv7(), createdAtMs: record.createdAtMs };
    expect(await findStoredRequests(db, [record, other])).toEqual(new Set([record.id]));
    expect(await findStoredRequests(db, [])).toEqual(new Set());
  });

  test('a batch read before the sums of a rebuild is refused after them, and nothing of it is written', async () => {
    const [before, after] = [sampleRecord(), sampleRecord()];
    const fence = await readLogFence(db);
    await insertLogRecords(db, [before], { fence });
    await loadSpend(db, before.createdAtMs);
    const refused = await insertLogRecords(db, [after], { fence }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RecordsOutdatedError);
    expect(await getLogByRequestId(db, after.id)).toBeNull();
    expect(await insertLogRecords(db, [after], { fence: await readLogFence(db) })).toMatchObject({ inserted: 1 });
  });

  test('the row of a refusal is found although its late hold stands at another time', async () => {
    const record = sampleRecord();
    await insertLogRecords(db, [record]);
    const later = record.createdAtMs + 30_000;
    expect(await findStoredRequests(db, [{ id: record.id, createdAtMs: later }])).toEqual(new Set([record.id]));
  });

  test("the reaper's rows differ from answered ones", async () => {
    const [answered, lost] = [sampleRecord(), sampleRecord({ errorCode: 'gateway_lost', costNanoUsd: 1_234_567_891 })];
    await insertLogRecords(db, [answered, lost]);
    const { createdAtMs, costNanoUsd } = lost;
    expect(await findLostRequests(db, [answered, lost])).toEqual(new Map([[lost.id, { createdAtMs, costNanoUsd }]]));
  });

  test('a late correction replaces its row once, wherever it stands', async () => {
    const projectId = crypto.randomUUID();
    const lost = sampleRecord({ projectId, status: 'error', httpStatus: 500, costNanoUsd: 900, costEstimated: true });
    const late: LogRecord = { ...lost, status: 'success', costNanoUsd: 250, costEstimated: false, corrects: true };
    expect(await insertLogRecords(db, [lost])).toEqual({ inserted: 1, corrected: 0 });
    expect(await insertLogRecords(db, [late])).toEqual({ inserted: 0, corrected: 1 });
    await insertLogRecords(db, [lost, late]);
    const rows = await rowsOf(projectId);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ status: 'success', costNanoUsd: 250 });
    const month = new Date(lost.createdAtMs).toISOString().slice(0, 7);
    const expected = [{ projectId, month, spentNanoUsd: 250 }];
    expect(await sumMonths(db, { projectId, fromMonth: month, source: 'rows' })).toEqual(expected);
    expect(await sumMonths(db, { projectId, fromMonth: month, source: 'rollups' })).toEqual(expected);
    const [day, ...more] = await db.select().from(rollupDay).where(eq(rollupDay.projectId, projectId));
    expect(more).toEqual([]);
    expect(day).toMatchObject({ requests: 1, status: 'success', costNanoUsd: 250 });
  });

  test('folded refusals count as many as they are; names that only refusals bring leave nothing for good', async () => {
    const projectId = crypto.randomUUID();
    const at = { projectId, createdAtMs: Date.parse('2026-03-03T10:00:00Z') };
    const refused = {
      ...{ ...at, provider: undefined, finalProvider: undefined, status: 'rate_limited' as const, costNanoUsd: 0 },
      ...{ errorCode: 'rate_limit_exceeded', refusedCount: 41 },
    };
    await insertLogRecords(db, [sampleRecord({ ...at, customerId: 'known' })]);
    const records = ['known', 'invented', undefined].map((customerId) => sampleRecord({ ...refused, customerId }));
    await insertLogRecords(db, records);
    await insertLogRecords(db, records);
    const days = await db.select().from(customerSpend).where(eq(customerSpend.projectId, projectId));
    expect(days.map((day) => [day.customerId, day.requestCount])).toEqual([['known', 42]]);
    const rows = await db.select().from(rollupDay).where(eq(rollupDay.projectId, projectId));
    expect(rows.map(({ status, requests }) => [status, requests]).sort()).toEqual([
      ['rate_limited', 123],
      ['success', 1],
    ]);
    const errors = await db.execute(
      sql`select requests::int as requests from rollup_error where project_id = ${projectId}`,
    );
    expect(errors.map(({ requests }) => requests)).toEqual([123]);
  });

  test('rows, roll-ups and customer spend are those of the model, whatever comes twice or late', async () => {
    await fc.assert(
      fc.asyncProperty(historyArbitrary(), async (batches) => {
        const projectId = crypto.randomUUID();
        const model = new Map<string, LogRecord>();
        for (const batch of batches) {
          const records = batch.map((record) => ({ ...record, projectId }));
          await insertLogRecords(db, records);
          for (const record of records)
            if (record.corrects !== true && !model.has(record.id)) model.set(record.id, record);
          for (const record of records) if (record.corrects === true) model.set(record.id, record);
        }
        await expectModel(db, projectId, [...model.values()]);
      }),
      { numRuns: runs(40) },
    );
  }, 120_000);

  test('of many rows, some of which are there, the others are written and counted once', async () => {
    const projectId = crypto.randomUUID();
    const records = Array.from({ length: 150 }, (_, n) =>
      sampleRecord({ projectId, createdAtMs: Date.parse('2026-03-05T10:00:00Z') + n, costNanoUsd: 100 }),
    );
    expect(await insertLogRecords(db, records.slice(0, 100))).toMatchObject({ inserted: 100 });
    expect(await insertLogRecords(db, records.slice(50))).toMatchObject({ inserted: 50 });
    expect(await insertLogRecords(db, records)).toMatchObject({ inserted: 0 });
    await expectModel(db, projectId, records);
  });

  test('the counters for a rebuild are the sums of the rows', async () => {
    const projectId = crypto.randomUUID();
    const nowMs = Date.parse('2026-05-02T12:00:00Z');
    const at = (text: string, costNanoUsd: number, customerId?: string) =>
      sampleRecord({ projectId, createdAtMs: Date.parse(text), costNanoUsd, customerId });
    await insertLogRecords(db, [
      at('2026-03-31T23:59:59.999Z', 1),
      at('2026-04-01T00:00:00Z', 10, 'c'),
      at('2026-04-30T23:59:59.999Z', 100, 'c'),
      at('2026-05-01T00:00:00Z', 1_000, 'c'),
      at('2026-05-02T11:00:00Z', 10_000, 'c'),
    ]);
    const spend = await loadSpend(db, nowMs);
    const own = <T extends { projectId: string }>(rows: readonly T[]) =>
      rows.filter((row) => row.projectId === projectId);
    const sorted = <T>(rows: readonly T[]) =>
      [...rows].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    const keyId = sampleRecord().apiKeyId;
    expect(sorted(own(spend.projectMonths))).toEqual([
      { projectId, month: '2026-04', spentNanoUsd: 110 },
      { projectId, month: '2026-05', spentNanoUsd: 11_000 },
    ] as never);
    expect(own(spend.keyTotals)).toEqual([{ projectId, keyId, spentNanoUsd: 11_111 }]);
    expect(own(spend.keyMonths)).toHaveLength(2);
    expect(sorted(own(spend.customerDays)).map((row) => [row.day, row.spentNanoUsd])).toEqual([
      ['2026-05-01', 1_000],
      ['2026-05-02', 10_000],
    ] as never);
    expect(sorted(own(spend.customerMonths)).map((row) => [row.month, row.spentNanoUsd])).toEqual([
      ['2026-04', 110],
      ['2026-05', 11_000],
    ] as never);
  });
});

/** Batches of records of few keys over two days, with repeats and late corrections of earlier ones. */
function historyArbitrary(): fc.Arbitrary<LogRecord[][]> {
  const base = Date.parse('2026-02-10T23:30:00Z');
  const record = fc
    .record({
      createdAtMs: fc.integer({ min: base, max: base + 3_600_000 }),
      model: fc.constantFrom('m1', 'm2'),
      finalProvider: fc.constantFrom('alpha', undefined),
      status: fc.constantFrom('success', 'error', 'rate_limited'),
      cacheHit: fc.boolean(),
      semanticCacheHit: fc.boolean(),
      customerId: fc.constantFrom('c1', 'c2', undefined),
      costNanoUsd: fc.integer({ min: 0, max: 5_000_000_000 }),
      tokensIn: fc.nat(100_000),
      latencyMs: fc.double({ min: 0.01, max: 60_000, noNaN: true }),
      ttftMs: fc.option(fc.double({ min: 0.01, max: 60_000, noNaN: true }), { nil: undefined }),
    })
    .map((given) => sampleRecord(given as Partial<LogRecord>));
  const step = fc.record({
    fresh: fc.array(record, { maxLength: 6 }),
    again: fc.nat(10),
    late: fc.nat(10),
    cost: fc.nat(1_000),
  });
  return fc.array(step, { minLength: 1, maxLength: 5 }).map((steps) => {
    const seen: LogRecord[] = [];
    const corrected = new Set<string>();
    return steps.map(({ fresh, again, late, cost }) => {
      const batch = [...fresh];
      const repeated = seen[again];
      if (repeated !== undefined) batch.push(repeated);
      const target = [...seen, ...fresh][late];
      if (target !== undefined && !corrected.has(target.id)) {
        corrected.add(target.id);
        batch.push({ ...target, status: 'success', costNanoUsd: cost, latencyMs: 1 + cost, corrects: true });
      }
      seen.push(...fresh);
      return batch;
    });
  });
}

async function expectModel(db: Db, projectId: string, records: readonly LogRecord[]): Promise<void> {
  const stored = await db.select({ id: gatewayLogs.id }).from(gatewayLogs).where(eq(gatewayLogs.projectId, projectId));
  expect(stored.map(({ id }) => id).sort()).toEqual(records.map(({ id }) => id).sort());
  for (const { table, sizeMs } of ROLLUPS) {
    const rows = await db.select().from(table).where(eq(table.projectId, projectId));
    const actual = rows.map((row) => ({
      key: [row.bucketMs, row.model, row.provider, row.status, row.cache].join(' '),
      requests: row.requests,
      tokensIn: row.tokensIn,
      cost: row.costNanoUsd,
      latency: row.latencyHistogram,
      ttft: row.ttftHistogram,
    }));
    expect(sortByKey(actual)).toEqual(sortByKey(modelRollup(records, sizeMs)));
  }
  const spend = await db
    .select()
    .from(customerSpend)
    .where(and(eq(customerSpend.projectId, projectId)))
    .orderBy(asc(customerSpend.customerId), asc(customerSpend.date));
  const expected = new Map<string, number>();
  for (const record of records) {
    if (record.customerId === undefined) continue;
    const key = `${record.customerId} ${new Date(record.createdAtMs).toISOString().slice(0, 10)}`;
    expected.set(key, (expected.get(key) ?? 0) + record.costNanoUsd);
  }
  expect(new Map(spend.map((row) => [`${row.customerId} ${row.date}`, row.totalSpendNanoUsd]))).toEqual(
    new Map([...expected].sort()),
  );
}

const sortByKey = <T extends { key: string }>(rows: readonly T[]) => [...rows].sort((a, b) => (a.key < b.key ? -1 : 1));

function modelRollup(records: readonly LogRecord[], sizeMs: number) {
  const groups = new Map<string, LogRecord[]>();
  for (const record of records) {
    const start = Math.floor(record.createdAtMs / sizeMs) * sizeMs;
    const cache = record.semanticCacheHit ? 'semantic' : record.cacheHit ? 'exact' : 'miss';
    const key = [start, record.model, record.finalProvider ?? record.provider, record.status, cache].join(' ');
    groups.set(key, [...(groups.get(key) ?? []), record]);
  }
  return [...groups].map(([key, members]) => ({
    key,
    requests: members.length,
    tokensIn: members.reduce((sum, record) => sum + record.tokensIn, 0),
    cost: members.reduce((sum, record) => sum + record.costNanoUsd, 0),
    latency: histogramOf(members.map((record) => record.latencyMs)),
    ttft: histogramOf(members.map((record) => record.ttftMs)),
  }));
}

function histogramOf(values: readonly (number | undefined)[]): Histogram {
  const histogram: Histogram = new Map();
  for (const value of values) if (value !== undefined) addToHistogram(histogram, value);
  return histogram;
}
