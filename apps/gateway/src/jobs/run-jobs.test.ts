import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { ProjectCounter } from '@llm0/core/limits/hot-store';
import type { Database } from '@llm0/drizzle/client';
import { insertLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { ensurePartitions, listPartitions } from '@llm0/drizzle/queries/logs/partitions';
import { getLogByRequestId } from '@llm0/drizzle/queries/logs/search-logs';
import { systemLogRows } from '@llm0/drizzle/queries/logs/system-logs';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { undisturbedMs } from '@llm0/testing/thread-time';
import { cleanUp } from './clean-up';
import { indexPartitions } from './index-partitions';
import type { JobContext } from './job';
import { maintainPartitions } from './maintain-partitions';
import { reconcileLedgerJob } from './reconcile-ledger';
import { runJob, startJobs } from './run-jobs';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The part of a hot store that jobs see, in memory. */
class QueueStub {
  health = async () => ({ ok: true });
  forgetBudget = async () => {};
  readonly waiting: { entryId: string; record: string }[] = [];
  readonly unacknowledged = new Set<string>();
  monthCounters: ProjectCounter[] = [];
  reaped = 0;

  push(record: string): void {
    const entryId = String(this.waiting.length + this.unacknowledged.size + Math.random());
    this.waiting.push({ entryId, record });
    this.unacknowledged.add(entryId);
  }

  async read(max: number, waitMs: number) {
    if (this.waiting.length === 0) await Bun.sleep(Math.min(waitMs, 20));
    return this.waiting.splice(0, max);
  }

  async acknowledge(ids: readonly string[]) {
    for (const id of ids) this.unacknowledged.delete(id);
  }

  handBack() {}

  depth = async () => ({ entries: this.unacknowledged.size, oldestAgeMs: 0 });
  reap = async () => this.reaped;
  counters = async () => this.monthCounters;
}

const silent = { info: () => {}, warn: () => {}, error: () => {} };
const config = { logRetentionDays: 90, logBodiesTtlDays: 7 };

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('waited in vain');
    await Bun.sleep(20);
  }
}

