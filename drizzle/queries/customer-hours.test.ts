import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { createDatabase } from '@llm0/testing/stores/create-database';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { connectDatabase, type Database, type Db } from '../client';
import { migrateDatabase, readShippedMigrations } from '../migrate';
import { makeCustomerHours } from './customer-hours';
import { insertLogRecords } from './logs/log-insert';
import { deleteExpired } from './logs/retention';
import { loadBuckets, SPEND_SUMS } from './stats';
import { splitByOne, splitCustomerHours } from './stats-range';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const HOURS = 60;
const MOST = 1000;
/** How long after its end an hour is made. */
const CLOSED_MS = 15 * MINUTE_MS;

interface Traffic {
  readonly projects: readonly [string, string];
  /** The full hour after the last row. */
  readonly endMs: number;
}

async function addProject(db: Db): Promise<string> {
  const id = crypto.randomUUID();
  await db.execute(sql`insert into projects (id, name) values (${id}::uuid, ${`hours ${id}`})`);
  return id;
}

/** Sixty hours of two projects with customers of both; every fourth request is of none. */
async function makeTraffic(db: Db, from: string): Promise<Traffic> {
  const startMs = Date.parse(from);
  const projects = [await addProject(db), await addProject(db)] as const;
  const records = Array.from({ length: 600 }, (_, index) =>
    sampleRecord({
      projectId: projects[index % 2],
      createdAtMs: startMs + Math.floor((index * HOURS * HOUR_MS) / 600),
      customerId: index % 4 === 0 ? undefined : `c${(index * 7) % 9}`,
      costNanoUsd: 1_000 + index * (1 + ((index * 7) % 9)),
      savedNanoUsd: index,
      ...{ tokensIn: 10 + index, tokensCacheRead: index % 3, tokensCacheWrite: index % 4, tokensReasoning: index % 5 },
    }),
  );
  const endMs = startMs + HOURS * HOUR_MS;
  await insertLogRecords(db, records, { nowMs: () => endMs });
  return { projects, endMs };
}

interface Asked {
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs: number;
  readonly projectId?: string;
  readonly intervalMs?: number;
  readonly top?: number;
}

const load = (db: Db, asked: Asked) =>
  loadBuckets(db, { ...asked, groupBy: 'customer', sums: SPEND_SUMS, withDurations: false });

/** Parts of a day, its bounds and their edges within hours; longer ranges that begin or end within days. */
const rangesOf = ({ endMs }: Traffic): readonly Asked[] =>
  [
    { from: -24 * HOUR_MS, to: 0, later: 0 },
    { from: -24 * HOUR_MS, to: 0, later: 3 * DAY_MS },
    { from: -20 * HOUR_MS - 17 * MINUTE_MS, to: -2 * HOUR_MS + 1, later: HOUR_MS },
    { from: -90 * MINUTE_MS, to: -20 * MINUTE_MS, later: HOUR_MS },
    { from: -40 * MINUTE_MS, to: -20 * MINUTE_MS, later: HOUR_MS },
    { from: -57 * HOUR_MS + 11 * MINUTE_MS, to: -3 * HOUR_MS, later: 5 * DAY_MS },
    // The last day is read whole, less the rows since.
    { from: -57 * HOUR_MS + 11 * MINUTE_MS, to: -5 * HOUR_MS - 1, later: 0 },
  ].map(({ from, to, later }) => ({ fromMs: endMs + from, toMs: endMs + to, nowMs: endMs + later }));

async function answersOf(db: Db, traffic: Traffic) {
  const answers: unknown[] = [];
  for (const range of rangesOf(traffic)) {
    const isLong = range.toMs - range.fromMs > DAY_MS;
    const intervals = isLong ? [undefined, DAY_MS] : [undefined, HOUR_MS, 3 * HOUR_MS, DAY_MS, 15 * MINUTE_MS];
    for (const projectId of [undefined, traffic.projects[0]]) {
      for (const intervalMs of intervals)
        for (const top of [undefined, 3]) answers.push(await load(db, { ...range, projectId, intervalMs, top }));
    }
  }
  return answers;
}

