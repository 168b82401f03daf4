// After Postgres dropped its older days, every reader answers as it did before.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { LogRecord } from '@llm0/core/logs/log-record';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import { openChdb } from '@llm0/testing/clickhouse/open-chdb';
import { sampleCall } from '@llm0/testing/stores/sample-call';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import { migrateClickHouse } from '../../clickhouse/open-clickhouse';
import type { Database } from '../../client';
import { findOwnersOfRow } from '../access/owners';
import { projectRows } from '../access/projects';
import { loadAmounts, loadAmountsOfRows, loadCustomerAmounts, loadEstimated } from '../finance/amounts';
import { countGuardrailHits, listGuardrailHits, loadGuardrailStats } from '../guardrails/guardrail-stats';
import { fillLabelSpend, readOlderSpend } from '../limits/label-spend';
import { findRunProject, listRunItems, loadRunUsage, openRun } from '../limits/runs';
import { sumBudget } from '../limits/sum-budget';
import { countLogs } from '../logs/count-logs';
import { loadSpeeds } from '../logs/load-speeds';
import { listEntries, noteComparedDay, noteComplete, readEngineState, sumRows } from '../logs/log-days';
import { storeLogRecords } from '../logs/log-insert';
import { addSinks, advanceSink, readSinkLines } from '../logs/log-sinks';
import type { LogFilter } from '../logs/logs';
import { CALLS, LOG_TABLES, type LogTable, listPartitions, REQUESTS } from '../logs/partitions';
import { getLogByRequestId, searchLogs, wholeRangeOf } from '../logs/search-logs';
import { countRows, tallyLogs } from '../logs/tally-logs';
import { loadDifferences } from '../stats/read/differences';
import { loadFlows } from '../stats/read/flows';
import { loadBuckets, loadOverview } from '../stats/read/load-stats';
import { loadMinutes } from '../stats/read/minutes';
import { loadProviderHealth } from '../stats/read/provider-health';
import { sumMonths } from '../stats/read/spend-sums';
import { loadSpendTable, type TableSide } from '../stats/read/spend-table';
import { splitRange } from '../stats/read/time-segments';
import type { ToolCallFilter } from '../tool-calls/call-filter';
import { getToolCall, listToolCalls } from '../tool-calls/tool-calls';
import { loadToolStats, TOOL_GROUPS } from '../tool-calls/tool-stats';
import { askOfClient, EngineAwayError } from './ask-clickhouse';
import { createLogEngine } from './create-log-engine';
import { attachLogEngine, rowsBefore } from './log-engine';
import { dropBelowFloor, raiseLogFloor } from './log-floor';
import { storeLines } from './store-lines';
import { sumRowsElsewhere } from './sum-rows';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const nowMs = Date.parse('2030-02-20T15:30:17.123Z');
const STORE = 'clickhouse://test:8123/llm0';

let database: Database;
let chdb: Awaited<ReturnType<typeof openChdb>>;
let isAway = false;
let projectId = '';
let records: readonly LogRecord[] = [];
let calls: readonly ToolCallRecord[] = [];

const failed = { provider: 'alpha', model: 'm', outcome: 'timeout', startMs: 0, latencyMs: 9 } as const;
const answered = { provider: 'beta', model: 'm', outcome: 'ok', startMs: 9, latencyMs: 7 } as const;

function makeRecords(): readonly LogRecord[] {
  return Array.from({ length: 500 }, (_, index) => {
    const status = (['success', 'success', 'error', 'success', 'aborted'] as const)[index % 5] ?? 'success';
    const isSwitched = index % 9 === 0;
    const isHit = index % 6 === 1;
    return sampleRecord({
      ...{ projectId, createdAtMs: nowMs - 1 - index * 1_411_113, status, costNanoUsd: 1_000_007 + index * 13 },
      ...{ model: `model-${index % 4}`, requestedModel: `alias-${index % 3}`, tokensIn: (index * 7) % 900 },
      ...{ finalProvider: isSwitched ? 'beta' : 'alpha', cacheHit: isHit, savedNanoUsd: isHit ? 500 : 0 },
      ...{ customerId: index % 3 === 0 ? undefined : `customer-${index % 5}`, costEstimated: index % 8 === 0 },
      ...{ labels: index % 2 === 0 ? { team: `t${index % 3}` } : undefined, stream: index % 7 < 4 },
      ...{ modality: index % 4 === 1 ? ('image' as const) : undefined, runId: index % 20 === 0 ? 'run-1' : undefined },
      ...{ latencyMs: 1 + ((index * 7919) % 500), upstreamMs: isHit ? undefined : 3 + ((index * 1047) % 300) },
      ...{ errorCode: status === 'error' ? 'upstream_timeout' : undefined, failoverCount: isSwitched ? 1 : 0 },
      ...(isSwitched ? { attempts: [failed, answered] } : {}),
      guardrails:
        index % 15 === 0
          ? [{ rule: `r${index % 2}`, on: 'input', check: 'pii', action: 'flag', count: 2, ms: 1.5 }]
          : undefined,
    } as Partial<LogRecord>);
  });
}