describe.each(TEST_DATABASES)('jobs on $name', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await kind.openOwn();
  }, 60_000);
  afterAll(() => database.close());

  const contextOf = (hotStore: QueueStub, nowMs = Date.now()): JobContext => ({
    db: database.db,
    hotStore,
    log: silent,
    nowMs: () => nowMs,
  });
  const services = (hotStore: QueueStub) => ({
    hotStore,
    log: silent,
    clock: { nowMs: Date.now },
    config,
    postWebhook: async () => {},
  });
  const lastEntry = async (eventType: string) =>
    (await systemLogRows.list(database.db, { limit: 1 }, { eventType })).data[0];

  // The other process of an embedded database may wait for a processor as well.
  test(
    'rows are visible within 2 s, and a poisoned record blocks nothing',
    async () => {
      const hotStore = new QueueStub();
      const jobs = await startJobs({ services: services(hotStore), database });
      try {
        expect(jobs.leading()).toBe(true);
        const [first, second] = [sampleRecord(), sampleRecord()];
        const startMs = undisturbedMs();
        hotStore.push(JSON.stringify(first));
        hotStore.push('{"id":"poison\u0000"}');
        hotStore.push(JSON.stringify(second));
        await waitFor(async () => (await getLogByRequestId(database.db, second.id)) !== null);
        expect(undisturbedMs() - startMs).toBeLessThan(2_000);
        expect(await getLogByRequestId(database.db, first.id)).not.toBeNull();
        await waitFor(async () => hotStore.unacknowledged.size === 0);
        expect((await lastEntry('log_record_set_aside'))?.metadata).toEqual({ record: '{"id":"poison"}' });
      } finally {
        await jobs.stop();
      }
    },
    { retry: 2 },
  );

  test('queued rows are stored at the stop', async () => {
    const hotStore = new QueueStub();
    const jobs = await startJobs({ services: services(hotStore), database });
    const records = Array.from({ length: 5 }, () => sampleRecord());
    for (const record of records) hotStore.push(JSON.stringify(record));
    await jobs.stop();
    expect(hotStore.unacknowledged.size).toBe(0);
    for (const { id } of records) expect(await getLogByRequestId(database.db, id)).not.toBeNull();
  });

  test('every run leaves a row, an idle one does not, a lasting failure only one', async () => {
    const hotStore = new QueueStub();
    const name = `job_${crypto.randomUUID()}`;
    const job = { name, intervalMs: 1, run: async () => ({ message: 'done', metadata: { n: 1 } }) };
    expect(await runJob(job, contextOf(hotStore), null)).toBeNull();
    expect(await lastEntry(name)).toMatchObject({ outcome: 'ok', message: 'done', metadata: { n: 1 } });
    expect((await lastEntry(name))?.durationMs).toBeGreaterThanOrEqual(0);
    await runJob({ ...job, run: async () => null }, contextOf(hotStore), null);
    const failing = { ...job, run: () => Promise.reject(new Error('broken')) };
    const failure = await runJob(failing, contextOf(hotStore), null);
    expect(await runJob(failing, contextOf(hotStore), failure)).toBe('broken');
    const rows = (await systemLogRows.list(database.db, { limit: 10 }, { eventType: name })).data;
    expect(rows.map((row) => row.outcome).sort()).toEqual(['error', 'ok']);
  });

  test('reconcile finds a counter that is off, and none that is right', async () => {
    const hotStore = new QueueStub();
    const record = sampleRecord({
      projectId: crypto.randomUUID(),
      costNanoUsd: 777,
      createdAtMs: Date.parse('2031-01-15T00:00:00Z'),
    });
    await insertLogRecords(database.db, [record]);
    const counter = { projectId: record.projectId, month: '2031-01', heldNanoUsd: 0 };
    hotStore.monthCounters = [{ ...counter, spentNanoUsd: 777 }];
    const context = contextOf(hotStore, record.createdAtMs);
    expect(await reconcileLedgerJob.run(context)).toEqual({ message: 'every counter is the sum of its rows' });
    hotStore.monthCounters = [{ ...counter, spentNanoUsd: 778 }];
    const outcome = await reconcileLedgerJob.run(context);
    expect(outcome).toMatchObject({
      ok: false,
      metadata: { projects: [{ project_id: record.projectId, month: '2031-01', diff_nano_usd: 1 }] },
    });
  }, 30_000);

  test('partitions from before an index get theirs, also where making it was cut short; new ones have it', async () => {
    const days = ['2021-03-01', '2021-03-02', '2021-03-03'];
    await ensurePartitions(database.db, days);
    const indexed = () =>
      database.client.unsafe<{ name: string; valid: boolean }[]>(`
        select c.relname as name, x.indisvalid as valid from pg_inherits a join pg_index x on x.indexrelid = a.inhrelid
          join pg_class c on c.oid = x.indrelid
        where a.inhparent = 'gateway_logs_estimated'::regclass and c.relname like 'gateway_logs_202103%' order by 1`);
    expect(await indexed()).toHaveLength(3);
    // As after the upgrade: the table has the index, partitions from before do not.
    await database.client.unsafe('drop index gateway_logs_estimated');
    await database.client.unsafe(
      'create index gateway_logs_estimated on only gateway_logs (created_at) where cost_estimated',
    );
    await database.client.unsafe(
      'create index gateway_logs_20210302_estimated on gateway_logs_20210302 (created_at) where cost_estimated',
    );
    await database.client.unsafe(
      `update pg_index set indisvalid = false where indexrelid = 'gateway_logs_20210302_estimated'::regclass`,
    );
    const context = contextOf(new QueueStub(), Date.now());
    let runs = 0;
    while ((await indexPartitions.run(context)) !== null) runs++;
    expect(runs).toBeGreaterThanOrEqual(3);
    expect((await indexed()).map(({ valid }) => valid)).toEqual([true, true, true]);
    const [whole] = await database.client.unsafe(
      `select indisvalid as valid from pg_index where indexrelid = 'gateway_logs_estimated'::regclass`,
    );
    expect(whole?.valid).toBe(true);
  }, 30_000);

  test('partitions are made a week ahead and dropped when every row of them is past its time', async () => {
    const nowMs = Date.parse('2029-06-10T12:00:00Z');
    const hotStore = new QueueStub();
    await maintainPartitions.run(contextOf(hotStore, nowMs));
    const days = async () => (await listPartitions(database.db)).map((partition) => partition.day);
    expect(await days()).toEqual(expect.arrayContaining(['2029-06-10', '2029-06-17']));
    expect(await days()).not.toContain('2029-06-18');
    const old = '2020-05-01';
    const kept = '2020-05-02';
    await ensurePartitions(database.db, [old, kept]);
    await cleanUp(config).run(
      contextOf(hotStore, Date.parse('2020-05-02T00:00:00Z') + config.logRetentionDays * DAY_MS),
    );
    expect(await days()).not.toContain(old);
    expect(await days()).toContain(kept);
  });

  test('minutes are kept for two days, hours for 90, days for good', async () => {
    const startMs = Date.parse('2020-09-02T00:00:00Z');
    const records = Array.from({ length: 15 }, (_, hour) => sampleRecord({ createdAtMs: startMs + hour * HOUR_MS }));
    await insertLogRecords(database.db, records);
    const keptAt = async (nowMs: number) => {
      await cleanUp(config).run(contextOf(new QueueStub(), nowMs));
      const counts = ['rollup_minute', 'rollup_hour', 'rollup_day'].map(async (table) => {
        const [row] = await database.client.unsafe<{ n: number }[]>(
          `select coalesce(sum(requests), 0)::int as n from ${table} where bucket >= '2020-09-02' and bucket < '2020-09-03'`,
        );
        return row?.n;
      });
      return Promise.all(counts);
    };
    expect(await keptAt(startMs + 2 * DAY_MS)).toEqual([15, 15, 15]);
    expect(await keptAt(startMs + 2 * DAY_MS + 12 * HOUR_MS)).toEqual([3, 15, 15]);
    expect(await keptAt(startMs + 90 * DAY_MS + 12 * HOUR_MS)).toEqual([0, 3, 15]);
  });

  test('hours of the days on which months begin or end are kept for good', async () => {
    const days = ['2020-10-30', '2020-10-31', '2020-11-01', '2020-11-02', '2021-02-28'];
    await insertLogRecords(
      database.db,
      days.map((day) => sampleRecord({ createdAtMs: Date.parse(`${day}T23:00:00Z`) })),
    );
    await cleanUp(config).run(contextOf(new QueueStub(), Date.parse('2025-01-15T00:00:00Z')));
    const rows = await database.client.unsafe<{ day: string }[]>(
      `select to_char(bucket at time zone 'UTC', 'YYYY-MM-DD') as day from rollup_hour
       where bucket >= '2020-10-30' and bucket < '2021-03-01' order by bucket`,
    );
    expect(rows.map(({ day }) => day)).toEqual(['2020-10-31', '2020-11-01', '2021-02-28']);
  });
});

