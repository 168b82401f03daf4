// A ClickHouse that fails, doubles and disappears: in the end, both sides have the same rows and money, and in between every
// answer is that of Postgres.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { LogRecord } from '@llm0/core/logs/log-record';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import { writeLogBodies } from '@llm0/drizzle/queries/logs/log-bodies';
import { forgetComparisons, readEngineState } from '@llm0/drizzle/queries/logs/log-days';
import { insertLogRecords, storeLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { addSinks, settleSinks } from '@llm0/drizzle/queries/logs/log-sinks';
import { LOG_TABLES } from '@llm0/drizzle/queries/logs/partitions';
import { loadOverview } from '@llm0/drizzle/queries/stats/read/load-stats';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { BadClickHouse, calls, laterMs, rows, SETTING } from './bad-clickhouse.fixture';
import { dropMovedDays } from './drop-moved-days';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

let world: BadClickHouse;
beforeAll(async () => {
  world = await BadClickHouse.start();
}, 240_000);
afterAll(() => world?.close());

const sumsOf = (version: 'final' | '') => `select count(*) as n, coalesce(sum(cost_usd), 0) as usd,
  coalesce(sum(tokens), 0) as tokens from (select cost_usd, tokens_total as tokens from gateway_logs ${version}
    union all select cost_usd, bytes_in + bytes_out from tool_calls ${version}) as rows`;
const shown = (row: Record<string, unknown> | undefined) => {
  const { n, usd, tokens } = row ?? {};
  return { n: Number(n), usd: Math.round(Number(usd) * 1e9), tokens: Number(tokens) };
};
async function bothSides() {
  const [here] = await world.database.db.execute(sql.raw(sumsOf('')));
  const [kept] = await world.database.db.execute(sql.raw('select count(*) as n from gateway_log_bodies'));
  const found = await world.chdb.query({ query: sumsOf('final'), format: 'JSONEachRow' });
  const bodies = await world.chdb.query({
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

const storeCalls = (records: readonly ToolCallRecord[]) =>
  storeLogRecords(
    world.database.db,
    records.map((one) => JSON.stringify(one)),
  );

const withBodies = (records: readonly LogRecord[]) =>
  records.map(({ id: requestId, createdAtMs, projectId }) => ({
    ...{ requestId, createdAtMs, projectId, request: '{"a":1}', upstreamRequest: null, response: '{"b":2}' },
  }));

test('a move copies what was there before, compares it, and then ClickHouse answers', async () => {
  await world.clear();
  const old = rows(3 * DAY_MS, 30, 7);
  await insertLogRecords(world.database.db, [...old, ...rows(HOUR_MS, 20, 5)]);
  await storeCalls(calls(3 * DAY_MS, 10, 9));
  await writeLogBodies(world.database.db, withBodies(old));
  await addSinks(world.database.db, [SETTING.name]);
  await insertLogRecords(world.database.db, rows(2 * HOUR_MS, 10, 3));
  await storeCalls(calls(2 * HOUR_MS, 5, 3));
  await world.copy();
  expect((await bothSides()).there.n).toBe(15);
  expect(await world.move()).toMatchObject({ ok: true });
  const { here, there } = await bothSides();
  expect(there).toEqual(here);
  expect(here).toMatchObject({ n: 75, bodies: 30 });
  expect((await readEngineState(world.database.db, SETTING.name)).completeAtMs).not.toBeNull();
  const stored = async () => {
    const found = await world.chdb.query({
      query: 'select toString((select count() from gateway_logs) + (select count() from tool_calls)) as n',
      format: 'JSONEachRow',
    });
    return (await found.json<{ n: string }>())[0]?.n;
  };
  const before = await stored();
  await forgetComparisons(world.database.db, SETTING.name);
  expect(await world.move()).toMatchObject({ ok: true });
  // Nothing was copied a second time.
  expect(await stored()).toBe(before);
  // Rows that are gone come back.
  for (const { name } of LOG_TABLES) await world.chdb.command({ query: `truncate table ${name}` });
  await forgetComparisons(world.database.db, SETTING.name);
  expect(await world.move()).toMatchObject({ ok: true });
  expect((await bothSides()).there).toEqual(here);
});

test('a ClickHouse of a version without tool calls gets their days, and answers meanwhile', async () => {
  const { db } = world.database;
  await world.clear();
  await addSinks(db, [SETTING.name]);
  await insertLogRecords(db, rows(2 * DAY_MS, 5, 7));
  await storeCalls(calls(2 * DAY_MS, 10, 9));
  await world.copy();
  expect(await world.move()).toMatchObject({ ok: true });
  await world.chdb.command({ query: 'truncate table tool_calls' });
  await db.execute(sql`delete from call_days`);
  await db.execute(sql`delete from settings where starts_with(key, 'call_')`);
  const { completeAtMs, callsUntilMs } = await readEngineState(db, SETTING.name);
  expect([completeAtMs === null, callsUntilMs]).toEqual([false, 0]);
  await expectPostgresAnswer();
  expect(await world.move()).toMatchObject({ ok: true, message: expect.stringMatching(/^copied 10 rows/) });
  expect((await readEngineState(db, SETTING.name)).callsUntilMs).toBeGreaterThan(Date.now() - 2 * DAY_MS);
  const { here, there } = await bothSides();
  expect(there).toEqual(here);
  await expectPostgresAnswer();
});

const action = fc.oneof(
  fc.record({ do: fc.constant('rows' as const), agoMs: fc.constantFrom(60_000, 5 * HOUR_MS, 2 * DAY_MS) }),
  fc.record({
    do: fc.constantFrom(
      'calls',
      'correct',
      'bodies',
      'copy',
      'copy',
      'move',
      'again',
      'away',
      'full',
      'restart' as const,
    ),
  }),
);
const step = fc.record({ action, fates: fc.array(fc.constantFrom('before', 'after', undefined), { maxLength: 4 }) });

test('whatever befalls ClickHouse, no row and no money is lost or doubled', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 25 }), async (steps) => {
      await world.clear();
      await insertLogRecords(world.database.db, rows(2 * DAY_MS, 15, 11));
      await addSinks(world.database.db, [SETTING.name]);
      let known: readonly LogRecord[] = [];
      let knownCalls: readonly ToolCallRecord[] = [];
      let write = world.writers();
      for (const { action, fates } of steps) {
        world.fates = [...fates];
        if (action.do === 'rows') {
          known = rows(action.agoMs, 12, 1000);
          await insertLogRecords(world.database.db, known);
        } else if (action.do === 'calls') {
          const late = knownCalls.slice(0, 3).map((one) => ({ ...one, corrects: true, costNanoUsd: 55 }));
          knownCalls = calls(late.length * 20 * HOUR_MS, 8, 500);
          await storeCalls([...late, ...knownCalls]);
        } else if (action.do === 'correct') {
          const late = known.slice(0, 5).map((one) => ({ ...one, corrects: true as const, costNanoUsd: 77 }));
          await insertLogRecords(world.database.db, late);
          known = known.slice(5);
        } else if (action.do === 'bodies') await writeLogBodies(world.database.db, withBodies(known));
        else if (action.do === 'copy') await world.copy(write);
        else if (action.do === 'move') await world.move().catch(() => {});
        else if (action.do === 'again') await forgetComparisons(world.database.db, SETTING.name);
        else if (action.do === 'restart') write = world.writers();
        else if (action.do === 'away') world.isAway = !world.isAway;
        else world.isFull = !world.isFull;
        await expectPostgresAnswer();
      }
      world.heal();
      await world.copy(write);
      await forgetComparisons(world.database.db, SETTING.name);
      expect(await world.move()).toMatchObject({ ok: true });
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
  const [{ n, usd } = { n: 0, usd: 0 }] = await world.database.db.execute<{ n: number; usd: number }>(
    sql.raw(`select (select count(*)::int from gateway_logs) as n, (coalesce(sum(cost_usd), 0) * 1000000000)::float8 as usd
      from (select cost_usd from gateway_logs union all select cost_usd from tool_calls) as rows`),
  );
  world.attach();
  const range = { fromMs: Date.now() - 3 * DAY_MS, toMs: nowMs, nowMs };
  const { requests, costNanoUsd } = await loadOverview(world.database.db, range);
  expect({ requests, costNanoUsd }).toEqual({ requests: n, costNanoUsd: Math.round(usd) });
}

test('days that Postgres dropped are counted again, and told where ClickHouse lost them', async () => {
  const { db } = world.database;
  await world.clear();
  await settleSinks(db, ['none']);
  await addSinks(db, [SETTING.name]);
  await settleSinks(db, [SETTING.name]);
  await insertLogRecords(db, rows(5 * DAY_MS, 20, 7));
  await storeCalls(calls(5 * DAY_MS, 10, 7));
  await world.copy();
  expect(await world.move()).toMatchObject({ ok: true });
  const { run } = dropMovedDays({ name: SETTING.name, postgresDays: 3 });
  expect(await run(world.context(laterMs()))).toBeNull();
  const dropped = await run(world.context(laterMs() + 11 * 60_000));
  expect(dropped).toMatchObject({ message: expect.stringContaining('ClickHouse has these rows') });
  expect((await bothSides()).here.n).toBe(0);
  expect(await world.move()).toBeNull();
  await forgetComparisons(db, SETTING.name);
  expect(await world.move()).toMatchObject({ ok: true });
  await world.chdb.command({ query: 'truncate table tool_calls' });
  await forgetComparisons(db, SETTING.name);
  expect(await world.move()).toMatchObject({
    ok: false,
    message: expect.stringMatching(/missing on [\d-]+ \(tool_calls\)$/),
  });
  await world.chdb.command({ query: 'truncate table gateway_logs' });
  await forgetComparisons(db, SETTING.name);
  expect(await world.move()).toMatchObject({ ok: false, message: expect.stringMatching(/missing on [\d-]+, /) });
});