const CODES = [undefined, undefined, 'not_found', 'upstream_timeout'] as const;

function makeCalls(): readonly ToolCallRecord[] {
  return Array.from({ length: 400 }, (_, index) => {
    const errorCode = CODES[index % 4];
    // Every seventh time is that of the call before.
    const nth = index % 7 === 1 ? index - 1 : index;
    return sampleCall({
      ...{ projectId, createdAtMs: nowMs - 5 - nth * 1_511_117, costNanoUsd: index % 3 === 0 ? 0 : 1_000_001 + index },
      ...{ server: `server-${index % 2}`, tool: `tool'${index % 3}`, runId: index % 10 === 0 ? 'run-1' : 'run-2' },
      ...{ durationMs: 0.5 + ((index * 7919) % 500), bytesIn: index * 3, bytesOut: 5000 - index },
      ...{ isError: errorCode !== undefined || index % 9 === 0, status: errorCode === undefined ? 'success' : 'error' },
      ...(errorCode === undefined ? {} : { errorCode, errorMessage: 'says "no"\n' }),
      ...(index % 4 === 0 ? { customerId: `customer-${index % 5}`, labels: { team: `t${index % 3}` } } : {}),
      ...(index % 6 === 0 ? { traceId: 'a'.repeat(32) } : {}),
      ...(index % 11 === 0
        ? {
            guardrails: [
              { rule: `r${index % 2}`, on: 'tool_arguments', check: 'pii', action: 'flag', count: 1, ms: 2 },
            ],
          }
        : {}),
    } as Partial<ToolCallRecord>);
  });
}

const store = (all: readonly object[]) =>
  storeLogRecords(
    database.db,
    all.map((one) => JSON.stringify(one)),
  );

let seq = 0;
/** As the sink does with its batches. */
async function copy(): Promise<void> {
  const linesOf = async (table: LogTable) => {
    const most = { after: undefined, limit: 10_000, table };
    const entries = await listEntries(database.db, { fromMs: 0, toMs: nowMs }, most);
    return readSinkLines(database.db, entries, [], table.name);
  };
  seq += 1;
  await storeLines(chdb, { afterSeq: seq - 1, seq, lines: await linesOf(REQUESTS), calls: await linesOf(CALLS) });
  const [row] = await database.db.execute<{ last: string }>(sql`select max(seq) as last from log_batches`);
  await advanceSink(database.db, STORE, Number(row?.last));
}

beforeAll(async () => {
  const kind = TEST_DATABASES[0];
  if (kind === undefined) throw new Error('no database');
  database = await kind.openOwn();
  const { db } = database;
  chdb = await openChdb();
  await migrateClickHouse(chdb);
  projectId = (await projectRows.create(db, { name: 'older' })).id;
  records = makeRecords();
  await addSinks(db, [STORE]);
  await openRun(db, { projectId, runId: 'run-1', apiKeyId: records[0]?.apiKeyId ?? '', budgetNanoUsd: 1 });
  await store(records);
  calls = makeCalls();
  await store(calls);
  await copy();
  const open = async () => {
    if (isAway) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    return chdb;
  };
  attachLogEngine(db, createLogEngine({ db, store: STORE, open }));
}, 240_000);
afterAll(async () => {
  await chdb?.close();
  await database?.close();
});