const madeOf = async (db: Db, { endMs }: Pick<Traffic, 'endMs'>) => {
  const rows = await db.execute<{ ms: string }>(sql`
    select distinct (date_part('epoch', bucket) * 1000)::bigint as ms from customer_spend_hour
    where bucket >= to_timestamp(${endMs - HOURS * HOUR_MS}::bigint / 1000.0)
      and bucket < to_timestamp(${endMs + DAY_MS}::bigint / 1000.0) order by 1`);
  return rows.map(({ ms }) => Number(ms));
};

/** Changes that were counted of an hour. */
async function changesOf(db: Db, startMs: number): Promise<number> {
  const [row] = await db.execute<{ changes: string }>(sql`select changes from customer_spend_hour_changes
    where bucket = to_timestamp(${startMs}::bigint / 1000.0)`);
  return Number(row?.changes ?? 0);
}

/** Cost by customer, '' = of none. */
async function costsOf(db: Db, asked: Asked): Promise<Readonly<Record<string, number>>> {
  const costs: Record<string, number> = {};
  for (const { group, costNanoUsd } of (await load(db, asked)).buckets)
    costs[group ?? ''] = (costs[group ?? ''] ?? 0) + costNanoUsd;
  return costs;
}

/** What the records themselves say: cost by hour and customer, all but the dearest together. */
function hourlyOf(records: readonly LogRecord[], top: number): Readonly<Record<string, number>> {
  const totals = new Map<string, [number, number]>();
  for (const { customerId = '', costNanoUsd } of records) {
    const [cost, requests] = totals.get(customerId) ?? [0, 0];
    totals.set(customerId, [cost + costNanoUsd, requests + 1]);
  }
  const dearest = [...totals].sort(([a, [x, n]], [b, [y, m]]) => y - x || m - n || (a < b ? -1 : 1));
  const kept = new Set(dearest.slice(0, top).map(([name]) => name));
  const hours: Record<string, number> = {};
  for (const { createdAtMs, customerId = '', costNanoUsd } of records) {
    const key = `${createdAtMs - (createdAtMs % HOUR_MS)} ${kept.has(customerId) ? customerId : '(other)'}`;
    hours[key] = (hours[key] ?? 0) + costNanoUsd;
  }
  return hours;
}

test('stretches of rows are full hours and what is left at their ends, added or taken away', () => {
  const nowMs = Date.parse('2026-06-15T12:34:56.789Z');
  const day = { source: 'customer_spend', sizeMs: DAY_MS } as const;
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 3 * DAY_MS }),
      fc.integer({ min: 1, max: 3 * DAY_MS }),
      fc.constantFrom(undefined, HOUR_MS, 12 * HOUR_MS, DAY_MS, 15 * MINUTE_MS),
      (agoMs, lengthMs, intervalMs) => {
        const range = { fromMs: nowMs - agoMs, toMs: nowMs - agoMs + lengthMs, nowMs, intervalMs };
        for (const segment of splitByOne({ ...range, ...day })) {
          const parts = splitCustomerHours(segment, intervalMs);
          const isFine = segment.source === 'rows' && intervalMs !== 15 * MINUTE_MS;
          let at = segment.fromMs;
          for (const part of parts) {
            expect([part.fromMs, part.isLess]).toEqual([at, segment.isLess]);
            expect(part.toMs).toBeGreaterThan(at);
            if (part.source === 'customer_spend_hour') expect([at % HOUR_MS, part.toMs % HOUR_MS]).toEqual([0, 0]);
            else if (isFine) expect(part.toMs - at).toBeLessThan(2 * HOUR_MS);
            at = part.toMs;
          }
          expect(at).toBe(segment.toMs);
          if (!isFine) expect(parts).toEqual([segment]);
        }
      },
    ),
    { numRuns: 500 },
  );
});

