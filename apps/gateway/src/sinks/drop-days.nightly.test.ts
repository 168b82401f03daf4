// Days that Postgres drops while a ClickHouse fails, doubles and disappears: rows and money are even at every step.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { insertLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { addSinks } from '@llm0/drizzle/queries/logs/log-sinks';
import { loadOverview } from '@llm0/drizzle/queries/stats/read/load-stats';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { BadClickHouse, type Fate, laterMs, rows, SETTING } from './bad-clickhouse.fixture';
import { dropMovedDays } from './drop-moved-days';

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
  fates: fc.array(fc.constantFrom<Fate>('before', 'after', undefined), { maxLength: 4 }),
});

/** Everything is well again. */
const END = { do: 'end', agoMs: 0, fates: [] as Fate[] } as const;

/** The queue and what it stored: records of dropped days wait while ClickHouse is away, and others behind them. */
class Queue {
  private readonly waiting: (readonly LogRecord[])[] = [];
  /** By id. */
  readonly stored = new Map<string, LogRecord>();

  async add(records: readonly LogRecord[]): Promise<void> {
    this.waiting.push(records);
    await this.drain();
  }

  async drain(): Promise<void> {
    world.attach();
    for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
      try {
        await insertLogRecords(world.database.db, next);
      } catch (error) {
        if (!world.isAway) throw error;
        return;
      }
      this.waiting.shift();
      for (const record of next) this.stored.set(record.id, record);
    }
  }
}

const costsOf = (records: Iterable<LogRecord>): Record<string, number> =>
  Object.fromEntries(Array.from(records, ({ id, costNanoUsd }): [string, number] => [id, costNanoUsd]).sort());

interface CostRow extends Record<string, unknown> {
  readonly id: string;
  readonly cost_usd: string | number;
}

/** Cost by id, of rows on either side. */
async function costsOfRows(): Promise<Record<string, number>> {
  const asked = 'select id, cost_usd from gateway_logs';
  const there = await world.ask<CostRow>(`${asked} final`);
  const here = await world.database.db.execute<CostRow>(sql.raw(asked));
  const costs = [...there, ...here].map(({ id, cost_usd: usd }): [string, number] => [
    id,
    Math.round(Number(usd) * 1e9),
  ]);
  return Object.fromEntries(costs.sort());
}

/** Days that are gone from Postgres, of all runs. */
let dropped = 0;

test('whatever befalls either side while days are dropped, rows and money are even', async () => {
  const { db } = world.database;
  await fc.assert(
    fc.asyncProperty(fc.array(lateAction, { minLength: 10, maxLength: 30 }), async (steps) => {
      await world.clear();
      await addSinks(db, [SETTING.name]);
      const queue = new Queue();
      await queue.add(rows(4 * DAY_MS, 15, 11));
      let write = world.writers();
      const { run: drop } = dropMovedDays({ name: SETTING.name, postgresDays: 3 });
      for (const { do: what, agoMs, fates } of [...steps, END]) {
        world.fates = [...fates];
        const some = [...queue.stored.values()].slice(0, 7);
        if (what === 'rows') await queue.add(rows(agoMs, 9, 1000));
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
        const sum = Object.values(costs).reduce((all, cost) => all + cost, 0);
        expect({ requests, costNanoUsd }).toEqual({ requests: queue.stored.size, costNanoUsd: sum });
        expect(await costsOfRows()).toEqual(costs);
      }
    }),
    { numRuns: 10, seed },
  );
  expect(dropped).toBeGreaterThan(3);
}, 600_000);