const SIDES: readonly TableSide[] = ['project', 'key', 'model', 'provider', 'customer', 'modality'];
const range = { fromMs: nowMs - 7 * DAY_MS + 1234, toMs: nowMs - 7 * HOUR_MS - 77, nowMs };
/** Its ends are not those of hours, so that roll-ups need rows at both. */
const older = { fromMs: nowMs - 6 * DAY_MS + 1234, toMs: nowMs - 5 * DAY_MS - 77, nowMs };
const ordered = <T>(list: readonly T[]) => list.map((one) => JSON.stringify(one)).sort();

const SWITCH = { originalProvider: 'alpha', originalModel: 'm', fallbackProvider: 'beta', fallbackModel: 'm' };
const FILTERS: Readonly<Record<string, LogFilter>> = {
  ...{ all: {}, left: { failoverFrom: 'alpha' }, sent: { sentTo: { provider: 'alpha' } } },
  failed: { failedAt: { provider: 'beta' } },
  ...{ switched: { switched: SWITCH }, both: { switched: SWITCH, sentTo: { provider: 'beta' } } },
  model: { answeringModel: 'model-1' },
};

const CALL_FILTERS: Readonly<Record<string, ToolCallFilter>> = {
  ...{ all: {}, server: { server: 'server-1' }, tool: { tool: "tool'1" }, failed: { isError: true } },
  ...{ error: { status: 'error' }, customer: { customerId: 'customer-3' }, run: { runId: 'run-1' } },
  ...{ trace: { traceId: 'a'.repeat(32) }, both: { server: 'server-0', isError: false } },
};

/** Page by page. */
async function listCalls(filter: ToolCallFilter): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < 60; page++) {
    const { data, nextCursor, partialFromMs } = await listToolCalls(
      database.db,
      { projectId, ...filter },
      { limit: 37, ...(cursor === undefined ? {} : { cursor }) },
      nowMs,
    );
    expect(partialFromMs).toBeUndefined();
    found.push(...data);
    if (nextCursor === null) break;
    cursor = nextCursor;
  }
  return found;
}

/** Every question about tool calls. */
async function askOfCalls(): Promise<Record<string, unknown>> {
  const { db } = database;
  const answers: Record<string, unknown> = {};
  const inHour = { fromMs: older.fromMs + 7 * 60_000, toMs: older.fromMs + 50 * 60_000, nowMs };
  for (const [name, asked] of Object.entries({ range, older, inHour })) {
    const query = { ...asked, projectId };
    for (const groupBy of [...TOOL_GROUPS, undefined]) {
      const by = groupBy === undefined ? {} : { groupBy };
      answers[`${name} tools by ${groupBy}`] = await loadToolStats(db, { ...query, ...by });
      answers[`${name} tools hourly by ${groupBy}`] = await loadToolStats(db, { ...query, ...by, intervalMs: HOUR_MS });
      answers[`${name} top tools by ${groupBy}`] = await loadToolStats(db, { ...query, ...by, top: 1 });
    }
    const narrow = { server: 'server-1', tool: "tool'1", status: 'success', groupBy: 'key' } as const;
    answers[`${name} tools of one`] = await loadToolStats(db, { ...query, ...narrow });
    answers[`${name} guardrails of all`] = await loadGuardrailStats(db, { ...query, groupBy: 'side' });
    const { fromMs, toMs } = asked;
    for (const [kind, more] of Object.entries(CALL_FILTERS)) {
      answers[`${name} calls ${kind}`] = await listCalls({ ...more, fromMs, toMs });
    }
  }
  for (const [kind, more] of Object.entries(CALL_FILTERS)) answers[`calls ${kind}`] = await listCalls(more);
  for (const { id } of [calls[3], calls[390]] as ToolCallRecord[]) {
    answers[`call ${id}`] = [await getToolCall(db, id), await findOwnersOfRow(db, 'request', id)];
    answers[`list of ${id}`] = await listCalls({ requestId: id });
  }
  const run = { projectId, runId: 'run-2' };
  answers.callUsage = await loadRunUsage(db, run, await rowsBefore(db));
  answers.callItems = await listRunItems(db, run, 400);
  answers.callProject = await findRunProject(db, 'run-2');
  return answers;
}

