// ClickHouse is played here; `older-rows.nightly.test.ts` asks a real one.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import { sampleCall } from '@llm0/testing/stores/sample-call';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../client';
import { gatewayLogs } from '../../schema/gateway-logs';
import { toolCalls } from '../../schema/tool-calls';
import { countGuardrailHits, loadGuardrailStats } from '../guardrails/guardrail-stats';
import { instant } from '../instant';
import { loadRunUsage } from '../limits/runs';
import { insertLogRecords, storeLogRecords } from '../logs/log-insert';
import { getLogByRequestId, searchLogs } from '../logs/search-logs';
import { countRows } from '../logs/tally-logs';
import { loadFlows } from '../stats/read/flows';
import { loadOverview } from '../stats/read/load-stats';
import { SUM_COLUMNS } from '../stats/read/questions';
import { sumMonths } from '../stats/read/spend-sums';
import { loadSpendTable } from '../stats/read/spend-table';
import type { Ask } from '../stats/read/time-limit';
import { EngineAwayError, renderForClickHouse } from './ask-clickhouse';
import { attachLogEngine, rowsBefore } from './log-engine';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const nowMs = Date.parse('2030-02-20T15:30:00Z');
const floorMs = Date.parse('2030-02-17');

describe.each(TEST_DATABASES)('rows that $name no longer has', (kind) => {
  let database: Database;
  let answer: readonly object[] | undefined;
  const asked: string[] = [];
  const projectId = crypto.randomUUID();
  const range = { fromMs: nowMs - 6 * DAY_MS + 1234, toMs: nowMs, nowMs, projectId };

  beforeAll(async () => {
    database = await kind.openOwn();
    const recent = [1, 2, 3].map((hours) => sampleRecord({ projectId, createdAtMs: nowMs - hours * HOUR_MS }));
    await insertLogRecords(database.db, recent);
    const ask: Ask = async <T extends Record<string, unknown>>(query: SQL) => {
      asked.push(renderForClickHouse(query));
      if (answer === undefined) throw new EngineAwayError('connect ECONNREFUSED');
      return answer as readonly T[];
    };
    attachLogEngine(database.db, { store: 'test', ask, splitMs: async () => 0, floorMs: async () => floorMs });
  }, 120_000);
  afterAll(() => database?.close());

  test('their sums of ClickHouse are added', async () => {
    const { db } = database;
    const none = Object.fromEntries(SUM_COLUMNS.map((name) => [name, '0']));
    const pair = { row_name: 'text', column_name: '', requests: '7', cost_usd: '1.5' };
    // The dearest groups come first, then their pairs.
    answer = [{ ...none, start_ms: '0', grp: '', ...pair }];
    const table = await loadSpendTable(db, { ...range, rows: 'modality', columns: 'customer', top: 3 });
    expect(asked.at(-1)).toContain(`created_at < fromUnixTimestamp64Milli(${floorMs})`);
    expect(table.cells.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0)).toBe(1_500_000_000 + 3 * 12_345);
    const flow = { project_id: projectId, requested_model: 'old', provider: 'beta', is_cached: false };
    answer = [{ ...flow, outcome: 'success', n: '5' }];
    const { requests, flows } = await loadFlows(db, range);
    expect([requests, flows.map(({ provider }) => provider)]).toEqual([8, ['beta', 'alpha']]);
  });

  test('without ClickHouse, whole hours of roll-ups and the last days answer', async () => {
    const { db } = database;
    answer = undefined;
    expect((await loadOverview(db, range)).requests).toBe(3);
    const filter = { projectId };
    const page = await searchLogs(db, filter, { limit: 10 }, nowMs);
    expect([page.data.length, page.partialFromMs]).toEqual([3, floorMs]);
    expect(await countRows(db, { filter, nowMs })).toEqual({ rows: 3, partialFromMs: floorMs });
    await expect(searchLogs(db, filter, { limit: 10, sort: 'created_at' }, nowMs)).rejects.toThrow(EngineAwayError);
    await expect(searchLogs(db, filter, { limit: 10, cursor: page.nextCursor ?? '' }, nowMs)).rejects.toThrow(
      EngineAwayError,
    );
    await expect(loadFlows(db, range)).rejects.toThrow(EngineAwayError);
    await expect(getLogByRequestId(db, Bun.randomUUIDv7())).rejects.toThrow(EngineAwayError);
    expect((await loadFlows(db, { ...range, fromMs: floorMs })).requests).toBe(3);
  });

  test('their records are stored once, after ClickHouse told that it has none', async () => {
    const { db } = database;
    const late = sampleRecord({ projectId, createdAtMs: floorMs - DAY_MS });
    answer = undefined;
    await expect(insertLogRecords(db, [late])).rejects.toThrow(EngineAwayError);
    const empty = Object.values(getTableColumns(gatewayLogs)).map(({ name }) => [name, null]);
    const row = { ...Object.fromEntries(empty), id: late.id, created_at: late.createdAtMs };
    answer = [row];
    expect(await insertLogRecords(db, [late])).toMatchObject({ inserted: 0 });
    answer = [];
    expect(await insertLogRecords(db, [late])).toMatchObject({ inserted: 1 });
    expect(await insertLogRecords(db, [late])).toMatchObject({ inserted: 0 });
  });

  test('so are calls of tools, and a correction takes the old one back', async () => {
    const ask: Ask = async <T extends Record<string, unknown>>() => {
      if (answer === undefined) throw new EngineAwayError('connect ECONNREFUSED');
      return answer as readonly T[];
    };
    const other = await kind.openOwn();
    const floors = { floorMs: async () => floorMs, callsFloorMs: async () => floorMs };
    attachLogEngine(other.db, { store: 'test', ask, splitMs: async () => 0, ...floors });
    const late = sampleCall({ projectId, createdAtMs: floorMs - DAY_MS, labels: { a: 'b' } });
    const store = (record: ToolCallRecord) => storeLogRecords(other.db, [JSON.stringify(record)]);
    answer = undefined;
    await expect(store(late)).rejects.toThrow(EngineAwayError);
    await store(sampleCall({ projectId, createdAtMs: floorMs }));
    const empty = Object.values(getTableColumns(toolCalls)).map(({ name }) => [name, null]);
    const { id, createdAtMs, apiKeyId, server, tool } = late;
    const row = {
      ...Object.fromEntries(empty),
      id,
      created_at: createdAtMs,
      project_id: projectId,
      api_key_id: apiKeyId,
    };
    answer = [{ ...row, run_id: 'run-1', server, tool, status: 'success', latency_ms: 1, cost_usd: '3', bytes_in: 1 }];
    expect(await store(late)).toEqual({ inserted: 0, corrected: 0 });
    expect(await store({ ...late, corrects: true, costNanoUsd: 5 })).toEqual({ inserted: 0, corrected: 1 });
    const [sum] = await other.db.execute<{ nano: number }>(
      sql`select round(sum(cost_usd) * 1e9)::float8 as nano from rollup_day where bucket < ${instant(floorMs)}`,
    );
    expect(sum?.nano).toBe(5 - 3_000_000_000);
    answer = [];
    expect(await store({ ...late, id: Bun.randomUUIDv7() })).toMatchObject({ inserted: 1 });
    await other.close();
  });

  test('a row that waits to be dropped counts once', async () => {
    const { db } = database;
    answer = [];
    await insertLogRecords(db, [sampleRecord({ projectId, createdAtMs: floorMs - HOUR_MS, runId: 'old' })]);
    answer = [{ project_id: projectId, ms: floorMs - DAY_MS, cost_usd: '1' }];
    const [month] = await sumMonths(db, { projectId, fromMonth: '2030-02', source: 'rows' });
    expect(month?.spentNanoUsd).toBe(1_000_000_000 + 3 * 12_345);
    answer = [{ type: 'request', cost_usd: '2', n: '1', first_ms: floorMs - HOUR_MS, last_ms: floorMs - HOUR_MS }];
    const usage = await loadRunUsage(db, { projectId, runId: 'old' }, await rowsBefore(db));
    expect([usage.requests, usage.spentNanoUsd]).toEqual([1, 2_000_000_000]);
  });

  test('a finding of a row that waits to be dropped counts once', async () => {
    const { db } = database;
    answer = [];
    const found = { rule: 'r', on: 'input', check: 'pii', action: 'flag', count: 2, ms: 1 } as const;
    const createdAtMs = floorMs - 2 * HOUR_MS;
    await insertLogRecords(db, [sampleRecord({ projectId, createdAtMs, guardrails: [found as never] })]);
    const mark = {
      rule: 'r',
      side: 'input',
      check_type: 'pii',
      action: 'flag',
      outcome: 'done',
      matches: '2',
      took_ms: 1,
    };
    answer = [{ ...mark, ms: createdAtMs, project_id: projectId }];
    const hits = { fromMs: createdAtMs - HOUR_MS, toMs: nowMs, projectId };
    expect(await countGuardrailHits(db, hits)).toBe(1);
    const asked = { ...hits, fromMs: createdAtMs - 60_000, toMs: createdAtMs + 60_000, nowMs };
    expect(await loadGuardrailStats(db, asked)).toMatchObject([{ requests: 1, matches: 2 }]);
  });
});
