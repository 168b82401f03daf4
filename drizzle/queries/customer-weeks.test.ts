import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { createDatabase } from '@llm0/testing/stores/create-database';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { connectDatabase, type Database, type Db } from '../client';
import { migrateDatabase, readShippedMigrations } from '../migrate';
import { makeCustomerWeeks } from './customer-weeks';
import { listCustomers } from './limits/customers';
import { insertLogRecords } from './logs/log-insert';
import { loadBuckets, SPEND_SUMS } from './stats';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
const WEEKS = 3;
const MOST = 1000;

interface Traffic {
  readonly projects: readonly [string, string];
  readonly records: readonly LogRecord[];
  /** The Monday after the last. */
  readonly endMs: number;
}

/** Three weeks of two projects with customers of both; every fourth request is of none. */
async function makeTraffic(db: Db, monday: string): Promise<Traffic> {
  const startMs = Date.parse(monday);
  const projects = [crypto.randomUUID(), crypto.randomUUID()] as const;
  for (const id of projects)
    await db.execute(sql`insert into projects (id, name) values (${id}::uuid, ${`weeks ${id}`})`);
  const records = Array.from({ length: 400 }, (_, index) =>
    sampleRecord({
      projectId: projects[index % 2],
      createdAtMs: startMs + Math.floor((index * WEEKS * WEEK_MS) / 400),
      customerId: index % 4 === 0 ? undefined : `c${(index * 7) % 9}`,
      costNanoUsd: 1_000 + index * (1 + ((index * 7) % 9)),
      savedNanoUsd: index,
      tokensIn: 10 + index,
    }),
  );
  const endMs = startMs + WEEKS * WEEK_MS;
  await insertLogRecords(db, records, { nowMs: () => endMs });
  return { projects, records, endMs };
}

/** Ranges that begin and end within weeks, at their bounds and within days. */
const rangesOf = ({ endMs }: Pick<Traffic, 'endMs'>) =>
  [
    [-WEEKS * WEEK_MS, 0],
    [-WEEKS * WEEK_MS - 2 * DAY_MS, 3 * DAY_MS],
    [-2 * WEEK_MS - 4 * DAY_MS, -2 * DAY_MS],
    [-2 * WEEK_MS + DAY_MS, -WEEK_MS + 6 * DAY_MS],
    [-WEEKS * WEEK_MS + 7 * HOUR_MS, -5 * HOUR_MS],
    [-6 * DAY_MS, -DAY_MS],
  ].map(([from = 0, to = 0]) => ({ fromMs: endMs + from, toMs: endMs + to, nowMs: endMs + 5 * DAY_MS }));

async function answersOf(db: Db, traffic: Traffic) {
  const answers: unknown[] = [];
  for (const range of rangesOf(traffic)) {
    for (const projectId of [undefined, traffic.projects[0]]) {
      for (const intervalMs of [undefined, DAY_MS, WEEK_MS])
        for (const top of [undefined, 2, 5, 100])
          answers.push(await bucketsOf(db, { ...range, projectId, intervalMs, top }));
      for (const q of [undefined, 'C3'])
        for (const nowMs of [range.nowMs, range.toMs - 8 * DAY_MS])
          answers.push(await listCustomers(db, { ...range, nowMs, projectId, q, limit: 12, offset: 1 }));
    }
  }
  return answers;
}

interface Asked {
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs: number;
  readonly projectId?: string;
  readonly intervalMs?: number;
  readonly top?: number;
}

async function bucketsOf(db: Db, asked: Asked) {
  const query = { ...asked, groupBy: 'customer', sums: SPEND_SUMS, withDurations: false } as const;
  const { buckets } = await loadBuckets(db, query);
  return buckets.map(({ startMs, group, requests, costNanoUsd, savedNanoUsd, tokensIn, tokensOut }) =>
    [startMs, group, requests, costNanoUsd, savedNanoUsd, tokensIn, tokensOut].join(' '),
  );
}

/** Cost by customer, '' = of none. */
async function costsOf(db: Db, asked: Asked): Promise<Readonly<Record<string, number>>> {
  const query = { ...asked, groupBy: 'customer', sums: SPEND_SUMS, withDurations: false } as const;
  const { buckets } = await loadBuckets(db, query);
  const costs: Record<string, number> = {};
  for (const { group, costNanoUsd } of buckets) costs[group ?? ''] = (costs[group ?? ''] ?? 0) + costNanoUsd;
  return costs;
}

const madeOf = async (db: Db, { endMs }: Pick<Traffic, 'endMs'>) => {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const rows = await db.execute<{ week: string }>(sql`select distinct week::text as week from customer_spend_week
    where week >= ${day(endMs - WEEKS * WEEK_MS)}::date and week < ${day(endMs)}::date order by 1`);
  return rows.map(({ week }) => week);
};