/** What a new budget would begin with; nothing stays. */
async function fillOnce(): Promise<unknown> {
  const budget = { projectId, label: 'team', value: 't0' };
  const sums = await readOlderSpend(database.db, budget, nowMs);
  let filled: unknown;
  await database.db
    .transaction(async (tx) => {
      const id = crypto.randomUUID();
      await tx.execute(sql`insert into label_budgets (id, project_id, label, value, daily_usd)
        values (${id}::uuid, ${projectId}::uuid, 'team', 't0', 1)`);
      await fillLabelSpend(tx, { id, ...budget }, { nowMs, older: sums });
      filled = await tx.execute(sql`select date::text, spent_usd from label_spend order by 1`);
      throw new Error('back');
    })
    .catch((error: Error) => {
      if (error.message !== 'back') throw error;
    });
  return filled;
}

async function askEverything(): Promise<Record<string, unknown>> {
  const { db } = database;
  const answers: Record<string, unknown> = {};
  for (const [name, asked] of [
    ['range', range],
    ['older', older],
  ] as const) {
    const query = { ...asked, projectId };
    for (const rows of SIDES)
      for (const columns of SIDES) {
        const { cells } = await loadSpendTable(db, { ...query, rows, columns, top: 2 });
        answers[`${name} ${rows} ${columns}`] = ordered(cells);
      }
    answers[`${name} flows`] = await loadFlows(db, query);
    answers[`${name} sampled flows`] = await loadFlows(db, { ...query, mostRows: 40 });
    const region = { fromMs: asked.fromMs + HOUR_MS, toMs: asked.fromMs + 9 * HOUR_MS, minMs: 50, maxMs: 400 };
    answers[`${name} differences`] = await loadDifferences(db, { ...query, metric: 'latency', region });
    answers[`${name} health`] = await loadProviderHealth(db, query);
    answers[`${name} hourly health`] = await loadProviderHealth(db, { ...query, intervalMs: HOUR_MS });
    answers[`${name} guardrails`] = await loadGuardrailStats(db, { ...query, groupBy: 'rule' });
    answers[`${name} hits`] = await listGuardrailHits(db, { ...query, limit: 100 });
    answers[`${name} hit count`] = await countGuardrailHits(db, query);
    answers[`${name} speeds`] = await loadSpeeds(db, { fromMs: asked.fromMs, toMs: asked.toMs, projectId });
    answers[`${name} minutes`] = await loadMinutes(db, { ...query, customerId: 'customer-1' }, true);
    answers[`${name} overview`] = await loadOverview(db, query);
    answers[`${name} buckets`] = await loadBuckets(db, { ...query, groupBy: 'label.team', withDurations: true });
    for (const by of ['model', 'team', 'label.team'] as const) {
      const filter = { projectId, labels: { team: 't0' } };
      const bounds = [asked.fromMs + DAY_MS / 2];
      const found = await loadAmountsOfRows(db, { ...asked, bounds }, { by, filter });
      answers[`${name} amounts by ${by}`] = found.map(({ amounts, ...one }) => ({ ...one, amounts: ordered(amounts) }));
      answers[`${name} estimated by ${by}`] = ordered(await loadEstimated(db, asked, { by, filter }));
    }
    answers[`${name} amounts`] = ordered(
      await loadAmounts(db, splitRange(query), { by: 'key', filter: { projectId } }),
    );
    answers[`${name} customers`] = await loadCustomerAmounts(db, [{ source: 'rows', ...asked }], projectId);
    for (const [kind, more] of Object.entries(FILTERS)) {
      const filter = { projectId, fromMs: asked.fromMs, toMs: asked.toMs, ...more };
      answers[`${name} rows ${kind}`] = (await searchLogs(db, filter, { limit: 400 }, nowMs)).data;
      answers[`${name} dearest ${kind}`] = await searchLogs(db, filter, { limit: 9, sort: '-cost_usd' }, nowMs);
      answers[`${name} count ${kind}`] = await countRows(db, { filter, nowMs });
      answers[`${name} tally ${kind}`] = await tallyLogs(db, { filter, intervalMs: HOUR_MS, nowMs });
      answers[`${name} number ${kind}`] = await countLogs(db, filter);
    }
  }
  Object.assign(answers, await askOfCalls());
  const run = { projectId, runId: 'run-1' };
  answers.usage = await loadRunUsage(db, run, await rowsBefore(db));
  answers.items = await listRunItems(db, run, 13);
  answers.runProject = await findRunProject(db, 'run-1');
  answers.runBudget = await sumBudget(db, {
    ...{ projectId, fromMs: 0, toMs: nowMs + DAY_MS, except: [] },
    owner: { scope: 'run', runId: 'run-1' },
  });
  answers.label = await fillOnce();
  answers.months = await sumMonths(db, { fromMonth: '2030-02', source: 'rows' });
  answers.whole = await wholeRangeOf(db, { projectId }, nowMs);
  for (const { id } of [records[3], records[450]] as LogRecord[]) {
    answers[id] = [await getLogByRequestId(db, id), await findOwnersOfRow(db, 'request', id)];
  }
  return answers;
}

