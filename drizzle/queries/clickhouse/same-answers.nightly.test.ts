// Whatever is asked, ClickHouse and Postgres together answer as Postgres alone does.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { LogRecord } from '@llm0/core/logs/log-record';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import { openChdb } from '@llm0/testing/clickhouse/open-chdb';
import { sampleCall } from '@llm0/testing/stores/sample-call';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import fc from 'fast-check';
import { migrateClickHouse } from '../../clickhouse/open-clickhouse';
import type { Database } from '../../client';
import { toRowLine } from '../log-lines/row-line';
import { writeLogBodies } from '../logs/log-bodies';
import { listEntries } from '../logs/log-days';
import { insertLogRecords, storeLogRecords } from '../logs/log-insert';
import { readSinkLines } from '../logs/log-sinks';
import { LOG_SORTS } from '../logs/log-sorts';
import type { LogFilter } from '../logs/logs';
import { CALLS } from '../logs/partitions';
import { searchLogs } from '../logs/search-logs';
import { countRows, tallyLogs } from '../logs/tally-logs';
import { loadBuckets, loadHistogram, loadOverview } from '../stats/read/load-stats';
import { type BucketQuery, type GroupBy, METRIC_NAMES, SPEND_SUMS } from '../stats/read/questions';
import type { Ask } from '../stats/read/time-limit';
import type { ToolCallFilter } from '../tool-calls/call-filter';
import { getToolCall, listToolCalls } from '../tool-calls/tool-calls';
import { loadToolStats, TOOL_GROUPS } from '../tool-calls/tool-stats';
import { askOfClient } from './ask-clickhouse';
import { findCall } from './call-rows';
import { findBodies, findRow } from './find-rows';
import { addLabelColumns } from './label-columns';
import { attachLogEngine } from './log-engine';
import { storeLines } from './store-lines';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const nowMs = Date.parse('2030-02-20T15:30:17.123Z');
const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
const projectIds = [crypto.randomUUID(), crypto.randomUUID()] as const;
const STATUSES = ['success', 'success', 'error', 'success', 'aborted', 'rate_limited', 'cap_exceeded'] as const;
const CODES = ['invalid_request', 'upstream_timeout', 'upstream_error'] as const;

const first = Array.from({ length: 600 }, (_, index): LogRecord => {
  // Every seventh time is that of the row before.
  const nth = index % 7 === 1 ? index - 1 : index;
  const agoMs = nth < 200 ? nth * 41_017 : nth * 911_113;
  const status = STATUSES[index % STATUSES.length] ?? 'success';
  const isHit = index % 6 === 0;
  return sampleRecord({
    ...{ projectId: projectIds[index % 2] ?? '', createdAtMs: nowMs - 1 - agoMs, status },
    ...(index % 11 === 0 ? { id: crypto.randomUUID() } : {}),
    apiKeyId: `00000000-0000-4000-8000-00000000000${index % 3}`,
    model: `model-${index % 4}`,
    requestedModel: index % 3 === 0 ? 'Alias_%' : `model-${index % 4}`,
    stream: index % 7 < 4,
    provider: index % 10 === 3 ? undefined : 'alpha',
    finalProvider: index % 10 === 3 ? undefined : index % 5 === 0 ? 'beta' : 'alpha',
    customerId: index % 3 === 0 ? undefined : `customer-${index % 5}'"\\`,
    labels: index % 2 === 0 ? { team: `t${index % 3}`, 'a b': 'c"d' } : undefined,
    costNanoUsd: isHit ? 0 : 1_000_000_007 + index * index * 13,
    savedNanoUsd: isHit ? 500 + index : 0,
    modality: index % 4 === 1 ? 'image' : index % 4 === 2 ? 'batch' : undefined,
    dialect: index % 8 === 3 ? 'openai-embeddings' : 'openai-chat',
    tokensIn: 10 + (index % 50),
    cacheHit: isHit,
    semanticCacheHit: index % 12 === 0,
    similarityScore: index % 12 === 0 ? 0.93 : undefined,
    failoverCount: index % 9 === 0 ? 1 : 0,
    latencyMs: 0.4 + ((index * 7919) % 500) * 1.7,
    overheadMs: 0.1 + (index % 17) / 3,
    upstreamMs: isHit ? undefined : 3 + ((index * 104_729) % 3000),
    ttftMs: index % 4 === 0 ? undefined : 1 + ((index * 31) % 80),
    httpStatus: status === 'success' ? 200 : 429,
    refusedCount: status === 'rate_limited' ? 1 + (index % 3) * 40 : undefined,
    errorCode: status === 'success' || status === 'aborted' ? undefined : CODES[index % CODES.length],
    errorMessage: index % 13 === 0 ? `Says "no"\nand\t\\ more ${index}` : undefined,
    runId: index % 20 === 0 ? 'run-1' : undefined,
    traceId: index % 30 === 0 ? 'a'.repeat(32) : undefined,
    guardrails:
      index % 15 === 0
        ? [{ rule: `r${index % 2}`, on: 'input', check: 'pii', action: 'flag', count: 2, ms: 1.5 }]
        : undefined,
    attempts: [{ provider: 'alpha', model: 'm', outcome: 'ok', startMs: 0.5, latencyMs: 7.25 }],
    droppedParams: index % 25 === 0 ? ['top_k'] : undefined,
    units: index % 4 === 1 ? { images: 2 } : undefined,
  } as Partial<LogRecord>);
});
const corrections = first
  .filter((_, index) => index % 13 === 5)
  .map((record) => ({ ...record, corrects: true as const, costNanoUsd: record.costNanoUsd + 77, latencyMs: 4321 }));

