// Days that Postgres drops while a ClickHouse fails, doubles and disappears: rows and money are even at every step.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addSinks } from '@llm0/drizzle/queries/logs/log-sinks';
import { loadOverview } from '@llm0/drizzle/queries/stats/read/load-stats';
import { listToolCalls } from '@llm0/drizzle/queries/tool-calls/tool-calls';
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

const lateAction = fc.record({
  do: fc.constantFrom('rows', 'rows', 'correct', 'again', 'copy', 'move', 'drop', 'drop', 'away', 'full', 'restart'),
  agoMs: fc.constantFrom(60_000, 4 * DAY_MS, 5 * DAY_MS),
  from: fc.nat(40),
  fates: fc.array(fc.constantFrom<Fate>('before', 'after', undefined), { maxLength: 4 }),
});

const wellAt = <Do extends string>(what: Do) => ({ do: what, agoMs: 0, from: 0, fates: [] as Fate[] });
/** Everything is well again, so each run drops days. */
const END = [wellAt('heal'), wellAt('drop'), wellAt('end')] as const;

test('whatever befalls either side while days are dropped, rows and money are even', async () => {
  const { db } = world.database;
  await fc.assert(
    fc.asyncProperty(fc.array(lateAction, { minLength: 10, maxLength: 30 }), async (steps) => {
      await world.clear();
      await addSinks(db, [SETTING.name]);
      const queue = new RecordQueue(world);
      await queue.add([...rows(4 * DAY_MS, 15, 11), ...calls(4 * DAY_MS, 9, 5)]);
      let write = world.writers();
      const { run: drop } = dropMovedDays({ name: SETTING.name, postgresDays: 3 });
      let dropped = 0;
      for (const { do: what, agoMs, from, fates } of [...steps, ...END]) {
        world.fates = [...fates];
        const some = [...queue.stored.values()].slice(from, from + 7);
        if (what === 'rows') await queue.add([...rows(agoMs, from % 9, 1000), ...calls(agoMs, 7, 300)]);
        else if (what === 'correct') {
          await queue.add(some.map((one) => ({ ...one, corrects: true as const, costNanoUsd: one.costNanoUsd + 3 })));
        } else if (what === 'again') await queue.add(some.map(({ corrects: _, ...one }) => one));
        else if (what === 'copy') await world.copy(write);
        else if (what === 'move') await world.move().catch(() => {});
        else if (what === 'drop') {
          await world.copy(write);
          await world.move().catch(() => {});
          await drop(world.context(laterMs()));
          if ((await drop(world.context(laterMs() + 11 * 60_000)))?.metadata?.days !== undefined) dropped++;
        } else if (what === 'restart') write = world.writers();
        else if (what === 'away') world.isAway = !world.isAway;
        else if (what === 'full') world.isFull = !world.isFull;
        else world.heal();
        if (world.isAway) continue;
        await queue.drain();
        const range = { fromMs: Date.now() - 9 * DAY_MS, toMs: laterMs(), nowMs: laterMs() };
        const { requests, costNanoUsd } = await loadOverview(db, range);
        const costs = costsOf(queue.stored.values());
        expect({ requests, costNanoUsd }).toEqual({ requests: queue.requests, costNanoUsd: sumOf(costs) });
        expect(await costsOfRows(world, 'both')).toEqual(costs);
        if (what !== 'end') continue;
        // A late call of a dropped day is found once ClickHouse has it.
        await world.copy(write);
        const found = await listToolCalls(db, {}, { limit: 1000 }, laterMs());
        const known = [...queue.stored.values()].filter((record) => 'kind' in record);
        expect(costsOf(found.data)).toEqual(costsOf(known));
      }
      expect(dropped).toBeGreaterThan(0);
    }),
    { numRuns: 10, seed },
  );
}, 600_000);