/** What the copy of a day ends with. */
async function compareDays(): Promise<void> {
  const { db } = database;
  await noteComplete(db, STORE, nowMs);
  const ask = askOfClient(async () => chdb);
  for (const table of LOG_TABLES)
    for (const { day } of await listPartitions(db, table.name)) {
      const fromMs = Date.parse(day);
      const stretch = { fromMs, toMs: fromMs + DAY_MS };
      if (stretch.toMs > nowMs) continue;
      const sums = await sumRows(db, stretch, { table });
      expect(await sumRowsElsewhere(ask, stretch, { table })).toEqual(sums);
      await noteComparedDay(db, STORE, { day, sums, table });
    }
}

const drop = async (atMs: number, table = REQUESTS) => {
  const floor = await raiseLogFloor(database.db, { store: STORE, beforeMs: nowMs - 3 * DAY_MS, nowMs: atMs, table });
  if (floor === null) throw new Error('no floor');
  return dropBelowFloor(database.db, floor, { nowMs: atMs + 11 * 60_000, table });
};
/** Readers look once a second. */
const look = () => Bun.sleep(1100);

test('every reader answers as before', async () => {
  const { db } = database;
  const expected = await askEverything();
  const expectSame = async () => {
    await look();
    const found = await askEverything();
    for (const [name, answer] of Object.entries(expected)) expect({ [name]: found[name] }).toEqual({ [name]: answer });
    expect(Object.keys(found).length).toBeGreaterThan(150);
  };
  await compareDays();
  const days = ['2030-02-12', '2030-02-13', '2030-02-14', '2030-02-15', '2030-02-16'];
  expect(await drop(nowMs)).toEqual(days);
  await expectSame();
  // Told, and not yet dropped.
  await raiseLogFloor(db, { store: STORE, beforeMs: nowMs - 3 * DAY_MS, nowMs, table: CALLS });
  await expectSame();
  expect(await drop(nowMs, CALLS)).toEqual(days);
  await expectSame();
  const { floor, callFloor } = await readEngineState(db, STORE);
  expect([floor?.ms, callFloor?.ms]).toEqual([Date.parse('2030-02-17'), Date.parse('2030-02-17')]);
}, 600_000);

test('a late row of a dropped day is found, and goes the same way', async () => {
  const { db } = database;
  const late = sampleRecord({ projectId, createdAtMs: nowMs - 6 * DAY_MS, runId: 'run-1', costNanoUsd: 1_000_000_000 });
  const budget = () =>
    sumBudget(db, {
      ...{ projectId, fromMs: 0, toMs: nowMs + DAY_MS, except: [] },
      owner: { scope: 'run', runId: 'run-1' },
    });
  const before = await budget();
  await store([late]);
  expect(await budget()).toBe(before + 1_000_000_000);
  // No store has its batch yet.
  expect(await drop(nowMs)).toEqual([]);
  await copy();
  expect(await drop(nowMs)).toEqual(['2030-02-14']);
  expect(await budget()).toBe(before + 1_000_000_000);
  expect((await getLogByRequestId(db, late.id))?.costNanoUsd).toBe(1_000_000_000);
});