const RULE = { on: 'tool_arguments', check: 'pii', action: 'flag', count: 1, ms: 2 } as const;
const calls = Array.from({ length: 400 }, (_, index): ToolCallRecord => {
  const nth = index % 7 === 1 ? index - 1 : index;
  const errorCode = [undefined, undefined, 'not_found', 'upstream_timeout'][index % 4];
  return sampleCall({
    ...{ projectId: projectIds[index % 2] ?? '', createdAtMs: nowMs - 1 - nth * (nth < 200 ? 61_017 : 611_113) },
    apiKeyId: `00000000-0000-4000-8000-00000000000${index % 3}`,
    ...(index % 13 === 0 ? { id: crypto.randomUUID() } : {}),
    ...{ server: `server-${index % 2}`, tool: `tool'${index % 3}`, runId: `run-${index % 5}` },
    ...{ status: errorCode === undefined ? 'success' : 'error', isError: errorCode !== undefined || index % 9 === 0 },
    ...{ costNanoUsd: index % 3 === 0 ? 0 : 1_000_001 + index, durationMs: 0.2 + ((index * 7919) % 500) * 1.7 },
    ...{ bytesIn: index * 3, bytesOut: 5000 - index },
    ...(errorCode === undefined ? {} : { errorCode, errorMessage: `Says "no"\n${index}` }),
    ...(index % 4 === 0 ? { customerId: `customer-${index % 5}'"\\`, labels: { team: `t${index % 3}` } } : {}),
    ...(index % 6 === 0 ? { traceId: 'a'.repeat(32) } : {}),
    ...(index % 11 === 0 ? { guardrails: [{ rule: `r${index % 2}`, ...RULE }] as never } : {}),
  });
});
const correctedCalls = calls
  .filter((_, index) => index % 13 === 5)
  .map((call) => ({ ...call, corrects: true as const, costNanoUsd: call.costNanoUsd + 77, durationMs: 4321 }));

let database: Database;
let chdb: Awaited<ReturnType<typeof openChdb>>;
/** Where the answer changes over. */
let splitMs = 0;
/** An error of ClickHouse isn't hidden by an answer of Postgres. */
const ask: Ask = async (query) => {
  try {
    return await askOfClient(async () => chdb, ['team'])(query);
  } catch (cause) {
    throw new Error(`ClickHouse did not answer: ${cause}`, { cause });
  }
};

/** Copies all rows, as batch `seq`; every second one as Postgres would have it without rows. */
async function copy(seq: number, records: readonly LogRecord[]): Promise<void> {
  const own = new Map(records.map((record, nth) => [record.id, nth % 2 === 0 ? toRowLine(record) : undefined]));
  const entries = await listEntries(database.db, { fromMs: 0, toMs: nowMs }, { after: undefined, limit: 10_000 });
  const bodies = ['request_body', 'upstream_request_body', 'response_body'] as const;
  const written = await readSinkLines(database.db, entries, bodies);
  // Bodies aren't in lines of their own.
  const lines = written.map((line) => (line.includes('"request_body"') ? line : (own.get(idOf(line)) ?? line)));
  const ofCalls = { after: undefined, limit: 10_000, table: CALLS };
  const callEntries = await listEntries(database.db, { fromMs: 0, toMs: nowMs }, ofCalls);
  const callLines = await readSinkLines(database.db, callEntries, [], CALLS.name);
  await storeLines(chdb, { afterSeq: seq - 1, seq, lines, calls: callLines });
}