describe.each(TEST_DATABASES)('hours by customer on $name', (kind) => {
  let database: Database;
  let db: Db;
  beforeAll(async () => {
    database = await kind.open();
    db = database.db;
  }, 60_000);
  afterAll(() => database.close());

  test('every answer is what it was before, and comes from the hours', async () => {
    const traffic = await makeTraffic(db, '2017-01-04T06:00:00Z');
    const { endMs } = traffic;
    const nowMs = endMs + CLOSED_MS;
    const before = await answersOf(db, traffic);
    expect(await makeCustomerHours(db, nowMs, MOST)).toHaveLength(HOURS);
    expect(await madeOf(db, traffic)).toHaveLength(HOURS);
    expect(await answersOf(db, traffic)).toEqual(before);
    expect(await makeCustomerHours(db, nowMs, MOST)).toEqual([]);

    const hour = new Date(endMs - 3 * HOUR_MS).toISOString();
    const [projectId] = traffic.projects;
    await db.execute(sql`update customer_spend_hour set total_spend_usd = total_spend_usd + 1
      where bucket = ${hour}::timestamptz and customer_id = 'c3' and project_id = ${projectId}::uuid`);
    // All of the hour from its sums: whole and drawn by hour, the edge of days, and what is taken away from the last of them.
    const cost = async (asked: Asked, top?: number) => (await costsOf(db, { ...asked, projectId, top })).c3 ?? 0;
    const day = { fromMs: endMs - DAY_MS, toMs: endMs, nowMs };
    const days = { fromMs: endMs - 2 * DAY_MS - HOUR_MS, toMs: endMs - 2 * HOUR_MS, nowMs: endMs + 5 * DAY_MS };
    const less = { fromMs: endMs - 2 * DAY_MS - HOUR_MS, toMs: endMs - 4 * HOUR_MS, nowMs };
    const poked = [
      await cost(day),
      await cost({ ...day, intervalMs: HOUR_MS }),
      await cost({ ...day, intervalMs: HOUR_MS }, 100),
      await cost(days),
      await cost(less),
    ];
    await db.execute(sql`update customer_spend_hour set total_spend_usd = total_spend_usd - 1
      where bucket = ${hour}::timestamptz and customer_id = 'c3' and project_id = ${projectId}::uuid`);
    const right = [await cost(day), await cost(day), await cost(day), await cost(days), await cost(less)];
    expect(poked.map((value, index) => value - (right[index] ?? 0))).toEqual([1e9, 1e9, 1e9, 1e9, -1e9]);
  }, 120_000);

  test('an hour is made a quarter of an hour after its end, the latest first', async () => {
    const traffic = await makeTraffic(db, '2017-02-01T06:00:00Z');
    const { endMs } = traffic;
    expect(await makeCustomerHours(db, endMs + CLOSED_MS - 1, 2)).toEqual([endMs - 2 * HOUR_MS, endMs - 3 * HOUR_MS]);
    expect(await makeCustomerHours(db, endMs + CLOSED_MS, 2)).toEqual([endMs - HOUR_MS, endMs - 4 * HOUR_MS]);
    expect(await madeOf(db, traffic)).toEqual([4, 3, 2, 1].map((hours) => endMs - hours * HOUR_MS));
  }, 60_000);

  test('hours are made as long as they are kept, and none where nothing was', async () => {
    const projectId = await addProject(db);
    const startMs = Date.parse('2017-02-15T05:00:00Z');
    const row = (hours: number) => sampleRecord({ projectId, createdAtMs: startMs + hours * HOUR_MS + 1 });
    const nowMs = startMs + 8 * DAY_MS;
    await insertLogRecords(db, [row(0), row(1), row(100)], { nowMs: () => nowMs });
    expect(await makeCustomerHours(db, nowMs + 1, MOST)).toEqual([startMs + 100 * HOUR_MS]);
    expect(await makeCustomerHours(db, nowMs, MOST)).toEqual([startMs + HOUR_MS]);
  });

  test('only rows that come five minutes after the end of their hour mark it', async () => {
    const projectId = await addProject(db);
    const startMs = Date.parse('2017-03-01T05:00:00Z');
    const insert = (agoMs: number) =>
      insertLogRecords(
        db,
        [0, 1, 2].map((n) => sampleRecord({ projectId, createdAtMs: startMs + n * 10 * MINUTE_MS })),
        { nowMs: () => startMs + HOUR_MS + agoMs },
      );
    await insert(-MINUTE_MS);
    await insert(5 * MINUTE_MS - 1);
    expect(await changesOf(db, startMs)).toBe(0);
    await insert(5 * MINUTE_MS);
    expect(await changesOf(db, startMs)).toBe(1);
  });

  test('whatever comes late, is corrected or moves to another customer counts at once', async () => {
    const firstMs = Date.parse('2017-04-01T10:20:00Z');
    let round = 0;
    const row = fc.record({
      agoMs: fc.integer({ min: 0, max: 5 * HOUR_MS }),
      customer: fc.constantFrom(undefined, 'a', 'b', 'c'),
      cost: fc.integer({ min: 0, max: 1_000_000 }),
      // Clocks differ: that of whoever writes the row may be behind.
      behindMs: fc.integer({ min: 0, max: 9 * MINUTE_MS }),
    });
    const step = fc.record({
      laterMs: fc.integer({ min: 0, max: 50 * MINUTE_MS }),
      does: fc.oneof(
        row.map((values) => ({ kind: 'insert', which: 0, ...values }) as const),
        fc.tuple(fc.nat(20), row).map(([which, values]) => ({ kind: 'correct', which, ...values }) as const),
        fc.constant({ kind: 'make' } as const),
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16 }), async (steps) => {
        const projectId = await addProject(db);
        // A day further each time: the embedded database is the same for all.
        let nowMs = firstMs + round++ * 2 * DAY_MS;
        const records: LogRecord[] = [];
        for (const { laterMs, does } of steps) {
          nowMs += laterMs;
          if (does.kind === 'make') {
            await makeCustomerHours(db, nowMs, MOST);
          } else {
            const { which, kind, agoMs, customer, cost, behindMs } = does;
            const replaced = kind === 'correct' && records.length > 0 ? which % records.length : undefined;
            const values = { projectId, customerId: customer, costNanoUsd: cost };
            const record =
              replaced === undefined
                ? sampleRecord({ ...values, createdAtMs: nowMs - agoMs })
                : { ...sampleRecord(records[replaced]), ...values, corrects: true };
            records[replaced ?? records.length] = { ...record, corrects: undefined };
            await insertLogRecords(db, [record], { nowMs: () => nowMs - behindMs });
          }
          const asked = { fromMs: nowMs - DAY_MS + 1, toMs: nowMs + 1, nowMs, projectId };
          const costs: Record<string, number> = {};
          for (const { customerId = '', costNanoUsd } of records)
            costs[customerId] = (costs[customerId] ?? 0) + costNanoUsd;
          expect(await costsOf(db, asked)).toEqual(costs);
          for (const top of [1, 2, 10]) {
            const { buckets, groups } = await load(db, { ...asked, intervalMs: HOUR_MS, top });
            const hours = buckets.map(({ startMs, group, costNanoUsd }) => [`${startMs} ${group}`, costNanoUsd]);
            expect(Object.fromEntries(hours)).toEqual(hourlyOf(records, top));
            expect(groups).toBe(Object.keys(costs).length);
          }
        }
      }),
      { numRuns: 15 },
    );
  }, 120_000);

  test('rows that are committed while their hour is being made are not lost', async () => {
    const traffic = await makeTraffic(db, '2017-06-07T06:00:00Z');
    const { endMs } = traffic;
    const nowMs = endMs + CLOSED_MS;
    const [projectId] = traffic.projects;
    const late = sampleRecord({ projectId, customerId: 'late', createdAtMs: endMs - MINUTE_MS, costNanoUsd: 77 });
    const asked = { fromMs: endMs - DAY_MS, toMs: endMs, nowMs, projectId };
    const { making } = await db.transaction(async (tx) => {
      await insertLogRecords(tx, [late], { nowMs: () => nowMs });
      const making = makeCustomerHours(db, nowMs, 1);
      // Where there are connections enough, the hour is made without the row by now.
      await Bun.sleep(300);
      return { making };
    });
    expect(await making).toEqual([endMs - HOUR_MS]);
    for (const made of [0, 1]) {
      await makeCustomerHours(db, nowMs, made);
      expect((await costsOf(db, asked)).late).toBe(77);
      expect((await costsOf(db, { ...asked, intervalMs: HOUR_MS, top: 100 })).late).toBe(77);
    }
  }, 60_000);

  test('two that make the same hours do not get in each other’s way', async () => {
    const traffic = await makeTraffic(db, '2017-07-05T06:00:00Z');
    const before = await answersOf(db, traffic);
    const nowMs = traffic.endMs + CLOSED_MS;
    await Promise.all([makeCustomerHours(db, nowMs, HOURS), makeCustomerHours(db, nowMs, HOURS)]);
    expect(await madeOf(db, traffic)).toHaveLength(HOURS);
    expect(await answersOf(db, traffic)).toEqual(before);
  }, 120_000);

  test('hours are removed without a change of any answer', async () => {
    const traffic = await makeTraffic(db, '2017-08-02T06:00:00Z');
    const { endMs } = traffic;
    const nowMs = endMs + CLOSED_MS;
    await makeCustomerHours(db, nowMs, MOST);
    const before = await answersOf(db, traffic);
    const tables = ['customer_spend_hour_made', 'customer_spend_hour', 'customer_spend_hour_changes'] as const;
    for (const table of tables) {
      expect(await deleteExpired(db, table, endMs - 6 * HOUR_MS)).toBeGreaterThanOrEqual(HOURS - 6);
      expect(await answersOf(db, traffic)).toEqual(before);
    }
    expect(await madeOf(db, traffic)).toEqual([6, 5, 4, 3, 2, 1].map((hours) => endMs - hours * HOUR_MS));
  }, 120_000);
});