test('a record of a dropped day that comes again changes nothing, and a correction changes its row', async () => {
  const { db } = database;
  const [old, other] = records.slice(460, 480).filter(({ runId }) => runId === undefined);
  const ofRun = records[460];
  const [call, callOfRun] = [calls[302], calls[390]];
  if (old === undefined || other === undefined || ofRun?.runId === undefined) throw new Error('no rows');
  if (call === undefined || callOfRun?.runId !== 'run-1') throw new Error('no calls');
  const sums = async () => {
    const [rows] = await sumMonths(db, { fromMonth: '2030-02', source: 'rows' });
    const [rollups] = await sumMonths(db, { fromMonth: '2030-02', source: 'rollups' });
    return { rows: rows?.spentNanoUsd, rollups: rollups?.spentNanoUsd };
  };
  const before = await sums();
  expect(before.rows).toBe(before.rollups);
  await store([old, other, ofRun, call, callOfRun]);
  expect(await sums()).toEqual(before);
  isAway = true;
  await expect(store([old])).rejects.toBeInstanceOf(EngineAwayError);
  await expect(store([call])).rejects.toBeInstanceOf(EngineAwayError);
  isAway = false;
  const corrected = [old, ofRun, call, callOfRun].map((one) => ({
    ...one,
    corrects: true,
    costNanoUsd: one.costNanoUsd + 77,
  }));
  await store(corrected);
  await copy();
  expect((await drop(nowMs)).length).toBeGreaterThan(0);
  expect((await drop(nowMs, CALLS)).length).toBeGreaterThan(0);
  const after = await sums();
  expect(after).toEqual({ rows: (before.rows ?? 0) + 308, rollups: (before.rollups ?? 0) + 308 });
  expect((await getToolCall(db, call.id))?.costNanoUsd).toBe(call.costNanoUsd + 77);
  expect((await getLogByRequestId(db, old.id))?.costNanoUsd).toBe(old.costNanoUsd + 77);
  const run = { projectId, runId: 'run-1' };
  const budget = await sumBudget(db, {
    ...{ projectId, fromMs: 0, toMs: nowMs + DAY_MS, except: [] },
    owner: { scope: 'run', runId: 'run-1' },
  });
  expect(budget).toBe((await loadRunUsage(db, run, await rowsBefore(db))).spentNanoUsd);
}, 60_000);

test('without ClickHouse, roll-ups answer in whole hours, lists are partial, and all else is refused', async () => {
  const { db } = database;
  isAway = true;
  const query = { ...range, projectId };
  const money = (await loadOverview(db, query)).costNanoUsd;
  const whole = { ...query, fromMs: Math.floor(query.fromMs / HOUR_MS) * HOUR_MS };
  isAway = false;
  expect(money).toBe((await loadOverview(db, whole)).costNanoUsd);
  isAway = true;
  const filter = { projectId };
  const { data, partialFromMs, nextCursor } = await searchLogs(db, filter, { limit: 500 }, nowMs);
  expect(partialFromMs).toBe(Date.parse('2030-02-17'));
  expect(data.length).toBe(records.filter(({ createdAtMs }) => createdAtMs >= (partialFromMs ?? 0)).length);
  expect((await countRows(db, { filter, nowMs })).partialFromMs).toBe(partialFromMs);
  const some = await listToolCalls(db, { projectId }, { limit: 900 }, nowMs);
  expect(some.partialFromMs).toBe(Date.parse('2030-02-17'));
  expect(some.data.length).toBe(calls.filter(({ createdAtMs }) => createdAtMs >= (partialFromMs ?? 0)).length);
  const last = { limit: 900, cursor: some.nextCursor ?? '' };
  await expect(listToolCalls(db, { projectId }, last, nowMs)).rejects.toBeInstanceOf(EngineAwayError);
  await expect(getToolCall(db, calls[390]?.id ?? '')).rejects.toBeInstanceOf(EngineAwayError);
  await expect(loadFlows(db, query)).rejects.toBeInstanceOf(EngineAwayError);
  await expect(getLogByRequestId(db, records[450]?.id ?? '')).rejects.toBeInstanceOf(EngineAwayError);
  // What Postgres has needs no other store.
  expect((await loadFlows(db, { ...query, fromMs: nowMs - DAY_MS })).requests).toBeGreaterThan(0);
  isAway = false;
  const rest = await searchLogs(db, filter, { limit: 500, cursor: nextCursor ?? '' }, nowMs);
  expect(data.length + rest.data.length).toBe(501);
  expect(some.data.length + (await listToolCalls(db, { projectId }, last, nowMs)).data.length).toBe(calls.length);
});

test('rows that another address has are asked of nobody', async () => {
  const { db } = database;
  attachLogEngine(db, createLogEngine({ db, store: 'clickhouse://other:8123/llm0', open: async () => chdb }));
  await expect(loadFlows(db, { ...range, projectId })).rejects.toThrow(STORE);
});