const storeCalls = (records: readonly ToolCallRecord[]) =>
  storeLogRecords(
    database.db,
    records.map((one) => JSON.stringify(one)),
  );

const idOf = (line: string): string => (JSON.parse(line) as { readonly id: string }).id;

beforeAll(async () => {
  const kind = TEST_DATABASES[0];
  if (kind === undefined) throw new Error('no database');
  database = await kind.openOwn();
  chdb = await openChdb();
  await migrateClickHouse(chdb);
  await addLabelColumns(chdb, ['team']);
  await insertLogRecords(database.db, first);
  await storeCalls(calls);
  const bodies = first.slice(0, 50).map(({ id: requestId, createdAtMs, projectId }, index) => ({
    ...{ requestId, createdAtMs, projectId, upstreamRequest: '{"up":1}' },
    request: JSON.stringify({ secretkey: `Needle ${index} "quoted" ü`, messages: [{ content: 'a\nb' }] }),
    response: index % 2 === 0 ? null : JSON.stringify({ text: `found.it (${index})`, ok: true }),
  }));
  await writeLogBodies(database.db, bodies);
  await copy(1, first);
  await insertLogRecords(database.db, corrections);
  await storeCalls(correctedCalls);
  await copy(2, [...first, ...corrections]);
  const split = async () => splitMs;
  attachLogEngine(database.db, { store: 'test', ask, splitMs: split, callsSplitMs: split });
}, 240_000);
afterAll(async () => {
  await chdb?.close();
  await database?.close();
});

/** The same question to Postgres alone, to both, and to ClickHouse alone. */
async function expectSame<T>(question: () => Promise<T>, told: (answer: T) => unknown = (answer) => answer) {
  splitMs = 0;
  const expected = told(await question());
  for (const at of [nowMs - 5 * HOUR_MS, nowMs + HOUR_MS]) {
    splitMs = at;
    expect(told(await question())).toEqual(expected as never);
  }
  return expected;
}

const pick = <T>(...values: readonly T[]) => fc.constantFrom(...values);
const oneOrMore = <T>(one: fc.Arbitrary<T>) => fc.uniqueArray(one, { minLength: 1, maxLength: 2 });
const match = {
  projectId: pick<string | readonly string[]>(projectIds[0], projectIds),
  apiKeyId: oneOrMore(pick('00000000-0000-4000-8000-000000000000', '00000000-0000-4000-8000-000000000001')),
  model: oneOrMore(pick('model-0', 'model-1', 'Alias_%')),
  provider: oneOrMore(pick('alpha', 'beta')),
  status: oneOrMore(pick('success', 'error', 'rate_limited')),
  outcome: oneOrMore(pick('error', 'caller_error', 'aborted')),
  httpStatus: oneOrMore(pick('200', '429')),
  errorCode: oneOrMore(pick(...CODES)),
  cache: oneOrMore(pick('exact' as const, 'semantic' as const, 'miss' as const)),
  guardrail: oneOrMore(pick('r0', 'r1')),
  customerId: oneOrMore(pick(`customer-1'"\\`, `customer-2'"\\`)),
  modality: oneOrMore(pick('image', 'text', 'embedding')),
  labels: pick({ team: 't0' }, { team: ['t1', 't2'], 'a b': 'c"d' }, { none: 'x' }),
};
const filters = fc.record(
  {
    ...match,
    not: fc.oneof(...Object.entries(match).map(([name, values]) => values.map((value) => ({ [name]: value })))),
    runId: pick('run-1'),
    traceId: pick('a'.repeat(32)),
    fromMs: pick(nowMs - 3 * DAY_MS, nowMs - 6 * HOUR_MS),
    toMs: pick(nowMs - HOUR_MS, nowMs - 4 * DAY_MS),
    minCostNanoUsd: pick(1_000_000_007, 0),
    latencyOf: pick('ttft' as const, 'latency' as const),
    minLatencyMs: pick(300.4, 20),
    maxLatencyMs: pick(700, 50.1),
    stream: fc.boolean(),
    minTokens: pick(40),
    maxTokens: pick(60),
    q: pick('MODEL-1', 'as_%', 'says "NO"', '\\', 'needle', 'FOUND.it (', 'secretkey', 'a\nb', 'quoted" Ü', 'up'),
    searchesBodies: fc.boolean(),
  },
  { requiredKeys: [] },
);
/** Seldom more than two at once: most rows would be gone. */
const filter = filters.chain((all) =>
  fc.subarray(Object.keys(all), { maxLength: Math.min(3, Object.keys(all).length) }).map((names): LogFilter => {
    const kept = Object.entries(all).filter(([name]) => names.includes(name) || name === 'searchesBodies');
    return Object.fromEntries(kept) as LogFilter;
  }),
);

