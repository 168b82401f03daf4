// A ClickHouse that fails, doubles and disappears: in the end, both sides have the same rows and money, and in between every
// answer is that of Postgres.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { ClickHouseClient } from '@clickhouse/client';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { migrateClickHouse } from '@llm0/drizzle/clickhouse/open-clickhouse';
import type { Database } from '@llm0/drizzle/client';
import { createLogEngine } from '@llm0/drizzle/queries/clickhouse/create-log-engine';
import { attachLogEngine } from '@llm0/drizzle/queries/clickhouse/log-engine';
import { writeLogBodies } from '@llm0/drizzle/queries/logs/log-bodies';
import { forgetComparisons, readEngineState } from '@llm0/drizzle/queries/logs/log-days';
import { insertLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { addSinks, settleSinks } from '@llm0/drizzle/queries/logs/log-sinks';
import { loadOverview } from '@llm0/drizzle/queries/stats/read/load-stats';
import { openChdb } from '@llm0/testing/clickhouse/open-chdb';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { pino } from 'pino';
import type { ClickHouseSetting, LogDatabaseSetting } from '../config/sinks';
import type { JobContext } from '../jobs/job';
import { dropMovedDays } from './drop-moved-days';
import { exportRows } from './export-rows';
import { moveDays } from './move-days';
import { createWriteClickHouse } from './write-clickhouse';

const SETTING: LogDatabaseSetting = {
  ...{ kind: 'clickhouse', name: 'clickhouse://test:8123/llm0', url: 'http://127.0.0.1:1', everyMs: 0 },
  ...{ username: 'default', password: '', database: 'llm0', withBodies: true },
  ...{ logRetentionDays: 3650, logBodiesTtlDays: 3650, hotLabels: [] },
};
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

let database: Database;
let chdb: ClickHouseClient;
/** What befalls a command; the server may also be away, and its disk full. */
let fate: () => 'before' | 'after' | undefined = () => undefined;
let isAway = false;
let isFull = false;

const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
/** ClickHouse at the other end of a bad line; the process has only one. */
const client = new Proxy({} as ClickHouseClient, {
  get: (_, name: keyof ClickHouseClient) => {
    if (name === 'close') return async () => {};
    if (name !== 'command' && name !== 'query') return undefined;
    return async (given: Parameters<ClickHouseClient['command']>[0]) => {
      if (isAway) throw refused();
      const isInsert = 'query' in given && given.query.startsWith('insert');
      if (isFull && isInsert)
        throw Object.assign(new Error('Cannot reserve 1.00 MiB: not enough space'), { code: '243' });
      const broken = isInsert ? fate() : undefined;
      if (broken === 'before') throw refused();
      const answer = await (chdb[name] as (one: typeof given) => Promise<unknown>)(given);
      if (broken === 'after') throw new Error('the answer is lost');
      return answer;
    };
  },
});
const open = async () => {
  if (isAway) throw refused();
  return client;
};

beforeAll(async () => {
  const kind = TEST_DATABASES[0];
  if (kind === undefined) throw new Error('no database');
  database = await kind.openOwn();
  chdb = await openChdb();
  await migrateClickHouse(chdb);
}, 240_000);
afterAll(async () => {
  await chdb?.close();
  await database?.close();
});

/** After the rows' time, so that all of them are settled. */
const laterMs = () => Date.now() + 11 * 60_000;
const context = (nowMs: number) =>
  ({ db: database.db, nowMs: () => nowMs, log: pino({ level: 'silent' }) }) as unknown as JobContext;
const writers = () => createWriteClickHouse(open);
const copy = (write = writers()) =>
  exportRows(SETTING, [SETTING.name], (sink, part) => write(sink as ClickHouseSetting, part)).run(context(laterMs()));
const move = () => moveDays(SETTING, open).run(context(laterMs()));

const SUMS = `count(*) as n, coalesce(sum(cost_usd), 0) as usd, coalesce(sum(tokens_total), 0) as tokens`;
const shown = (row: Record<string, unknown> | undefined) => {
  const { n, usd, tokens } = row ?? {};
  return { n: Number(n), usd: Math.round(Number(usd) * 1e9), tokens: Number(tokens) };
};
async function bothSides() {
  const [here] = await database.db.execute(sql.raw(`select ${SUMS} from gateway_logs`));
  const [kept] = await database.db.execute(sql.raw('select count(*) as n from gateway_log_bodies'));
  const found = await chdb.query({ query: `select ${SUMS} from gateway_logs final`, format: 'JSONEachRow' });
  const bodies = await chdb.query({
    query: 'select count() as n from gateway_log_bodies final',
    format: 'JSONEachRow',
  });
  const [there] = await found.json<Record<string, unknown>>();
  const [keptThere] = await bodies.json<Record<string, unknown>>();
  return {
    here: { ...shown(here), bodies: Number(kept?.n) },
    there: { ...shown(there), bodies: Number(keptThere?.n) },
  };
}

/** Everything from the start, on both sides. */
async function clear(): Promise<void> {
  for (const table of [
    'gateway_logs',
    'gateway_log_bodies',
    'log_batches',
    'rollup_minute',
    'rollup_hour',
    'rollup_day',
  ])
    await database.db.execute(sql.raw(`delete from ${table}`));
  for (const table of ['gateway_logs', 'gateway_log_bodies']) await chdb.command({ query: `truncate table ${table}` });
  await settleSinks(database.db, []);
  [isAway, isFull, fate] = [false, false, () => undefined];
}

const rows = (agoMs: number, count: number, costs: number) =>
  Array.from({ length: count }, (_, nth) =>
    sampleRecord({ createdAtMs: Date.now() - agoMs - nth * 1000, costNanoUsd: costs + nth }),
  );
const withBodies = (records: readonly LogRecord[]) =>
  records.map(({ id: requestId, createdAtMs, projectId }) => ({
    ...{ requestId, createdAtMs, projectId, request: '{"a":1}', upstreamRequest: null, response: '{"b":2}' },
  }));

test('a move copies what was there before, compares it, and then ClickHouse answers', async () => {
  await clear();
  const old = rows(3 * DAY_MS, 30, 7);
  await insertLogRecords(database.db, [...old, ...rows(HOUR_MS, 20, 5)]);
  await writeLogBodies(database.db, withBodies(old));
  await addSinks(database.db, [SETTING.name]);
  await insertLogRecords(database.db, rows(2 * HOUR_MS, 10, 3));
  await copy();
  expect((await bothSides()).there.n).toBe(10);
  expect(await move()).toMatchObject({ ok: true });
  const { here, there } = await bothSides();
  expect(there).toEqual(here);
  expect(here).toMatchObject({ n: 60, bodies: 30 });
  expect((await readEngineState(database.db, SETTING.name)).completeAtMs).not.toBeNull();
  const stored = async () => {
    const found = await chdb.query({ query: 'select toString(count()) as n from gateway_logs', format: 'JSONEachRow' });
    return (await found.json<{ n: string }>())[0]?.n;
  };
  const before = await stored();
  await forgetComparisons(database.db, SETTING.name);
  expect(await move()).toMatchObject({ ok: true });
  // Nothing was copied a second time.
  expect(await stored()).toBe(before);
  // Rows that are gone come back.
  await chdb.command({ query: 'truncate table gateway_logs' });
  await forgetComparisons(database.db, SETTING.name);
  expect(await move()).toMatchObject({ ok: true });
  expect((await bothSides()).there).toEqual(here);
});

const action = fc.oneof(
  fc.record({ do: fc.constant('rows' as const), agoMs: fc.constantFrom(60_000, 5 * HOUR_MS, 2 * DAY_MS) }),
  fc.record({
    do: fc.constantFrom('correct', 'bodies', 'copy', 'copy', 'move', 'again', 'away', 'full', 'restart' as const),
  }),
);
const step = fc.record({ action, fates: fc.array(fc.constantFrom('before', 'after', undefined), { maxLength: 4 }) });

test('whatever befalls ClickHouse, no row and no money is lost or doubled', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 25 }), async (steps) => {
      await clear();
      await insertLogRecords(database.db, rows(2 * DAY_MS, 15, 11));
      await addSinks(database.db, [SETTING.name]);
      let known: readonly LogRecord[] = [];
      let write = writers();
      for (const { action, fates } of steps) {
        const left = [...fates];
        fate = () => left.shift();
        if (action.do === 'rows') {
          known = rows(action.agoMs, 12, 1000);
          await insertLogRecords(database.db, known);
        } else if (action.do === 'correct') {
          const late = known.slice(0, 5).map((one) => ({ ...one, corrects: true as const, costNanoUsd: 77 }));
          await insertLogRecords(database.db, late);
          known = known.slice(5);
        } else if (action.do === 'bodies') await writeLogBodies(database.db, withBodies(known));
        else if (action.do === 'copy') await copy(write);
        else if (action.do === 'move') await move().catch(() => {});
        else if (action.do === 'again') await forgetComparisons(database.db, SETTING.name);
        else if (action.do === 'restart') write = writers();
        else if (action.do === 'away') isAway = !isAway;
        else isFull = !isFull;
        await expectPostgresAnswer();
      }
      [isAway, isFull, fate] = [false, false, () => undefined];
      await copy(write);
      await forgetComparisons(database.db, SETTING.name);
      expect(await move()).toMatchObject({ ok: true });
      const { here, there } = await bothSides();
      expect(there).toEqual(here);
      await expectPostgresAnswer();
    }),
    { numRuns: 10, seed },
  );
}, 600_000);