describe.each(TEST_DATABASES)('weeks by customer on $name', (kind) => {
  let database: Database;
  let db: Db;
  beforeAll(async () => {
    database = await kind.open();
    db = database.db;
  }, 60_000);
  afterAll(() => database.close());

  test('every answer is what it was before, and comes from the weeks', async () => {
    const traffic = await makeTraffic(db, '2021-03-01');
    const before = await answersOf(db, traffic);
    expect(await makeCustomerWeeks(db, traffic.endMs + 6 * HOUR_MS, MOST)).toContain('2021-03-15');
    expect(await madeOf(db, traffic)).toEqual(['2021-03-01', '2021-03-08', '2021-03-15']);
    expect(await answersOf(db, traffic)).toEqual(before);
    expect(await makeCustomerWeeks(db, traffic.endMs + 6 * HOUR_MS, MOST)).toEqual([]);

    const [range] = rangesOf(traffic);
    if (range === undefined) throw new Error('no range');
    const asked = { ...range, projectId: traffic.projects[0] };
    const days = { ...asked, intervalMs: DAY_MS, top: 1 };
    const [costs, list, chart] = [await costsOf(db, asked), await customersOf(asked), await costsOf(db, days)];
    await db.execute(sql`update customer_spend_week set total_spend_usd = total_spend_usd + 1
      where week = '2021-03-08' and customer_id = 'c3' and project_id = ${asked.projectId}::uuid`);
    expect((await costsOf(db, asked)).c3).toBe((costs.c3 ?? 0) + 1e9);
    expect((await customersOf(asked)).c3).toBe((list.c3 ?? 0) + 1e9);
    await db.execute(sql`update customer_spend_week set total_spend_usd = total_spend_usd - 1
      where week = '2021-03-08' and customer_id = 'c3' and project_id = ${asked.projectId}::uuid`);
    // Two groups: with '' among those that keep their name, what is left of all customers is told by their totals.
    expect(Object.keys(chart).sort()).toEqual(['', '(other)']);
    await db.execute(sql`update customer_spend_total set total_spend_usd = total_spend_usd + 1
      where date = '2021-03-10' and project_id = ${asked.projectId}::uuid`);
    expect((await costsOf(db, days))['(other)']).toBe((chart['(other)'] ?? 0) + 1e9);
  }, 60_000);

  const customersOf = async (asked: Asked) => {
    const rows = await listCustomers(db, { ...asked, limit: 100, offset: 0 });
    return Object.fromEntries(rows.map(({ customerId, costNanoUsd }) => [customerId, costNanoUsd]));
  };

  test('a week is made six hours after its end, the latest first', async () => {
    const traffic = await makeTraffic(db, '2021-05-03');
    await makeCustomerWeeks(db, traffic.endMs + 6 * HOUR_MS - 1, 1);
    expect(await madeOf(db, traffic)).toEqual(['2021-05-10']);
    await makeCustomerWeeks(db, traffic.endMs + 6 * HOUR_MS, 1);
    expect(await madeOf(db, traffic)).toEqual(['2021-05-10', '2021-05-17']);
  });

  test('whatever comes late, is corrected or moves to another customer counts at once', async () => {
    const startMs = Date.parse('2021-07-05');
    const nowMs = startMs + 2 * WEEK_MS + DAY_MS;
    const row = fc.record({
      at: fc.integer({ min: 0, max: 2 * WEEK_MS - 1 }),
      customer: fc.constantFrom(undefined, 'a', 'b', 'c'),
      cost: fc.integer({ min: 0, max: 1_000_000 }),
    });
    const step = fc.oneof(
      row.map((values) => ({ kind: 'insert', which: 0, ...values }) as const),
      fc.tuple(fc.nat(20), row).map(([which, values]) => ({ kind: 'correct', which, ...values }) as const),
      fc.constant({ kind: 'make' } as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        const projectId = crypto.randomUUID();
        await db.execute(sql`insert into projects (id, name) values (${projectId}::uuid, ${`weeks ${projectId}`})`);
        const records: LogRecord[] = [];
        const asked = { fromMs: startMs, toMs: startMs + 2 * WEEK_MS, nowMs, projectId };
        for (const one of steps) {
          if (one.kind === 'make') {
            await makeCustomerWeeks(db, nowMs, MOST);
          } else {
            const { which, kind, at, customer, cost } = one;
            const replaced = kind === 'correct' && records.length > 0 ? which % records.length : undefined;
            const values = { projectId, customerId: customer, costNanoUsd: cost };
            const record =
              replaced === undefined
                ? sampleRecord({ ...values, createdAtMs: startMs + at })
                : { ...sampleRecord(records[replaced]), ...values, corrects: true };
            records[replaced ?? records.length] = { ...record, corrects: undefined };
            await insertLogRecords(db, [record], { nowMs: () => nowMs });
          }
          const costs: Record<string, number> = {};
          for (const { customerId = '', costNanoUsd } of records)
            costs[customerId] = (costs[customerId] ?? 0) + costNanoUsd;
          expect(await costsOf(db, asked)).toEqual(costs);
          expect(await costsOf(db, { ...asked, intervalMs: DAY_MS, top: 10 })).toEqual(costs);
          const { '': _, ...ofCustomers } = costs;
          expect(await customersOf(asked)).toEqual(ofCustomers);
        }
      }),
      { numRuns: 12 },
    );
  }, 120_000);

  test('customers of this month are listed, whether they spent before the range, in it or after', async () => {
    const projectId = crypto.randomUUID();
    await db.execute(sql`insert into projects (id, name) values (${projectId}::uuid, ${`weeks ${projectId}`})`);
    const days = {
      lastmonth: '2022-01-31',
      first: '2022-02-01',
      week: '2022-02-09',
      in: '2022-02-16',
      after: '2022-02-18',
    };
    const records = Object.entries(days).map(([customerId, day]) =>
      sampleRecord({ projectId, customerId, createdAtMs: Date.parse(day) + HOUR_MS, costNanoUsd: 5 }),
    );
    const nowMs = Date.parse('2022-02-18T23:00:00Z');
    await insertLogRecords(db, records, { nowMs: () => nowMs });
    const range = { fromMs: Date.parse('2022-02-15'), toMs: Date.parse('2022-02-17T12:00:00Z'), nowMs, projectId };
    const earlier = { fromMs: Date.parse('2022-01-30'), toMs: Date.parse('2022-01-31'), nowMs, projectId };
    for (const made of [0, MOST]) {
      await makeCustomerWeeks(db, nowMs, made);
      expect(await customersOf(range)).toEqual({ in: 5, first: 0, week: 0, after: 0 });
      expect(await customersOf(earlier)).toEqual({ lastmonth: 5, first: 0, week: 0, in: 0, after: 0 });
    }
  });

  test('rows that are committed while their week is being made are not lost', async () => {
    const traffic = await makeTraffic(db, '2021-09-06');
    const nowMs = traffic.endMs + 7 * HOUR_MS;
    const [projectId] = traffic.projects;
    const late = sampleRecord({ projectId, customerId: 'late', createdAtMs: traffic.endMs - DAY_MS, costNanoUsd: 77 });
    const asked = { fromMs: traffic.endMs - WEEK_MS, toMs: traffic.endMs, nowMs, projectId };
    const { making } = await db.transaction(async (tx) => {
      await insertLogRecords(tx, [late], { nowMs: () => nowMs });
      const making = makeCustomerWeeks(db, nowMs, 1);
      // Where there are connections enough, the week is made without the row by now.
      await Bun.sleep(300);
      return { making };
    });
    expect(await making).toEqual(['2021-09-20']);
    expect((await costsOf(db, asked)).late).toBe(77);
    await makeCustomerWeeks(db, nowMs, 1);
    expect((await costsOf(db, asked)).late).toBe(77);
    expect((await costsOf(db, { ...asked, intervalMs: DAY_MS, top: 100 })).late).toBe(77);
  });

  test('two that make the same week do not get in each other’s way', async () => {
    const traffic = await makeTraffic(db, '2021-11-01');
    const before = await answersOf(db, traffic);
    const nowMs = traffic.endMs + 7 * HOUR_MS;
    await Promise.all([makeCustomerWeeks(db, nowMs, WEEKS), makeCustomerWeeks(db, nowMs, WEEKS)]);
    expect(await madeOf(db, traffic)).toHaveLength(WEEKS);
    expect(await answersOf(db, traffic)).toEqual(before);
  }, 60_000);
});