describe('the log', () => {
  test('finds the same rows in every order, page by page', async () => {
    const question = fc.record({ filter, sort: pick(...LOG_SORTS), limit: pick(3, 40, 1000) });
    await fc.assert(
      fc.asyncProperty(question, async ({ filter, sort, limit }) => {
        await expectSame(async () => {
          const found = [];
          let cursor: string | undefined;
          for (let page = 0; page < 4; page++) {
            const { data, nextCursor, partialFromMs } = await searchLogs(
              database.db,
              filter,
              { limit, cursor, sort },
              nowMs + 60_000,
            );
            expect(partialFromMs).toBeUndefined();
            found.push(...data);
            if (nextCursor === null) break;
            cursor = nextCursor;
          }
          return found;
        });
      }),
      { numRuns: 80, seed },
    );
  }, 300_000);

  test('counts the same', async () => {
    await fc.assert(
      fc.asyncProperty(filter, async (filter) => {
        await expectSame(() => countRows(database.db, { filter, nowMs: nowMs + 60_000 }));
        await expectSame(() => tallyLogs(database.db, { filter, intervalMs: HOUR_MS, nowMs: nowMs + 60_000 }));
      }),
      { numRuns: 60, seed },
    );
  }, 300_000);

  test('shows one request and its bodies', async () => {
    for (const { id } of [first[0], first[11], first[599]] as LogRecord[]) {
      splitMs = 0;
      const [row] = (await searchLogs(database.db, { requestId: id }, { limit: 1 }, nowMs)).data;
      expect(await findRow(ask, id)).toEqual(row ?? null);
    }
    expect(await findRow(ask, Bun.randomUUIDv7())).toBeNull();
    const kept = await findBodies(ask, first[1]?.id ?? '');
    expect(JSON.parse(kept?.request_body ?? '')).toMatchObject({ messages: [{ content: 'a\nb' }] });
    expect(kept?.upstream_request_body).toBe('{"up": 1}');
  });
});

