import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import type { Database } from '../../client';
import { projectRows } from '../access/projects';
import { openRun } from '../limits/runs';
import { sumBudget } from '../limits/sum-budget';
import { forgetComparisons, listComparedDays, noteComparedDay, sumRows } from '../logs/log-days';
import { insertLogRecords } from '../logs/log-insert';
import { addSinks, advanceSink } from '../logs/log-sinks';
import { listPartitions } from '../logs/partitions';
import { dropBelowFloor, raiseLogFloor, readLogFloor } from './log-floor';

const STORE = 'clickhouse://test:8123/llm0';
const DAY_MS = 86_400_000;
const nowMs = Date.parse('2030-02-20T15:00:00Z');
const LATER_MS = 11 * 60_000;
const [first, second, third] = ['2030-02-10', '2030-02-11', '2030-02-12'] as const;

describe.each(TEST_DATABASES)('the floor of the log on $name', (kind) => {
  let database: Database | undefined;
  beforeEach(async () => {
    await database?.close();
    database = await kind.openOwn();
  }, 60_000);
  afterAll(() => database?.close());

  async function open() {
    if (database === undefined) throw new Error('no database');
    const { db } = database;
    const projectId = (await projectRows.create(db, { name: 'floor' })).id;
    const write = (day: string) =>
      insertLogRecords(db, [
        sampleRecord({ projectId, createdAtMs: Date.parse(day) + 1000, runId: 'run', costNanoUsd: 5 }),
      ]);
    const compare = async (day: string) => {
      const fromMs = Date.parse(day);
      await noteComparedDay(db, STORE, { day, sums: await sumRows(db, { fromMs, toMs: fromMs + DAY_MS }) });
    };
    const catchUp = async (store = STORE) => {
      const [row] = await db.execute<{ last: string }>(sql`select max(seq) as last from log_batches`);
      await advanceSink(db, store, Number(row?.last));
    };
    const raise = (atMs = nowMs) => raiseLogFloor(db, { store: STORE, beforeMs: nowMs - 3 * DAY_MS, nowMs: atMs });
    const dayOfFloor = async () => new Date((await raise())?.ms ?? 0).toISOString().slice(0, 10);
    const drop = async (atMs = nowMs + LATER_MS) => {
      const floor = await readLogFloor(db);
      return floor === null ? [] : dropBelowFloor(db, floor, { nowMs: atMs });
    };
    const spent = () =>
      sumBudget(db, {
        ...{ projectId, fromMs: 0, toMs: nowMs, except: [] },
        owner: { scope: 'run', runId: 'run' },
      });
    await addSinks(db, [STORE]);
    await openRun(db, { projectId, runId: 'run', apiKeyId: crypto.randomUUID(), budgetNanoUsd: 9 });
    for (const day of [first, second, third]) await write(day);
    return { db, write, compare, catchUp, raise, dayOfFloor, drop, spent };
  }

  test('it rises over days that were compared, once every store has their batches', async () => {
    const { db, compare, catchUp, raise, dayOfFloor } = await open();
    expect(await raise()).toBeNull();
    await compare(first);
    // Their batches are still to come.
    expect(await raise()).toBeNull();
    await catchUp();
    expect(await dayOfFloor()).toBe(second);
    await compare(third);
    expect(await dayOfFloor()).toBe(second);
    await compare(second);
    await addSinks(db, ['s3://other']);
    expect(await dayOfFloor()).toBe('2030-02-17');
  });

  test('a sink that lags holds it', async () => {
    const { db, write, compare, catchUp, raise } = await open();
    await addSinks(db, ['s3://other']);
    await write(first);
    for (const day of [first, second, third]) await compare(day);
    await catchUp();
    expect(await raise()).toBeNull();
    await catchUp('s3://other');
    expect(await raise()).not.toBeNull();
  });

  test('days fall when readers know of it, and the spend of runs stays', async () => {
    const { db, write, compare, catchUp, raise, drop, spent } = await open();
    await compare(first);
    await compare(second);
    await catchUp();
    await raise();
    expect(await drop(nowMs + 60_000)).toEqual([]);
    // Not all sinks have it: the day stays.
    await write(first);
    expect(await drop()).toEqual([]);
    await catchUp();
    expect(await drop()).toEqual([first, second]);
    expect((await listPartitions(db)).map(({ day }) => day)).toEqual([third]);
    expect(await spent()).toBe(4 * 5);
    // Dropped days can't be compared again.
    await compare(third);
    await forgetComparisons(db, STORE);
    expect([...(await listComparedDays(db, STORE))].sort()).toEqual([first, second]);
  });

  test('another store does not move it', async () => {
    const { db, compare, catchUp, raise } = await open();
    await compare(first);
    await catchUp();
    const floor = await raise();
    const other = { store: 'clickhouse://other:8123/llm0', beforeMs: nowMs, nowMs };
    expect(await raiseLogFloor(db, other)).toEqual(floor as never);
  });
});
