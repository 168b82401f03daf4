import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Worker } from 'node:worker_threads';
import { RecordsRejectedError } from '@llm0/core/logs/decode-log-record';
import { RecordsOutdatedError } from '@llm0/core/logs/log-drain';
import { databaseEnvironment } from '@llm0/core/threads/program-environment';
import type { StoredRecords } from '@llm0/core/tracing/span';
import type { Database } from '@llm0/drizzle/client';
import { openDatabase } from '@llm0/drizzle/open-database';
import { raiseLogFence, readLogFence } from '@llm0/drizzle/queries/logs/log-fence';
import { storeLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { lockLogWrites } from '@llm0/drizzle/queries/logs/partitions';
import { sumMonths } from '@llm0/drizzle/queries/stats/read/spend-sums';
import { createMigratedDatabase } from '@llm0/testing/stores/create-database';
import { sampleCall } from '@llm0/testing/stores/sample-call';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { createLogDrain } from '../jobs/drain-logs';
import type { RowStore } from '../jobs/job';
import { RowsThread } from './rows-thread';

const serverUrl = process.env.TEST_DATABASE_URL;
if (serverUrl === undefined || serverUrl === '') throw new Error('TEST_DATABASE_URL is needed');

const MONTH = '2033-05';
const createdAtMs = Date.parse(`${MONTH}-06T07:08:09Z`);
const text = (record: object) => JSON.stringify(record);

let own: Awaited<ReturnType<typeof createMigratedDatabase>>;
let database: Database;
const threads: Worker[] = [];
const broken: string[] = [];
let thread: RowsThread;
beforeAll(async () => {
  own = await createMigratedDatabase(serverUrl);
  database = await openDatabase({ databaseUrl: own.url, dataDir: '', onWarning: () => {} });
  thread = new RowsThread({
    databaseUrl: own.url,
    onBroken: ({ message }) => broken.push(message),
    start: () => {
      const worker = new Worker(new URL('./rows-worker.ts', import.meta.url), {
        env: {},
        workerData: { databaseUrl: own.url },
      });
      threads.push(worker);
      return worker;
    },
  });
}, 60_000);
afterAll(async () => {
  thread.stop();
  await database.close();
  await own.drop();
});

/** Requests and spend of a project, by its rows and by its roll-ups. */
async function booksOf(projectId: string) {
  const sums = (source: 'rows' | 'rollups') => sumMonths(database.db, { projectId, fromMonth: MONTH, source });
  const [row] = await database.client<{ rows: number; counted: number }[]>`
    select (select count(*)::int from gateway_logs where project_id = ${projectId}) as rows,
      (select coalesce(sum(requests), 0)::int from rollup_day where project_id = ${projectId}) as counted`;
  const [byRows, byRollups] = await Promise.all([sums('rows'), sums('rollups')]);
  return { ...row, byRows: byRows[0]?.spentNanoUsd, byRollups: byRollups[0]?.spentNanoUsd };
}

describe.each([
  { name: 'in a thread', open: (): RowStore => thread },
  { name: 'here', open: (): RowStore => ({ storeRecords: (...given) => storeLogRecords(database.db, ...given) }) },
])('rows written $name', ({ open }) => {
  test('rows and sums are stored once, and an observer takes what is new', async () => {
    const projectId = crypto.randomUUID();
    const records = Array.from({ length: 600 }, (_, n) => sampleRecord({ projectId, createdAtMs, costNanoUsd: n }));
    const call = sampleCall({ projectId, createdAtMs: createdAtMs + 0.5, costNanoUsd: 0 });
    const odd = { ...sampleRecord({ projectId, createdAtMs, costNanoUsd: 7 }), errorMessage: 'a \0 and a \ud800' };
    const taken: StoredRecords[] = [];
    const onWritten = (stored: StoredRecords) => void taken.push(stored);
    await open().storeRecords(records.slice(0, 400).map(text), {});
    await open().storeRecords([...records, call, odd].map(text), { onWritten });
    const spent = (599 * 600) / 2 + 7;
    expect(await booksOf(projectId)).toEqual({ rows: 601, counted: 601, byRows: spent, byRollups: spent });
    expect(taken.map(({ calls }) => calls)).toEqual([[{ ...call, createdAtMs }]]);
    const stored = taken.flatMap(({ requests }) => requests);
    expect(stored.map(({ record }) => record)).toEqual([
      ...records.slice(400),
      { ...odd, errorMessage: 'a  and a \ufffd' },
    ]);
    for (const { record, json } of stored) expect(JSON.parse(json)).toEqual(record);
  });

  test('records that Postgres refuses are told from those of an older fence, and from a failure', async () => {
    const record = sampleRecord({ projectId: crypto.randomUUID(), createdAtMs });
    const store = (fault: object, fence?: number) => open().storeRecords([text({ ...record, ...fault })], { fence });
    await expect(store({ status: 'odd' })).rejects.toThrow(new RecordsRejectedError('status is missing or wrong'));
    await expect(store({ attempts: [], latencyMs: 1, failoverCount: 2 ** 40 })).rejects.toBeInstanceOf(
      RecordsRejectedError,
    );
    const fence = await readLogFence(database.db);
    await database.db.transaction((tx) => raiseLogFence(tx));
    await expect(store({}, fence)).rejects.toBeInstanceOf(RecordsOutdatedError);
    await store({}, fence + 1);
    expect((await booksOf(record.projectId)).rows).toBe(1);
  });
});

test('a thread that dies in the middle of a batch loses no row and doubles none', async () => {
  const projectId = crypto.randomUUID();
  const records = Array.from({ length: 50 }, () => sampleRecord({ projectId, createdAtMs, costNanoUsd: 3 }));
  const queue = new Map(records.map((record) => [record.id, text(record)]));
  const failures: string[] = [];
  const drained = Promise.withResolvers<void>();
  const log = { info: () => {}, error: () => {}, warn: ({ err }: { err: Error }) => failures.push(err.message) };
  const hotStore = {
    read: async () => Array.from(queue, ([entryId, record]) => ({ entryId, record })),
    acknowledge: async (ids: readonly string[]) => {
      for (const id of ids) queue.delete(id);
      if (queue.size === 0) drained.resolve();
    },
    depth: async () => ({ entries: queue.size, oldestAgeMs: 0 }),
    ...{ handBack: () => {}, reap: async () => 0, counters: async () => [], forgetBudget: async () => {} },
  };
  const drain = createLogDrain({ db: database.db, hotStore, log: log as never, nowMs: Date.now, rows: thread });
  // The thread runs already.
  await thread.storeRecords([], {});
  const before = { threads: threads.length, broken: broken.length };
  await database.db.transaction(async (tx) => {
    await lockLogWrites(tx);
    drain.start();
    await untilWaiting();
    await threads.at(-1)?.terminate();
  });
  await drained.promise;
  await drain.stop();
  expect(await booksOf(projectId)).toEqual({ rows: 50, counted: 50, byRows: 150, byRollups: 150 });
  expect(failures).toEqual(['the thread ended']);
  expect(broken.slice(before.broken)).toEqual(['the thread ended']);
  expect(threads.length - before.threads).toBe(1);
});

/** A batch in the thread waits for the lock. */
async function untilWaiting(): Promise<void> {
  const deadlineMs = performance.now() + 10_000;
  for (;;) {
    const [row] = await database.client<{ count: number }[]>`
      select count(*)::int from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and wait_event = 'advisory'`;
    if (row?.count === 1) return;
    if (performance.now() > deadlineMs) throw new Error('no batch came');
    await Bun.sleep(10);
  }
}

test('a thread connects as the process does: by the variables of the Postgres client, and with its choice of TLS', async () => {
  const { hostname, port, username, pathname } = new URL(own.url);
  const given = { PGHOST: hostname, PGPORT: port, PGUSER: username, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  const env = databaseEnvironment({ ...given, ADMIN_TOKEN: 'secret', PATH: '/bin' });
  expect(env).toEqual(given);
  const alone = new RowsThread({ databaseUrl: `postgres://${pathname}`, env });
  try {
    const record = sampleRecord({ projectId: crypto.randomUUID(), createdAtMs });
    await alone.storeRecords([text(record)], {});
    expect((await booksOf(record.projectId)).rows).toBe(1);
  } finally {
    alone.stop();
  }
});

test('Postgres that is away is told by its code', async () => {
  const alone = new RowsThread({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none' });
  try {
    await expect(alone.storeRecords([text(sampleRecord())], {})).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  } finally {
    alone.stop();
  }
});
