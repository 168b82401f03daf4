// Postgres and ClickHouse are killed while batches are written without rows in Postgres, and drained: rows and money are even
// in the end.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { attachLogDatabase } from '@llm0/drizzle/clickhouse/log-database';
import type { Database } from '@llm0/drizzle/client';
import { openDatabase } from '@llm0/drizzle/open-database';
import { endRows } from '@llm0/drizzle/queries/clickhouse/log-floor';
import { addSinks } from '@llm0/drizzle/queries/logs/log-sinks';
import { ChaosPostgres } from '@llm0/testing/chaos/chaos-postgres';
import { type ChdbServer, startChdb } from '@llm0/testing/clickhouse/start-chdb';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import type { ClickHouseSetting } from '../config/sinks';
import type { JobContext } from '../jobs/job';
import { calls, clearBooks, rows, SETTING } from './bad-clickhouse.fixture';
import { exportRows } from './export-rows';
import { costsOf, costsOfRows, RecordQueue, randomOf, sumOf } from './record-queue.fixture';
import { createWriteClickHouse } from './write-clickhouse';

const HOUR_MS = 3_600_000;
const ROUNDS = 40;
const KILLS = 6;
const first = Number(process.env.TEST_SEED ?? 1);

let postgres: ChaosPostgres;
let clickhouse: ChdbServer;
let database: Database;
let sink: ClickHouseSetting;

beforeAll(async () => {
  postgres = await ChaosPostgres.start();
  clickhouse = await startChdb();
  database = await openDatabase({ databaseUrl: postgres.url, dataDir: '/nonexistent', onWarning: () => {} });
  const url = clickhouse.url.replace('clickhouse:', 'http:').replace('/default', '');
  sink = { ...SETTING, url, database: 'default', withBodies: false };
  await (await attachLogDatabase(database.db, sink)()).close();
}, 240_000);
afterAll(async () => {
  await database?.close();
  await clickhouse?.stop();
  await postgres?.dispose();
});

const world = {
  get database() {
    return database;
  },
  ask: <T>(query: string) => clickhouse.ask<T>(query),
  attach() {},
};

/** Again and again until it works: a store is being started. */
async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === 200) throw error;
      await Bun.sleep(100);
    }
  }
}

/** One of the stores at a time, which comes back soon. */
async function killInTurn(random: () => number): Promise<void> {
  for (let nth = 0; nth < KILLS; nth++) {
    await Bun.sleep(random() * 400);
    const store = random() < 0.5 ? postgres : clickhouse;
    await store.kill();
    await Bun.sleep(random() * 300);
    await store.start();
  }
}

/** Batches of requests and tool calls, some of them again, some corrected. */
async function write(queue: RecordQueue, random: () => number, agoMs: number): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const known = [...queue.stored.values()];
    const some = known.slice(Math.floor(random() * known.length)).slice(0, 5);
    const what = random();
    if (what < 0.15) await queue.add(some.map(({ corrects: _, ...one }) => one));
    else if (what < 0.3)
      await queue.add(some.map((one) => ({ ...one, corrects: true as const, costNanoUsd: one.costNanoUsd + 3 })));
    else
      await queue.add([
        ...rows(agoMs, 1 + Math.floor(random() * 60), 1000),
        ...calls(agoMs, Math.floor(random() * 9), 300),
      ]);
    await Bun.sleep(random() * 60);
  }
}

/** Of all runs. */
let failures = 0;

test.each(Array.from({ length: 10 }, (_, nth) => first + nth))(
  'whichever store is killed, no row and no money is lost or doubled (seed %p)',
  async (seed) => {
    const { db } = database;
    const random = randomOf(seed);
    await clearBooks(db, (query) => clickhouse.ask(query));
    await addSinks(db, [sink.name]);
    await endRows(db, sink.name, Date.now() - 3 * HOUR_MS);
    const context = { db, nowMs: Date.now, log: pino({ level: 'silent' }) } as unknown as JobContext;
    const writeTo = createWriteClickHouse();
    const { run } = exportRows(sink, [sink.name], (to, part) => writeTo(to as ClickHouseSetting, part));
    const queue = new RecordQueue(world);
    let isOver = false;
    const draining = (async () => {
      while (!isOver) {
        await run(context).catch(() => {});
        await Bun.sleep(20);
      }
    })();
    // ClickHouse tells what comes again; of times after all batches, their ids do.
    const agoMs = seed % 2 === 0 ? 0 : -2 * HOUR_MS;
    await Promise.all([write(queue, random, agoMs), killInTurn(randomOf(seed + 1000))]);
    failures += queue.failures;
    const waiting = async () =>
      Number(
        (
          await db.execute<{ n: number }>(sql`select count(*)::int as n from log_batches
        where seq > (select (value->>'seq')::bigint from settings where key = ${`log_sink:${sink.name}`})`)
        )[0]?.n,
      );
    for (let nth = 0; nth < 300 && (!queue.isEmpty || (await persist(waiting)) > 0); nth++) {
      await queue.drain();
      await Bun.sleep(100);
    }
    isOver = true;
    await draining;
    expect([queue.isEmpty, await persist(waiting)]).toEqual([true, 0]);
    const costs = costsOf(queue.stored.values());
    expect(await persist(() => costsOfRows(world, 'clickhouse'))).toEqual(costs);
    const [money] = await db.execute(
      sql`select sum(requests)::int as requests, round(sum(cost_usd) * 1e9)::float8 as nano from rollup_day`,
    );
    expect({ ...money }).toEqual({ requests: queue.requests, nano: sumOf(costs) });
    const [left] = await db.execute(sql`select (select count(*)::int from gateway_logs) as rows,
      (select count(*)::int from log_lines where lines is not null) as lines`);
    expect({ ...left }).toEqual({ rows: 0, lines: 0 });
  },
  120_000,
);

test('batches were written while a store was dead', () => {
  expect(failures).toBeGreaterThan(20);
});