const real = TEST_DATABASES.find((kind) => kind.name === 'postgres');
if (real !== undefined) {
  test('maintenance runs where it is enabled, the ledger on whichever gateway comes first', async () => {
    const database = await real.open();
    const { connectDatabase } = await import('@llm0/drizzle/client');
    const url = `postgres://postgres@${database.client.options.host[0]}:${database.client.options.port[0]}/${database.client.options.database}`;
    const second = connectDatabase({ url });
    const start = (db: Database, backgroundWorkers: boolean) =>
      startJobs({
        services: {
          hotStore: new QueueStub(),
          log: silent,
          clock: { nowMs: Date.now },
          config: { ...config, backgroundWorkers },
          postWebhook: async () => {},
        },
        database: db,
      });
    const withoutMaintenance = await start(database, false);
    const withMaintenance = await start(second, true);
    expect([withoutMaintenance.leading('ledger'), withoutMaintenance.leading('maintenance')]).toEqual([true, false]);
    expect([withMaintenance.leading('ledger'), withMaintenance.leading('maintenance')]).toEqual([false, true]);
    await withoutMaintenance.stop();
    await waitFor(async () => withMaintenance.leading('ledger'));
    expect(withMaintenance.leading('maintenance')).toBe(true);
    await withMaintenance.stop();
    await second.close();
    await database.close();
  }, 30_000);

  test('one of two gateways leads, and the other takes over', async () => {
    const database = await real.open();
    const stores = [new QueueStub(), new QueueStub()];
    const { connectDatabase } = await import('@llm0/drizzle/client');
    const url = `postgres://postgres@${database.client.options.host[0]}:${database.client.options.port[0]}/${database.client.options.database}`;
    const second = connectDatabase({ url });
    const [first, other] = await Promise.all(
      [database, second].map((db, index) =>
        startJobs({
          services: {
            hotStore: stores[index] ?? new QueueStub(),
            log: silent,
            clock: { nowMs: Date.now },
            config,
            postWebhook: async () => {},
          },
          database: db,
        }),
      ),
    );
    if (first === undefined || other === undefined) throw new Error('two were started');
    expect([first.leading(), other.leading()].filter(Boolean)).toHaveLength(1);
    const [leader, follower] = first.leading() ? [first, other] : [other, first];
    await leader.stop();
    await waitFor(async () => follower.leading());
    await follower.stop();
    await second.close();
    await database.close();
  }, 30_000);
}