const serverUrl = process.env.TEST_DATABASE_URL;
if (serverUrl !== undefined && serverUrl !== '') {
  test('rows that are committed after an hour was added up, and before it is made, are not lost', async () => {
    const own = await createDatabase(serverUrl);
    const database = connectDatabase({ url: own.url });
    try {
      const { client, db } = database;
      await migrateDatabase(client, { onWarning: () => {} });
      const traffic = await makeTraffic(db, '2017-06-07T06:00:00Z');
      const { endMs } = traffic;
      const nowMs = endMs + CLOSED_MS;
      const [projectId] = traffic.projects;
      const late = sampleRecord({ projectId, customerId: 'late', createdAtMs: endMs - MINUTE_MS, costNanoUsd: 77 });
      await makeCustomerHours(db, nowMs, 1);
      await insertLogRecords(db, [{ ...late, id: crypto.randomUUID() }], { nowMs: () => nowMs });
      const blocked = new Error('taken back');
      let making: Promise<unknown> = Promise.resolve();
      // A row of the hour that somebody else is about to write: what was added up without the late row has to wait for it.
      const blocking = db.transaction(async (tx) => {
        await tx.execute(sql`insert into customer_spend_hour select (s.t).* from (
          select jsonb_populate_record(null::customer_spend_hour, to_jsonb(h) || '{"customer_id":"late"}') as t
          from customer_spend_hour as h where project_id = ${projectId}::uuid
            and bucket = to_timestamp(${endMs - HOUR_MS}::bigint / 1000.0) limit 1) as s`);
        making = makeCustomerHours(db, nowMs, 1);
        const waits = async () =>
          (await client`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
            .length;
        const deadline = performance.now() + 10_000;
        while ((await waits()) === 0 && performance.now() < deadline) await Bun.sleep(20);
        await insertLogRecords(db, [late], { nowMs: () => nowMs });
        throw blocked;
      });
      await expect(blocking).rejects.toThrow(blocked.message);
      expect(await making).toEqual([endMs - HOUR_MS]);
      const asked = { fromMs: endMs - DAY_MS, toMs: endMs, nowMs, projectId };
      expect((await costsOf(db, asked)).late).toBe(154);
      expect(await makeCustomerHours(db, nowMs, 1)).toEqual([endMs - HOUR_MS]);
      expect((await costsOf(db, asked)).late).toBe(154);
    } finally {
      await database.close();
      await own.drop();
    }
  }, 60_000);

  test('rows from before an upgrade are added up after it', async () => {
    const own = await createDatabase(serverUrl);
    const database = connectDatabase({ url: own.url });
    try {
      const { client, db } = database;
      const quiet = { onWarning: () => {} };
      const shipped = await readShippedMigrations();
      await migrateDatabase(client, { ...quiet, migrations: shipped.filter(({ name }) => name < '0026') });
      const kept = await client<{ name: string }[]>`select to_regclass('customer_spend_hour')::text as name`;
      expect(kept[0]?.name).toBeNull();
      const startMs = Date.parse('2017-03-01T00:00:00Z');
      await client.unsafe(`create table gateway_logs_20210301 partition of gateway_logs
        for values from ('2017-03-01 00:00:00+00') to ('2017-03-02 00:00:00+00')`);
      await client`insert into gateway_logs (id, created_at, project_id, api_key_id, request_id, dialect, model,
          requested_model, tokens_in, tokens_out, tokens_total, tokens_cache_read, tokens_cache_write, tokens_reasoning,
          cost_usd, saved_usd, cost_estimated, latency_ms, stream, cache_hit, semantic_cache_hit, failover_count,
          failover_occurred, status, http_status, customer_id)
        select gen_random_uuid(), timestamptz '2017-03-01 00:00:00+00' + n * interval '10 minutes', gen_random_uuid(),
          gen_random_uuid(), gen_random_uuid(), 'openai-chat', 'm', 'm', n, 1, n + 1, 0, 0, 0, n, 0, false, 1, false,
          false, false, 0, false, 'success', 200, 'c' || n % 3
        from generate_series(0, 17) as n`;
      await client`insert into rollup_hour (bucket, project_id, api_key_id, model, provider, status, cache, requests,
          tokens_in, tokens_out, tokens_cache_read, tokens_cache_write, tokens_reasoning, cost_usd, saved_usd, failovers,
          latency_histogram, ttft_histogram, overhead_histogram, upstream_histogram)
        select date_trunc('hour', created_at, 'UTC'), project_id, api_key_id, model, '', status, 'miss', 1, tokens_in,
          tokens_out, 0, 0, 0, cost_usd, 0, 0, '{}', '{}', '{}', '{}' from gateway_logs`;
      expect(await migrateDatabase(client, quiet)).toContain('0026_customer-hours');
      const nowMs = startMs + 5 * HOUR_MS;
      const asked = { fromMs: startMs, toMs: startMs + 5 * HOUR_MS, nowMs };
      const costs = { c0: 45e9, c1: 51e9, c2: 57e9 };
      expect(await costsOf(db, asked)).toEqual(costs);
      expect(await makeCustomerHours(db, nowMs, 10)).toEqual([2, 1, 0].map((hour) => startMs + hour * HOUR_MS));
      expect(await costsOf(db, asked)).toEqual(costs);
    } finally {
      await database.close();
      await own.drop();
    }
  }, 60_000);
}
