import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { RecordsRejectedError } from '@llm0/core/logs/decode-log-record';
import { writeInHalves } from '@llm0/core/logs/in-halves';
import { runs } from '@llm0/testing/lane';
import { sampleCall } from '@llm0/testing/stores/sample-call';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { eq, sql } from 'drizzle-orm';
import fc from 'fast-check';
import type { Database, Db } from '../../client';
import { nanoFromUsd } from '../../money';
import { gatewayLogs } from '../../schema/gateway-logs';
import { toolCalls } from '../../schema/tool-calls';
import { loadKeyUsage } from '../access/key-usage';
import { reconcileLedger } from '../limits/reconcile';
import { findLostRequests, findStoredRequests } from '../log-lines/stored-requests';
import { storeLogRecords } from '../logs/log-insert';
import { dropPartitionsBefore, listPartitions } from '../logs/partitions';
import { loadOverview } from '../stats/read/load-stats';
import { loadSpend, sumMonths } from '../stats/read/spend-sums';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MONTH_START_MS = Date.parse('2026-05-01T00:00:00Z');

describe.each(TEST_DATABASES)('tool calls in the log insert on $name', (kind) => {
  let database: Database;
  let db: Db;
  beforeAll(async () => {
    database = await kind.open();
    db = database.db;
  }, 60_000);
  afterAll(() => database.close());

  const store = (...records: readonly object[]) =>
    storeLogRecords(
      db,
      records.map((record) => JSON.stringify(record)),
    );
  const rowsOf = (projectId: string) => db.select().from(toolCalls).where(eq(toolCalls.projectId, projectId));
  const rolledUp = async (table: 'rollup_tool_hour' | 'rollup_tool_day', projectId: string) => {
    const rows = await db.execute<Record<string, string>>(sql`
      select server, tool, status, calls::int, errors::int, bytes_in::int, bytes_out::int, cost_usd
      from ${sql.identifier(table)} where project_id = ${projectId}::uuid order by server, tool, status`);
    return rows.map((row) => ({ ...row, cost_usd: nanoFromUsd(String(row.cost_usd)) }));
  };

  test('a record comes back with every field', async () => {
    const record = sampleCall({
      projectId: crypto.randomUUID(),
      createdAtMs: Date.parse('2026-03-01T23:59:59.987Z'),
      customerId: "o'brien \u{1f600}",
      clientRequestId: 'client-1',
      labels: { team: 'a"b' },
      status: 'error',
      isError: true,
      errorCode: 'rpc_-32603',
      errorMessage: 'it "failed"\n\\',
      traceId: '0af7651916cd43dd8448eb211c80319c',
      bytesIn: 9_007_199_254_740_991,
      guardrails: [
        { rule: 'r', on: 'input', part: 'tool_arguments', check: 'pii', action: 'redact', count: 2, ms: 0.5 },
      ],
    });
    expect(await store(record)).toEqual({ inserted: 1, corrected: 0 });
    const { kind: _, durationMs, ...fields } = record;
    expect(await rowsOf(record.projectId)).toEqual([
      { ...fields, requestId: record.id, latencyMs: durationMs } as never,
    ]);
  });

  test('missing fields are null, and invalid text is repaired for Postgres', async () => {
    const record = sampleCall({
      projectId: crypto.randomUUID(),
      createdAtMs: MONTH_START_MS + 0.75,
      tool: 'a\0b\ud800',
    });
    await store(record);
    const [row] = await rowsOf(record.projectId);
    expect(row).toMatchObject({ tool: 'ab\ufffd', customerId: null, errorCode: null, createdAtMs: MONTH_START_MS });
  });

  test('a batch of requests and calls, handed in twice, is one row each', async () => {
    const projectId = crypto.randomUUID();
    const call = sampleCall({ projectId, createdAtMs: MONTH_START_MS });
    const request = sampleRecord({ projectId, createdAtMs: MONTH_START_MS });
    expect(await store(call, request, call)).toEqual({ inserted: 2, corrected: 0 });
    expect(await store(request, call)).toEqual({ inserted: 0, corrected: 0 });
    expect(await rowsOf(projectId)).toHaveLength(1);
    expect(await db.select().from(gatewayLogs).where(eq(gatewayLogs.projectId, projectId))).toHaveLength(1);
    const expected = { server: 'github', tool: 'create_issue', status: 'success', calls: 1, errors: 0 };
    const all = [{ ...expected, bytes_in: 100, bytes_out: 2000, cost_usd: 1_000_001 }];
    expect(await rolledUp('rollup_tool_hour', projectId)).toEqual(all as never);
    expect(await rolledUp('rollup_tool_day', projectId)).toEqual(all as never);
  });

  test.each([
    ['id', 'x'],
    ['serverId', 'x'],
    ['costNanoUsd', 0.5],
    ['costNanoUsd', -1],
    ['bytesOut', null],
    ['status', 'odd'],
    ['isError', 1],
    ['createdAtMs', 0],
    ['kind', 'other'],
    ['runId', undefined],
  ])('a bad record (%s = %p) is rejected by name and keeps no neighbour out', async (field, value) => {
    const projectId = crypto.randomUUID();
    const bad = { ...sampleCall({ projectId, createdAtMs: MONTH_START_MS }), [field]: value };
    const call = sampleCall({ projectId, createdAtMs: MONTH_START_MS });
    const request = sampleRecord({ projectId, createdAtMs: MONTH_START_MS });
    await expect(store(bad)).rejects.toThrow(RecordsRejectedError);
    await expect(store(bad)).rejects.toThrow(field);
    const rejected: unknown[] = [];
    const write = async (some: readonly object[]) => void (await store(...some));
    await writeInHalves([request, bad, call], write, (one) => void rejected.push(one));
    expect(rejected).toEqual([bad]);
    expect(await rowsOf(projectId)).toHaveLength(1);
    expect(await db.select().from(gatewayLogs).where(eq(gatewayLogs.projectId, projectId))).toHaveLength(1);
  });

  test("the late settlement of a call replaces the reaper's row once, and all sums with it", async () => {
    const [projectId, apiKeyId] = [crypto.randomUUID(), crypto.randomUUID()];
    const at = { id: Bun.randomUUIDv7(), projectId, apiKeyId, createdAtMs: MONTH_START_MS, customerId: 'c' };
    const lost = sampleCall({ ...at, status: 'error', isError: true, errorCode: 'gateway_lost', bytesOut: 0 });
    await store(lost);
    expect(await findLostRequests(db, [lost])).toEqual(
      new Map([[lost.id, { costNanoUsd: lost.costNanoUsd, createdAtMs: MONTH_START_MS }]]),
    );
    const late = { ...sampleCall({ ...at, costNanoUsd: 0, status: 'success' }), corrects: true };
    expect(await store(late)).toEqual({ inserted: 0, corrected: 1 });
    expect(await store(late, lost)).toEqual({ inserted: 0, corrected: 1 });
    expect(await rowsOf(projectId)).toMatchObject([{ status: 'success', costNanoUsd: 0 }]);
    expect(await rolledUp('rollup_tool_day', projectId)).toMatchObject([{ status: 'success', calls: 1, cost_usd: 0 }]);
    expect(await sumMonths(db, { projectId, fromMonth: '2026-05', source: 'rollups' })).toEqual([]);
    expect(await findLostRequests(db, [lost])).toEqual(new Map());
  });

  test('calls that have a row are found', async () => {
    const [call, request, other] = [sampleCall(), sampleRecord(), sampleCall()];
    await store(call, request);
    expect(await findStoredRequests(db, [call, request, other])).toEqual(new Set([call.id, request.id]));
  });

  test('calls of tools that were not found count without the names that callers invented', async () => {
    const projectId = crypto.randomUUID();
    const refused = { projectId, createdAtMs: MONTH_START_MS, status: 'error', isError: true, costNanoUsd: 0 } as const;
    await store(
      sampleCall({ ...refused, tool: 'invented-1', errorCode: 'not_found' }),
      sampleCall({ ...refused, tool: 'invented-2', errorCode: 'not_found' }),
      sampleCall({ ...refused, errorCode: 'upstream_timeout' }),
    );
    expect(await rolledUp('rollup_tool_hour', projectId)).toMatchObject([
      { tool: '', calls: 2, errors: 2 },
      { tool: 'create_issue', calls: 1, errors: 1 },
    ]);
  });

  test('partitions of both logs are made and dropped together', async () => {
    const createdAtMs = Date.parse('2021-06-15T12:00:00Z');
    await store(sampleCall({ createdAtMs }));
    const daysOf = async (table: 'gateway_logs' | 'tool_calls') =>
      (await listPartitions(db, table)).map(({ day }) => day).filter((day) => day < '2022');
    expect(await daysOf('tool_calls')).toEqual(['2021-06-15']);
    expect(await daysOf('gateway_logs')).toEqual(['2021-06-15']);
    expect(await dropPartitionsBefore(db, createdAtMs + DAY_MS)).toEqual(['2021-06-15']);
    expect(await daysOf('tool_calls')).toEqual([]);
    // The day is known to this process and gone: the insert makes it anew.
    expect(await store(sampleCall({ createdAtMs }))).toEqual({ inserted: 1, corrected: 0 });
    await dropPartitionsBefore(db, createdAtMs + DAY_MS);
  });

  /** Requests and calls of two keys and two customers over two days; some handed in twice, or corrected later. */
  const mixes = fc.array(
    fc.record({
      isCall: fc.boolean(),
      key: fc.nat({ max: 1 }),
      customer: fc.option(fc.nat({ max: 1 }), { nil: undefined }),
      atMs: fc.nat({ max: 2 * DAY_MS - 1 }),
      costNanoUsd: fc.nat({ max: 3_000_000_000 }),
      times: fc.integer({ min: 1, max: 3 }),
      correctedTo: fc.option(fc.nat({ max: 2_000_000_000 }), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 25 },
  );

  test('counters rebuilt from the roll-ups are the sum of the rows of both logs, to the nano-dollar', async () => {
    await fc.assert(
      fc.asyncProperty(mixes, async (mix) => {
        const projectId = crypto.randomUUID();
        const keys = [crypto.randomUUID(), crypto.randomUUID()] as const;
        const due: { apiKeyId: string; customerId?: string; costNanoUsd: number; isCall: boolean }[] = [];
        for (const { isCall, key, customer, atMs, costNanoUsd, times, correctedTo } of mix) {
          const apiKeyId = keys[key] ?? keys[0];
          const customerId = customer === undefined ? undefined : `customer-${customer}`;
          const origin = { projectId, apiKeyId, customerId, createdAtMs: MONTH_START_MS + atMs, costNanoUsd };
          const record = isCall ? sampleCall(origin) : sampleRecord(origin);
          for (let i = 0; i < times; i++) await store(record, ...(i === 1 ? [record] : []));
          if (correctedTo !== undefined) await store({ ...record, costNanoUsd: correctedTo, corrects: true });
          due.push({ apiKeyId, customerId, costNanoUsd: correctedTo ?? costNanoUsd, isCall });
        }
        const sumOf = (some: typeof due) => some.reduce((sum, one) => sum + one.costNanoUsd, 0);
        const spent = sumOf(due);
        const nowMs = MONTH_START_MS + DAY_MS;
        const data = await loadSpend(db, nowMs);
        const own = <T extends { projectId: string }>(rows: readonly T[]) =>
          rows.filter((row) => row.projectId === projectId);
        const total = (rows: readonly { spentNanoUsd: number }[]) =>
          rows.reduce((sum, row) => sum + row.spentNanoUsd, 0);
        expect(total(own(data.projectMonths))).toBe(spent);
        for (const keyId of keys) {
          const ofKey = sumOf(due.filter((one) => one.apiKeyId === keyId));
          expect(total(own(data.keyTotals).filter((row) => row.keyId === keyId))).toBe(ofKey);
          expect((await loadKeyUsage(db, [keyId])).get(keyId)?.costNanoUsd ?? 0).toBe(ofKey);
        }
        for (const customerId of ['customer-0', 'customer-1']) {
          const ofCustomer = sumOf(due.filter((one) => one.customerId === customerId));
          expect(total(own(data.customerMonths).filter((row) => row.customerId === customerId))).toBe(ofCustomer);
        }
        const counters = [{ projectId, month: '2026-05', spentNanoUsd: spent, heldNanoUsd: 0 }];
        for (const source of ['rows', 'rollups'] as const) {
          const months = await reconcileLedger(db, { counters, nowMs, projectId, source });
          expect(months.map((month) => month.diffNanoUsd)).toEqual([0]);
        }
        const tools = await rolledUp('rollup_tool_day', projectId);
        expect(tools.reduce((sum, row) => sum + row.cost_usd, 0)).toBe(sumOf(due.filter((one) => one.isCall)));
        // Whole days come from roll-ups, an hour from rows.
        const range = { fromMs: MONTH_START_MS, toMs: MONTH_START_MS + 2 * DAY_MS, nowMs, projectId };
        const overview = await loadOverview(db, range);
        expect(overview.costNanoUsd).toBe(spent);
        expect(overview.requests).toBe(due.filter((one) => !one.isCall).length);
      }),
      { numRuns: runs(30) },
    );
  }, 120_000);

  test('a short range from rows counts the same money and requests as the roll-ups', async () => {
    const projectId = crypto.randomUUID();
    const at = { projectId, createdAtMs: MONTH_START_MS + 60_000 };
    await store(sampleRecord({ ...at, latencyMs: 10 }), sampleCall({ ...at, durationMs: 5000 }), sampleCall(at));
    const nowMs = MONTH_START_MS + DAY_MS;
    const hour = await loadOverview(db, { projectId, nowMs, fromMs: MONTH_START_MS, toMs: MONTH_START_MS + HOUR_MS });
    const day = await loadOverview(db, { projectId, nowMs, fromMs: MONTH_START_MS, toMs: MONTH_START_MS + DAY_MS });
    expect(hour).toEqual(day);
    expect(hour).toMatchObject({ requests: 1, success: 1, costNanoUsd: 12_345 + 2 * 1_000_001 });
    expect(hour.durations.latency.p99).toBeLessThan(11);
  });
});
