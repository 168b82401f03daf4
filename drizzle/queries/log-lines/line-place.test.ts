import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { RecordsWaitError } from '@llm0/core/logs/log-drain';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { sampleCall } from '@llm0/testing/stores/sample-call';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import { connectDatabase, type Database, type Db } from '../../client';
import { projectRows } from '../access/projects';
import { EngineAwayError } from '../clickhouse/ask-clickhouse';
import { attachLogEngine } from '../clickhouse/log-engine';
import { beginRows, endRows } from '../clickhouse/log-floor';
import { createLabelBudget } from '../limits/label-budgets';
import { readOlderSpend } from '../limits/label-spend';
import { openRun } from '../limits/runs';
import { sumBudget } from '../limits/sum-budget';
import { insertLogBatch } from '../logs/log-batches';
import { insertLogRecords, storeLogRecords } from '../logs/log-insert';
import { addSinks, advanceSink, readSinkPart, readSinkSeq, settleSinks } from '../logs/log-sinks';
import { deleteExpired } from '../logs/retention';
import { clearLines, insertLines, readLines, toLineRow } from './line-batches';
import { findLostRequests, findStoredRequests } from './stored-requests';

const STORE = 'clickhouse://test:8123/llm0';
const HOUR_MS = 3_600_000;

