import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { ClickHouseClient } from '@clickhouse/client';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import { migrateClickHouse } from '@llm0/drizzle/clickhouse/open-clickhouse';
import type { Database } from '@llm0/drizzle/client';
import { storeLines } from '@llm0/drizzle/queries/clickhouse/store-lines';
import { writeLogBodies } from '@llm0/drizzle/queries/logs/log-bodies';
import { insertLogRecords, storeLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { listSinks } from '@llm0/drizzle/queries/logs/log-sinks';
import { LOG_TABLES } from '@llm0/drizzle/queries/logs/partitions';
import { openChdb } from '@llm0/testing/clickhouse/open-chdb';
import { sampleCall } from '@llm0/testing/stores/sample-call';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import type { ClickHouseSetting } from '../config/sinks';
import type { JobContext } from '../jobs/job';
import { exportRows } from './export-rows';
import { randomOf } from './record-queue.fixture';
import { createWriteClickHouse } from './write-clickhouse';
import { createWritePart, type WritePart } from './write-part';

const SINK: ClickHouseSetting = {
  ...{ kind: 'clickhouse', name: 'clickhouse://test:8123/llm0', url: 'http://127.0.0.1:1', everyMs: 0 },
  ...{ username: 'default', password: '', database: 'llm0', withBodies: true },
};

let database: Database;
let chdb: ClickHouseClient;
let nowMs = 0;
/** Decides for each command if it fails, before or after it was done. */
let fate: () => 'before' | 'after' | undefined = () => undefined;

/** ClickHouse at the other end of a bad line; the process has only one. */
const client = new Proxy({} as ClickHouseClient, {
  get: (_, name: keyof ClickHouseClient) => {
    if (name === 'close') return async () => {};
    if (name === 'query') return chdb.query.bind(chdb);
    if (name !== 'command') return undefined;
    return async (...given: Parameters<ClickHouseClient['command']>) => {
      const broken = fate();
      if (broken === 'before') throw new Error('the line is cut');
      await chdb.command(...given);
      if (broken === 'after') throw new Error('the answer is lost');
    };
  },
});
const writeTo = createWriteClickHouse(async () => client);
const write: WritePart = (sink, part) => writeTo(sink as ClickHouseSetting, part);

beforeAll(async () => {
  const kind = TEST_DATABASES[0];
  if (kind === undefined) throw new Error('no database');
  database = await kind.openOwn();
  chdb = await openChdb();
  await migrateClickHouse(chdb);
  await run();
}, 180_000);
afterAll(async () => {
  await chdb?.close();
  await database?.close();
});

const run = (writePart = write) => {
  nowMs = Date.now() + 60_000;
  const context = { db: database.db, nowMs: () => nowMs, log: pino({ level: 'silent' }) };
  return exportRows(SINK, [SINK.name], writePart).run(context as unknown as JobContext);
};
const ask = async <T>(query: string) => (await chdb.query({ query, format: 'JSONEachRow' })).json<T>();
const stateOf = async () => (await listSinks(database.db)).find(({ name }) => name === SINK.name);

/** Rows and money of a project on each side. */
async function booksOf(projectId: string) {
  const [postgres] = await database.db.execute<{ n: string; usd: string; tokens: string }>(sql`
    select count(*)::text as n, sum(cost_usd)::text as usd, sum(tokens)::text as tokens
    from (select project_id, cost_usd, tokens_total as tokens from gateway_logs
      union all select project_id, cost_usd, bytes_in from tool_calls) as rows where project_id = ${projectId}::uuid`);
  const sums = (
    version: 'final' | '',
  ) => `select toString(count()) as n, toString(toDecimal128(sum(cost_usd), 9)) as usd,
    toString(sum(tokens)) as tokens
    from (select project_id, cost_usd, tokens_total as tokens from gateway_logs ${version}
      union all select project_id, cost_usd, bytes_in from tool_calls ${version}) where project_id = '${projectId}'`;
  const [settled] = await ask<{ n: string; usd: string; tokens: string }>(sums('final'));
  const [stored] = await ask<{ n: string }>(sums(''));
  const inNano = (usd = '0') => Math.round(Number(usd) * 1e9);
  return {
    postgres: { ...postgres, usd: inNano(postgres?.usd) },
    settled: { ...settled, usd: inNano(settled?.usd) },
    stored: Number(stored?.n),
  };
}

test('the tables are made once, and have all columns of Postgres', async () => {
  await migrateClickHouse(chdb);
  const done = await ask<{ name: string }>('select name from llm0_migrations order by name');
  const files = ['0001_gateway-logs', '0002_upstream-bodies', '0003_run-filter', '0004_tool-calls'];
  expect(done.map(({ name }) => name)).toEqual(files.map((name) => `${name}.sql`));
  for (const { name: table } of LOG_TABLES) {
    const columns = await ask<{ name: string }>(
      `select name from system.columns where database = currentDatabase() and table = '${table}'`,
    );
    const ours = await database.db.execute<{ name: string }>(sql`
      select column_name as name from information_schema.columns where table_name = ${table}`);
    const names = (rows: readonly { readonly name: string }[]) => rows.map(({ name }) => name).sort();
    expect(names(columns)).toEqual([...names(ours), 'batch'].sort());
  }
});

test('a tool call arrives with its values, and its correction replaces it', async () => {
  const projectId = crypto.randomUUID();
  const call = sampleCall({
    ...{ projectId, createdAtMs: Date.now(), labels: { server_id: 'a"b' }, errorMessage: 'says "server_id": no' },
    guardrails: [{ rule: 'r', on: 'tool_arguments', check: 'pii', action: 'flag', count: 1, ms: 2 }] as never,
  });
  const stored = (record: ToolCallRecord) => storeLogRecords(database.db, [JSON.stringify(record)]);
  await stored(call);
  await run();
  const read = async () =>
    (await ask<Record<string, unknown>>(`select *, request_id from tool_calls final where id = '${call.id}'`))[0];
  expect(await read()).toMatchObject({
    ...{ id: call.id, request_id: call.id, project_id: projectId, server: 'github', tool: 'create_issue' },
    ...{ labels: call.labels, error_message: call.errorMessage, latency_ms: 12.5, is_error: false, customer_id: null },
    created_at: new Date(call.createdAtMs).toISOString().replace('T', ' ').replace('Z', ''),
  });
  expect(JSON.parse(String((await read())?.guardrails))).toEqual(call.guardrails);
  await stored({ ...call, corrects: true, isError: true, costNanoUsd: 9 });
  await run();
  expect(await read()).toMatchObject({ is_error: true, cost_usd: 9e-9 });
  expect(await stateOf()).toMatchObject({ problem: null, waitingSinceMs: null });
});

test('a row arrives with its values, and a body that was kept', async () => {
  const projectId = crypto.randomUUID();
  const record = sampleRecord({
    ...{ projectId, createdAtMs: Date.now(), costNanoUsd: 123_456_789_012, labels: { team: 'a"b', x: '{}' } },
    attempts: [{ provider: 'p', model: 'm', outcome: 'ok', startMs: 0.5, latencyMs: 7.25 }],
    errorMessage: 'says "request_body": no\nmore',
  });
  const bare = sampleRecord({ projectId, createdAtMs: record.createdAtMs + 1, errorMessage: '"request_body": x' });
  await insertLogRecords(database.db, [record, bare]);
  const { id: requestId, createdAtMs } = record;
  const bodies = { request: '{"say":"\\"request_body\\": hi"}', upstreamRequest: null, response: '{"a":2}' };
  await writeLogBodies(database.db, [{ requestId, createdAtMs, projectId, ...bodies }]);
  await run();
  expect(await stateOf()).toMatchObject({ problem: null, waitingSinceMs: null });
  const [row] = await ask<Record<string, unknown>>(
    `select *, request_id, toString(cost_usd) as usd from gateway_logs where id = '${record.id}'`,
  );
  expect(row).toMatchObject({
    ...{ id: record.id, request_id: record.id, project_id: projectId, model: record.model, usd: '123.456789012' },
    ...{ labels: record.labels, error_message: record.errorMessage, latency_ms: record.latencyMs, customer_id: null },
    created_at: new Date(record.createdAtMs).toISOString().replace('T', ' ').replace('Z', ''),
  });
  expect(JSON.parse(String(row?.attempts))).toMatchObject([{ provider: 'p', outcome: 'ok' }]);
  const kept = await ask<{ id: string; request_body: string; response_body: string }>(
    `select id, request_body, response_body from gateway_log_bodies where project_id = '${projectId}'`,
  );
  expect(kept.map(({ id }) => id)).toEqual([record.id]);
  expect(JSON.parse(kept[0]?.request_body ?? '')).toEqual(JSON.parse(bodies.request));
  expect(JSON.parse(kept[0]?.response_body ?? '')).toEqual({ a: 2 });
});

test('a late correction replaces its row', async () => {
  const projectId = crypto.randomUUID();
  const record = sampleRecord({ projectId, createdAtMs: Date.now(), costNanoUsd: 5 });
  await insertLogRecords(database.db, [record, sampleRecord({ projectId, createdAtMs: Date.now(), costNanoUsd: 2 })]);
  await run();
  await insertLogRecords(database.db, [{ ...record, corrects: true, costNanoUsd: 40 }]);
  await run();
  const { postgres, settled, stored } = await booksOf(projectId);
  expect(postgres).toMatchObject({ n: '2', usd: 42 });
  expect(settled).toEqual(postgres);
  expect(stored).toBe(3);
});

test.each(Array.from({ length: 10 }, (_, seed) => seed + 1))(
  'a copy that breaks anywhere loses no row and doubles none (seed %p)',
  async (seed) => {
    const random = randomOf(seed);
    const projectId = crypto.randomUUID();
    // Two months, so that an insertion has two parts, and may end between them.
    const months = [Date.parse('2026-10-31T23:59:59Z'), Date.parse('2026-11-01T00:00:01Z')] as const;
    const createdAtMs = () => (random() < 0.5 ? months[0] : months[1]);
    /** After ClickHouse has the rows, and before Postgres knows. */
    const thenDie: WritePart = async (sink, part) => {
      await write(sink, part);
      if (random() < 0.4) throw new Error('the process is killed');
    };
    fate = () => (random() < 0.3 ? (random() < 0.5 ? 'before' : 'after') : undefined);
    let broken = 0;
    for (let round = 0; round < 12; round++) {
      const count = 1 + Math.floor(random() * 40);
      const record = () => {
        const given = { projectId, createdAtMs: createdAtMs(), costNanoUsd: round + 1 };
        return JSON.stringify(random() < 0.3 ? sampleCall(given) : sampleRecord(given));
      };
      await storeLogRecords(database.db, Array.from({ length: count }, record));
      await run(thenDie);
      if ((await stateOf())?.problem != null) broken++;
    }
    fate = () => undefined;
    await run();
    expect(broken).toBeGreaterThan(0);
    const { postgres, settled, stored } = await booksOf(projectId);
    expect(settled).toEqual(postgres);
    expect(stored).toBe(Number(postgres.n));
  },
  60_000,
);

test('a new Postgres numbers its batches anew, and loses no row', async () => {
  const store = (id: string) =>
    storeLines(chdb, { afterSeq: 0, seq: 1, lines: [`{"id": "${id}", "created_at": "2026-11-01T00:00:00+00:00"}`] });
  const ids = [crypto.randomUUID(), crypto.randomUUID()] as const;
  for (const id of [...ids, ...ids]) await store(id);
  const [found] = await ask<{ n: string }>(
    `select toString(count()) as n from gateway_logs where id in ('${ids.join("', '")}')`,
  );
  expect(found).toEqual({ n: '2' });
});

test('while the server is away, rows wait, and the sink tells why', async () => {
  const projectId = crypto.randomUUID();
  await insertLogRecords(database.db, [sampleRecord({ projectId, createdAtMs: Date.now() })]);
  const away = createWritePart(
    { sinks: [], s3: { endpoint: undefined, region: undefined } as never, serviceName: 'gw' },
    { folder: '', fetch, version: '1', nowMs: () => nowMs, onRejected: () => {} },
  );
  await run(away);
  const waiting = await stateOf();
  expect(waiting?.problem).toContain('ECONNREFUSED');
  expect(waiting?.failingSinceMs).toBe(nowMs);
  expect((await booksOf(projectId)).stored).toBe(0);
  await run();
  expect((await booksOf(projectId)).stored).toBe(1);
  expect(await stateOf()).toMatchObject({ problem: null, failingSinceMs: null, waitingSinceMs: null });
});