/** Money and requests of the last three days, whoever answers. */
async function expectPostgresAnswer(): Promise<void> {
  const nowMs = laterMs();
  const [{ n, usd } = { n: 0, usd: 0 }] = await database.db.execute<{ n: number; usd: number }>(
    sql.raw('select count(*)::int as n, (coalesce(sum(cost_usd), 0) * 1000000000)::float8 as usd from gateway_logs'),
  );
  attachLogEngine(database.db, createLogEngine({ db: database.db, store: SETTING.name, open }));
  const range = { fromMs: Date.now() - 3 * DAY_MS, toMs: nowMs, nowMs };
  const { requests, costNanoUsd } = await loadOverview(database.db, range);
  expect({ requests, costNanoUsd }).toEqual({ requests: n, costNanoUsd: Math.round(usd) });
}

/** Last: from here on, Postgres lacks rows. */
test('days that Postgres dropped are counted again, and told where ClickHouse lost them', async () => {
  const { db } = database;
  await clear();
  await settleSinks(db, ['none']);
  await addSinks(db, [SETTING.name]);
  await settleSinks(db, [SETTING.name]);
  await insertLogRecords(db, rows(5 * DAY_MS, 20, 7));
  await copy();
  expect(await move()).toMatchObject({ ok: true });
  const { run } = dropMovedDays({ name: SETTING.name, postgresDays: 3 });
  expect(await run(context(laterMs()))).toBeNull();
  const dropped = await run(context(laterMs() + 11 * 60_000));
  expect(dropped).toMatchObject({ message: expect.stringContaining('ClickHouse has these rows') });
  expect((await bothSides()).here.n).toBe(0);
  expect(await move()).toBeNull();
  await forgetComparisons(db, SETTING.name);
  expect(await move()).toMatchObject({ ok: true });
  await chdb.command({ query: 'truncate table gateway_logs' });
  await forgetComparisons(db, SETTING.name);
  expect(await move()).toMatchObject({ ok: false, message: expect.stringContaining('are missing on') });
});