describe.each(TEST_DATABASES)('rows that Postgres does not get, on $name', (kind) => {
  let database: Database;
  let db: Db;
  let isAway = false;
  beforeEach(async () => {
    await database?.close();
    database = await kind.openOwn();
    db = database.db;
    isAway = false;
    await addSinks(db, [STORE]);
    await endRows(db, STORE, Date.now() - 3 * HOUR_MS);
    attach(db);
    // From here on, only late records are asked for.
    const record = old();
    const seq = await insertLogBatch(db, [], []);
    await insertLines(db, { seq, rows: [toLineRow(record)], corrects: false });
    await db.execute(sql`update log_lines set stored_at = now() - interval '2 hours'`);
  }, 60_000);
  afterAll(() => database?.close());

  /** A ClickHouse that has no rows. */
  function attach(own: Db): void {
    const ask = async () => {
      if (isAway) throw new EngineAwayError('away');
      return [];
    };
    const floors = { floorMs: async () => Date.UTC(2100, 0), callsFloorMs: async () => Date.now() - 2 * HOUR_MS };
    attachLogEngine(own, { store: STORE, ask, splitMs: async () => 0, ...floors });
  }

  const old = (given: Partial<LogRecord> = {}) =>
    sampleRecord({ createdAtMs: Date.now() - 3 * HOUR_MS, costNanoUsd: 0, ...given });
  const some = (count: number, given: Partial<LogRecord> = {}) =>
    Array.from({ length: count }, (_, nth) => sampleRecord({ costNanoUsd: 10 + nth, ...given }));

  const totals = async () => {
    const [row] = await db.execute<{ n: number; nano: number }>(sql`
      select sum(requests)::int as n, round(sum(cost_usd) * 1e9)::float8 as nano from rollup_day`);
    return { requests: row?.n, nano: row?.nano };
  };
  const rows = async () => (await db.execute(sql`select 1 from gateway_logs`)).length;
  const costs = async () => {
    const found = new Map<string, string>();
    for await (const { text } of readLines(db, {})) {
      for (const line of text.split('\n')) found.set(JSON.parse(line).id, JSON.parse(line).cost_usd);
    }
    return found;
  };
  const lastSeq = async () =>
    Number((await db.execute<{ seq: string }>(sql`select max(seq) as seq from log_batches`))[0]?.seq);
  /** ClickHouse takes all. */
  const copy = async () => {
    await advanceSink(db, STORE, await lastSeq());
    await clearLines(db);
  };

  test('they stand beside their batch, and a repetition counts once', async () => {
    const records = some(3);
    expect(await insertLogRecords(db, records)).toEqual({ inserted: 3, corrected: 0 });
    expect(await insertLogRecords(db, [...records, ...records])).toEqual({ inserted: 0, corrected: 0 });
    expect(await totals()).toEqual({ requests: 3, nano: 33 });
    expect(await rows()).toBe(0);
    // Once their lines are gone, too.
    await copy();
    expect([...(await costs()).keys()]).toEqual([]);
    expect(await insertLogRecords(db, records)).toEqual({ inserted: 0, corrected: 0 });
  });

  test('another process knows of them', async () => {
    const url = process.env.TEST_DATABASE_URL;
    if (database.kind === 'embedded' || url === undefined) return;
    const [{ name = '' } = {}] = await db.execute<{ name: string }>(sql`select current_database() as name`);
    const other = connectDatabase({ url: Object.assign(new URL(url), { pathname: name }).href });
    try {
      attach(other.db);
      const records = some(3);
      await insertLogRecords(db, records.slice(0, 1));
      await insertLogRecords(other.db, records.slice(0, 2));
      expect(await insertLogRecords(db, records)).toEqual({ inserted: 1, corrected: 0 });
      expect(await totals()).toEqual({ requests: 3, nano: 33 });
    } finally {
      await other.close();
    }
  });

  test('a correction replaces its row, in the same batch and in an earlier one', async () => {
    const [first, second] = some(2) as [LogRecord, LogRecord];
    const corrected = { ...first, corrects: true as const, costNanoUsd: 50 };
    expect(await insertLogRecords(db, [first, second, corrected])).toEqual({ inserted: 2, corrected: 1 });
    expect(await totals()).toEqual({ requests: 2, nano: 61 });
    isAway = true;
    const again = { ...second, corrects: true as const, costNanoUsd: 7, customerId: 'c' };
    expect(await insertLogRecords(db, [again])).toEqual({ inserted: 0, corrected: 1 });
    expect(await totals()).toEqual({ requests: 2, nano: 57 });
    expect(Object.fromEntries(await costs())).toMatchObject({ [first.id]: '0.000000050', [second.id]: '0.000000007' });
  });

  test('while ClickHouse is away, late records wait, and no others', async () => {
    isAway = true;
    const [late, corrected, fresh] = [old(), old({ corrects: true }), sampleRecord({ costNanoUsd: 5 })];
    const error = await insertLogRecords(db, [late, fresh, corrected]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RecordsWaitError);
    expect((error as RecordsWaitError).waiting).toEqual(new Set([0, 2]));
    expect(await totals()).toEqual({ requests: 1, nano: 5 });
    isAway = false;
    // The batches in between are not there yet, so that it can't tell.
    await expect(insertLogRecords(db, [corrected])).resolves.toEqual({ inserted: 1, corrected: 0 });
    expect(await insertLogRecords(db, [late, fresh])).toEqual({ inserted: 1, corrected: 0 });
  });

  test('tool calls get their day, beside a late record too', async () => {
    const day = { createdAtMs: Date.parse('2031-05-06') };
    const late = old();
    const texts = [JSON.stringify(sampleCall(day)), JSON.stringify(late)];
    expect(await storeLogRecords(db, texts)).toEqual({ inserted: 2, corrected: 0 });
  });

  test('what ClickHouse said is not trusted when lines left meanwhile', async () => {
    const [record] = some(1) as [LogRecord];
    await insertLogRecords(db, [record]);
    let asked = 0;
    const ask = async () => {
      asked += 1;
      // It had nothing, and then the batch arrived.
      if (asked === 1) await copy();
      return [];
    };
    attachLogEngine(db, { store: STORE, ask, splitMs: async () => 0, floorMs: async () => Date.UTC(2100, 0) });
    await db.execute(sql`update log_lines set lines = null where seq = ${await lastSeq()}`);
    await insertLogRecords(db, [{ ...record, corrects: true, costNanoUsd: 99 }]);
    expect(asked).toBe(2);
  });

  test('holds find their requests', async () => {
    const [paid, lost] = [
      sampleRecord({ costNanoUsd: 3 }),
      sampleRecord({ costNanoUsd: 4, errorCode: 'gateway_lost' }),
    ];
    await insertLogRecords(db, [paid, lost]);
    isAway = true;
    for (const asked of [
      [paid, lost, sampleRecord()],
      [paid, lost],
    ]) {
      expect(await findStoredRequests(db, asked)).toEqual(new Set([paid.id, lost.id]));
      const booking = { costNanoUsd: 4, createdAtMs: lost.createdAtMs };
      expect(await findLostRequests(db, asked)).toEqual(new Map([[lost.id, booking]]));
      await copy();
    }
    // Only ClickHouse knows of older ones: nobody guesses.
    await expect(findStoredRequests(db, [old()])).rejects.toThrow(EngineAwayError);
  });

  test('budgets count them once', async () => {
    const projectId = (await projectRows.create(db, { name: 'lines' })).id;
    await openRun(db, { projectId, runId: 'run', apiKeyId: crypto.randomUUID(), budgetNanoUsd: 9 });
    const records = some(3, { projectId, runId: 'run', labels: { team: 'a' } });
    const [first, second] = records as [LogRecord, LogRecord, LogRecord];
    await insertLogRecords(db, records);
    await insertLogRecords(db, [{ ...first, corrects: true, costNanoUsd: 20 }]);
    const period = { projectId, fromMs: Date.now() - 48 * HOUR_MS, toMs: Date.now() + HOUR_MS };
    const sum = (scope: 'run' | 'project', except: readonly string[] = []) =>
      sumBudget(db, { ...period, except, owner: scope === 'run' ? { scope, runId: 'run' } : { scope } });
    for (let nth = 0; nth < 2; nth++) {
      expect(await sum('run')).toBe(20 + 11 + 12);
      expect(await sum('project', [first.id, second.id, crypto.randomUUID()])).toBe(12);
      await copy();
    }
  });

  test('a new budget of a label has rows that are on their way', async () => {
    const projectId = (await projectRows.create(db, { name: 'labels' })).id;
    await insertLogRecords(db, [...some(3, { projectId, labels: { team: 'a' } }), ...some(1, { projectId })]);
    const budget = { projectId, label: 'team', value: 'a', monthlyNanoUsd: 5 };
    const older = await readOlderSpend(db, budget, Date.now());
    await db.transaction((tx) => createLabelBudget(tx, budget, { nowMs: Date.now(), older }));
    const [spent] = await db.execute(sql`select round(sum(spent_usd) * 1e9)::int as nano from label_spend`);
    expect(spent?.nano).toBe(33);
    await copy();
    const again = db.transaction((tx) =>
      createLabelBudget(tx, { ...budget, value: 'b' }, { nowMs: Date.now(), older }),
    );
    await expect(again).rejects.toThrow(EngineAwayError);
  });

  test('lines stay until every store has them, and their batches with them', async () => {
    await copy();
    await addSinks(db, ['s3://other']);
    await insertLogRecords(db, some(3));
    await copy();
    expect((await costs()).size).toBe(3);
    await deleteExpired(db, 'log_batches', Date.now() + HOUR_MS);
    const part = await readSinkPart(db, { afterSeq: 0, beforeMs: Date.now() + HOUR_MS, mostRows: 10 });
    expect(part).toEqual({ entries: [], lines: 3, seq: await lastSeq() });
    await advanceSink(db, 's3://other', await lastSeq());
    await clearLines(db);
    expect((await costs()).size).toBe(0);
    // The newest batch tells which records are new.
    expect((await db.execute(sql`select 1 from log_lines`)).length).toBe(1);
  });

  test('a tool call whose day Postgres dropped waits for ClickHouse, and others do not', async () => {
    const late = sampleCall({ createdAtMs: Date.now() - 3 * HOUR_MS });
    const records = [...some(2), late, sampleCall()].map((one) => JSON.stringify(one));
    isAway = true;
    await expect(storeLogRecords(db, records)).rejects.toEqual(new RecordsWaitError(new Set([2])));
    const calls = async () => (await db.execute(sql`select 1 from tool_calls`)).length;
    expect([await calls(), (await costs()).size]).toEqual([1, 3]);
    isAway = false;
    await copy();
    expect(await storeLogRecords(db, records)).toEqual({ inserted: 1, corrected: 0 });
    expect(await calls()).toBe(2);
    // They have batches of their own, which the sink reads.
    const afterSeq = await readSinkSeq(db, STORE);
    const part = await readSinkPart(db, { afterSeq, beforeMs: Date.now() + HOUR_MS, mostRows: 10 });
    expect(part).toMatchObject({ entries: [[late.createdAtMs, late.id, 1]], lines: 0 });
  });

  test('with rows in Postgres again, each still counts once', async () => {
    const [record] = some(1) as [LogRecord];
    await insertLogRecords(db, [record]);
    await beginRows(db, Date.now());
    await expect(insertLogRecords(db, [record])).rejects.toThrow('ClickHouse has to tell');
    const later = sampleRecord({ createdAtMs: Date.now() + HOUR_MS });
    attachLogEngine(db, { store: STORE, ask: async () => [], splitMs: async () => 0, floorMs: async () => Date.now() });
    expect(await insertLogRecords(db, [later])).toEqual({ inserted: 1, corrected: 0 });
    expect(await rows()).toBe(1);
  });

  test('when Postgres gets no rows for the second time, those of in between count once', async () => {
    await beginRows(db, Date.now());
    const record = sampleRecord({ createdAtMs: Date.now() - HOUR_MS, costNanoUsd: 6 });
    attachLogEngine(db, { store: STORE, ask: async () => [], splitMs: async () => 0, floorMs: async () => 0 });
    expect(await insertLogRecords(db, [record])).toEqual({ inserted: 1, corrected: 0 });
    await endRows(db, STORE, Date.now() - 61_000);
    attach(db);
    // ClickHouse has nothing of it yet, so that its answer isn't trusted.
    await expect(insertLogRecords(db, [record])).rejects.toThrow('ClickHouse has to tell');
    expect(await totals()).toEqual({ requests: 1, nano: 6 });
    const fresh = sampleRecord();
    await expect(insertLogRecords(db, [fresh])).rejects.toThrow('ClickHouse has to tell');
    await copy();
    expect(await insertLogRecords(db, [fresh])).toEqual({ inserted: 1, corrected: 0 });
  });

  test('without any store, batches of lines stay', async () => {
    await insertLogRecords(db, some(2));
    const seq = await lastSeq();
    await settleSinks(db, []);
    await insertLogBatch(db, [], []);
    await deleteExpired(db, 'log_batches', Date.now() + HOUR_MS);
    await addSinks(db, [STORE]);
    const part = await readSinkPart(db, {
      afterSeq: await readSinkSeq(db, STORE),
      beforeMs: Date.now() + HOUR_MS,
      mostRows: 10,
    });
    expect(part).toMatchObject({ lines: 3 });
    expect(part.seq).toBeGreaterThanOrEqual(seq);
  });
});
