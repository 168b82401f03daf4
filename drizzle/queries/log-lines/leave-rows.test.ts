import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import type { Database } from '../../client';
import { beginRows, hadNoRows, NO_ROWS_MS, noRowsFromMs, raiseLogFloor, readLogFloor } from '../clickhouse/log-floor';
import { noteComparedDay, noteComplete, sumRows } from '../logs/log-days';
import { insertLogRecords } from '../logs/log-insert';
import { addSinks, advanceSink, noteSinkFailure } from '../logs/log-sinks';
import { leaveRowsTo } from './leave-rows';

const STORE = 'clickhouse://test:8123/llm0';
const DAY_MS = 86_400_000;
const nowMs = Date.parse('2030-02-20T15:00:00Z');
const MINUTE_MS = 60_000;

describe.each(TEST_DATABASES)('leaving rows to ClickHouse on $name', (kind) => {
  let database: Database;
  beforeEach(async () => {
    await database?.close();
    database = await kind.openOwn();
    const { db } = database;
    await addSinks(db, [STORE]);
    for (const day of ['2030-02-10', '2030-02-20']) {
      await insertLogRecords(db, [sampleRecord({ createdAtMs: Date.parse(day) })]);
    }
    await db.execute(sql`update log_batches set created_at = to_timestamp(${nowMs - MINUTE_MS}::bigint / 1000.0)`);
  }, 60_000);
  afterAll(() => database?.close());

  const compare = async (day: string) => {
    const fromMs = Date.parse(day);
    const sums = await sumRows(database.db, { fromMs, toMs: fromMs + DAY_MS });
    await noteComparedDay(database.db, STORE, { day, sums });
  };
  const catchUp = async () => {
    const [row] = await database.db.execute<{ seq: string }>(sql`select max(seq) as seq from log_batches`);
    await advanceSink(database.db, STORE, Number(row?.seq));
  };

  test('it waits until every day was compared, and the newest rows are nearly there', async () => {
    const { db } = database;
    expect(await leaveRowsTo(db, STORE, nowMs)).toBeNull();
    await noteComplete(db, STORE, nowMs);
    await compare('2030-02-10');
    expect(await leaveRowsTo(db, STORE, nowMs)).toBeNull();
    await catchUp();
    await noteSinkFailure(db, STORE, { atMs: nowMs, problem: 'away' });
    expect(await leaveRowsTo(db, STORE, nowMs)).toBeNull();
    await catchUp();
    const floor = await leaveRowsTo(db, STORE, nowMs);
    expect(floor).toEqual({ store: STORE, ms: NO_ROWS_MS, atMs: nowMs, withoutRowsMs: nowMs + MINUTE_MS });
    // Readers know of it first.
    expect(noRowsFromMs(floor)).toBe(nowMs + MINUTE_MS);
    expect(await leaveRowsTo(db, STORE, nowMs + DAY_MS)).toEqual(floor);
    expect(await leaveRowsTo(db, 'clickhouse://other', nowMs)).toEqual(floor);
  });

  test('a day that was not compared holds it', async () => {
    const { db } = database;
    await noteComplete(db, STORE, nowMs);
    await catchUp();
    expect(await leaveRowsTo(db, STORE, nowMs)).toBeNull();
  });

  test('rows come back to Postgres, and days without all of them are never compared', async () => {
    const { db } = database;
    await noteComplete(db, STORE, nowMs);
    await compare('2030-02-10');
    await catchUp();
    await leaveRowsTo(db, STORE, nowMs);
    await beginRows(db, nowMs + 2 * DAY_MS);
    const floor = await readLogFloor(db);
    expect(noRowsFromMs(floor)).toBe(Number.MAX_SAFE_INTEGER);
    expect(floor?.ms).toBeGreaterThan(nowMs + 2 * DAY_MS);
    const days = ['2030-02-19', '2030-02-20', '2030-02-22', '2030-02-23'];
    expect(days.map((day) => hadNoRows(floor, day))).toEqual([true, true, true, false]);
    // They don't hold the floor, and a second time begins where the first did.
    const raised = await raiseLogFloor(db, { store: STORE, beforeMs: nowMs + 5 * DAY_MS, nowMs: nowMs + 9 * DAY_MS });
    expect(raised?.withoutRowsMs).toBe(nowMs + MINUTE_MS);
    expect((await leaveRowsTo(db, STORE, nowMs + 9 * DAY_MS))?.withoutRowsMs).toBe(nowMs + MINUTE_MS);
    // It changes nothing where Postgres gets rows.
    await beginRows(db, nowMs + 10 * DAY_MS);
    const again = await readLogFloor(db);
    await beginRows(db, nowMs + 11 * DAY_MS);
    expect(await readLogFloor(db)).toEqual(again);
  });
});