const serverUrl = process.env.TEST_DATABASE_URL;
if (serverUrl !== undefined && serverUrl !== '') {
  test('rows from before an upgrade are added up after it', async () => {
    const own = await createDatabase(serverUrl);
    const database = connectDatabase({ url: own.url });
    try {
      const quiet = { onWarning: () => {} };
      const earlier = (await readShippedMigrations()).filter(({ name }) => name < '0024');
      await migrateDatabase(database.client, { ...quiet, migrations: earlier });
      const kept = await database.client<{ name: string }[]>`select to_regclass('customer_spend_week')::text as name`;
      expect(kept[0]?.name).toBeNull();
      await database.client`insert into customer_spend (project_id, customer_id, date, request_count, tokens_in, tokens_out,
        total_spend_usd, saved_usd) select gen_random_uuid(), 'c' || n % 3, date '2021-03-01' + n, 1, n, 1, n, 0
        from generate_series(0, 20) as n`;
      expect(await migrateDatabase(database.client, quiet)).toContain('0025_customer-weeks');
      const endMs = Date.parse('2021-03-22');
      const asked = { fromMs: endMs - WEEKS * WEEK_MS, toMs: endMs, nowMs: endMs + DAY_MS };
      const costs = { c0: 63e9, c1: 70e9, c2: 77e9 };
      expect(await costsOf(database.db, asked)).toMatchObject(costs);
      expect(await makeCustomerWeeks(database.db, endMs + DAY_MS, 10)).toHaveLength(WEEKS);
      expect(await costsOf(database.db, asked)).toMatchObject(costs);
    } finally {
      await database.close();
      await own.drop();
    }
  }, 60_000);
}
