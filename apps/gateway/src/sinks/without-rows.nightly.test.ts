// Rows that Postgres doesn't get, while a ClickHouse fails, doubles and disappears: rows and money are even at every step.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { beginRows, isAboveAll, readLogFloor } from '@llm0/drizzle/queries/clickhouse/log-floor';
import { addSinks } from '@llm0/drizzle/queries/logs/log-sinks';
import { loadOverview } from '@llm0/drizzle/queries/stats/read/load-stats';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { BadClickHouse, calls, type Fate, laterMs, rows, SETTING } from './bad-clickhouse.fixture';
import { dropMovedDays } from './drop-moved-days';
import { costsOf, costsOfRows, RecordQueue, sumOf } from './record-queue.fixture';

const DAY_MS = 86_400_000;
const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

let world: BadClickHouse;
beforeAll(async () => {
  world = await BadClickHouse.start();
}, 240_000);
afterAll(() => world?.close());

const action = fc.record({
  do: fc.constantFrom(
    ...['rows', 'rows', 'rows', 'correct', 'again', 'killed', 'copy', 'copy', 'away', 'full', 'restart'],
    ...['off', 'on'],
  ),
  agoMs: fc.constantFrom(0, 60_000, 4 * DAY_MS),
  from: fc.nat(40),
  fates: fc.array(fc.constantFrom<Fate>('before', 'after', undefined), { maxLength: 4 }),
});

/** Everything is well again. */
const END = { do: 'end', agoMs: 0, from: 0, fates: [] as Fate[] } as const;

/** Batches that were stored without rows in Postgres, of all runs. */
let batches = 0;
const count = async (table: string) =>
  Number((await world.database.db.execute<{ n: number }>(sql.raw(`select count(*)::int as n from ${table}`)))[0]?.n);

/** Turns the mode on, as far as ClickHouse has every day. */
async function leave(): Promise<void> {
  const { run } = dropMovedDays({ name: SETTING.name, postgresDays: 0 });
  await world.copy();
  await world.move().catch(() => {});
  await run(world.context(laterMs()));
  // Writers begin a minute later.
  await world.database.db.execute(sql`update settings set value = value || '{"at_ms": 0}' where key = 'log_floor'`);
}

const isOn = async () => {
  const floor = await readLogFloor(world.database.db);
  return floor !== null && isAboveAll(floor);
};

async function act(queue: RecordQueue, { do: what, agoMs, from }: { do: string; agoMs: number; from: number }) {
  const { db } = world.database;
  const some = [...queue.stored.values()].slice(from, from + 7);
  if (what === 'rows') await queue.add([...rows(agoMs, from % 9, 1000), ...calls(agoMs, 7, 300)]);
  else if (what === 'correct') {
    await queue.add(some.map((one) => ({ ...one, corrects: true as const, costNanoUsd: one.costNanoUsd + 3 })));
  } else if (what === 'again') await queue.add(some.map(({ corrects: _, ...one }) => one));
  else if (what === 'killed') {
    // The batch is committed, and its acknowledgement lost: part of it comes again with others.
    const first = [...calls(agoMs, 3, 90), ...rows(agoMs, 6, 500)];
    await queue.add(first);
    await queue.add([...first.slice(2), ...rows(agoMs, 3, 700)]);
  } else if (what === 'away') world.isAway = !world.isAway;
  else if (what === 'full') world.isFull = !world.isFull;
  else if (what === 'on' && !world.isAway) await leave();
  else if (what === 'off') await beginRows(db, Date.now());
}

test('whatever befalls either side while Postgres gets no rows, rows and money are even', async () => {
  const { db } = world.database;
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 30 }), async (steps) => {
      await world.clear();
      await addSinks(db, [SETTING.name]);
      const queue = new RecordQueue(world);
      await queue.add([...rows(4 * DAY_MS, 15, 11), ...calls(4 * DAY_MS, 9, 5)]);
      let write = world.writers();
      await leave();
      for (const step of [...steps, END]) {
        world.fates = [...step.fates];
        if (step.do === 'restart') write = world.writers();
        if (step.do === 'copy') await world.copy(write);
        if (step.do === 'end') world.heal();
        await act(queue, step);
        if (await isOn()) batches = Math.max(batches, await count('log_lines'));
        const costs = costsOf(queue.stored.values());
        const [money] = await db.execute(
          sql`select sum(requests)::int as requests, round(sum(cost_usd) * 1e9)::float8 as nano from rollup_day`,
        );
        expect({ ...money }).toEqual({ requests: queue.requests, nano: sumOf(costs) });
        if (step.do !== 'end') continue;
        for (let nth = 0; nth < 4 || !queue.isEmpty; nth++) {
          await world.copy(write);
          await queue.drain();
        }
        world.attach();
        const all = costsOf(queue.stored.values());
        expect(await costsOfRows(world, 'clickhouse')).toEqual(all);
        const range = { fromMs: Date.now() - 9 * DAY_MS, toMs: laterMs(), nowMs: laterMs() };
        expect(await loadOverview(db, range)).toMatchObject({ requests: queue.requests, costNanoUsd: sumOf(all) });
        const [left] = await db.execute(sql`select count(*)::int as n from log_lines where lines is not null`);
        expect(left?.n).toBe(0);
      }
    }),
    { numRuns: 10, seed },
  );
  expect(batches).toBeGreaterThan(3);
}, 600_000);