describe('tool calls', () => {
  let mostFound = 0;
  const matches = fc.record(
    {
      projectId: match.projectId,
      apiKeyId: pick('00000000-0000-4000-8000-000000000001'),
      customerId: pick(`customer-4'"\\`),
      server: pick('server-0', 'server-1'),
      tool: pick("tool'1", 'none'),
      status: pick('success', 'error'),
      isError: fc.boolean(),
      runId: pick('run-1', 'run-3'),
      traceId: pick('a'.repeat(32)),
      requestId: pick(calls[5]?.id ?? '', calls[399]?.id ?? ''),
      fromMs: pick(nowMs - 3 * DAY_MS, nowMs - 6 * HOUR_MS),
      toMs: pick(nowMs - HOUR_MS, nowMs - DAY_MS),
    },
    { requiredKeys: [] },
  );
  const some = matches.chain((all) =>
    fc
      .subarray(Object.keys(all), { maxLength: Math.min(2, Object.keys(all).length) })
      .map((names) => Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))),
  );

  test('are found in the same order, page by page', async () => {
    await fc.assert(
      fc.asyncProperty(some, pick(7, 60, 1000), async (filter: ToolCallFilter, limit) => {
        await expectSame(async () => {
          const rows: unknown[] = [];
          let cursor: string | undefined;
          for (let page = 0; page < 4; page++) {
            const at = cursor === undefined ? {} : { cursor };
            const { data, nextCursor, partialFromMs } = await listToolCalls(
              database.db,
              filter,
              { limit, ...at },
              nowMs,
            );
            expect(partialFromMs).toBeUndefined();
            rows.push(...data);
            if (nextCursor === null) break;
            cursor = nextCursor;
          }
          mostFound = Math.max(mostFound, rows.length);
          return rows;
        });
      }),
      { numRuns: 60, seed },
    );
    expect(mostFound).toBeGreaterThan(20);
  }, 300_000);

  test('one call is shown', async () => {
    for (const { id } of [calls[0], calls[13], calls[399]] as ToolCallRecord[]) {
      expect(await findCall(ask, id)).toEqual(await getToolCall(database.db, id));
    }
    expect(await findCall(ask, Bun.randomUUIDv7())).toBeNull();
  });

  test('have the same statistics', async () => {
    const { projectId, apiKeyId, server, tool, status } = {
      ...{ projectId: match.projectId, apiKeyId: pick('00000000-0000-4000-8000-000000000001') },
      ...{ server: pick('server-1'), tool: pick("tool'1", ''), status: pick('success', 'error') },
    };
    const question = fc.record(
      {
        ...{ projectId, apiKeyId, server, tool, status },
        ...{ groupBy: pick(...TOOL_GROUPS), intervalMs: pick(HOUR_MS, DAY_MS, 60_000), top: pick(1, 2) },
        fromMs: pick(nowMs - 40 * 60_000, nowMs - 26 * HOUR_MS - 1234, nowMs - 2 * DAY_MS + 17),
        toMs: pick(nowMs + 1, nowMs - 7 * 60_000 - 11),
      },
      { requiredKeys: ['fromMs', 'toMs'] },
    );
    await fc.assert(
      fc.asyncProperty(question, (asked) =>
        expectSame(() => loadToolStats(database.db, { ...asked, nowMs })).then(() => {}),
      ),
      { numRuns: 80, seed },
    );
  }, 300_000);
});
const GROUPS: readonly GroupBy[] = [
  ...(['project', 'key', 'model', 'provider', 'target', 'customer', 'status', 'outcome', 'cache'] as const),
  ...(['error_code', 'team', 'cost_center', 'modality', 'label.team', 'label.none'] as const),
];

test('statistics are the same', async () => {
  const question = fc.record(
    {
      groupBy: pick(...GROUPS),
      intervalMs: pick(HOUR_MS, DAY_MS, 60_000 * 7),
      top: pick(1, 2),
      projectId: match.projectId,
      apiKeyId: pick('00000000-0000-4000-8000-000000000001'),
      model: pick('model-1'),
      provider: pick('alpha'),
      status: pick('error'),
      outcome: pick('caller_error', 'success'),
      cache: pick('miss', 'exact'),
      customerId: pick(`customer-1'"\\`),
      modality: pick('image', 'text'),
      sums: fc.constant(SPEND_SUMS),
    },
    { requiredKeys: ['groupBy'] },
  );
  const ranges = fc.record({
    fromMs: pick(nowMs - 40 * 60_000, nowMs - 26 * HOUR_MS - 1234, nowMs - 5 * DAY_MS + 17),
    toMs: pick(nowMs + 1, nowMs - 7 * 60_000 - 11),
    withDurations: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(question, ranges, async (asked, range) => {
      const query = { ...asked, ...range, nowMs } as BucketQuery;
      await expectSame(
        () => loadBuckets(database.db, query),
        ({ buckets, ...rest }) => ({ buckets: new Set(buckets.map((one) => JSON.stringify(one, inOrder))), ...rest }),
      );
    }),
    { numRuns: 80, seed },
  );
  for (const fromMs of [nowMs - 40 * 60_000, nowMs - 5 * DAY_MS + 17]) {
    const query = { fromMs, toMs: nowMs - 17, nowMs };
    await expectSame(() => loadOverview(database.db, query));
    for (const metric of METRIC_NAMES) {
      await expectSame(() => loadHistogram(database.db, { ...query, intervalMs: HOUR_MS }, metric));
    }
  }
}, 600_000);

/** Fields in one order, whoever made the object; −0 is 0. */
const inOrder = (_: string, value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
