// `bun bench/time-requests.ts [rows]`: what the requests page asks, over millions of rows in a Postgres of its own; and how long
// the migrations since 0038 hold up whoever writes. It ends with 1 where something took longer than it may.
import { connectDatabase, type Database } from '@llm0/drizzle/client';
import { migrateDatabase, readShippedMigrations } from '@llm0/drizzle/migrate';
import { indexNextPartition } from '@llm0/drizzle/queries/logs/index-partitions';
import { insertLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { type GatewayProcess, startGateway } from '@llm0/testing/stores/start-gateway';
import { startPostgres } from '@llm0/testing/stores/start-postgres';
import { generateRows } from './generate/generate-rows';
import { type RequestsCall, requestsCalls } from './generate/requests-calls';
import { renderTable } from './report/render-table';

const DAYS = 31;
/** What is late is asked again: others may have had the machine. */
const TIMES = 3;
/** What an upgrade finds: rows written before it. */
const LAST_BEFORE = '0037_saved-views';
const MOST_WRITER_MS = 2000;

const rows = Number(process.argv[2] ?? 5_000_000);
const kept = process.env.BENCH_POSTGRES_DIR;
const server = await startPostgres(kept === undefined ? {} : { dataDir: kept });
const late: boolean[] = [];
try {
  const database = connectDatabase({ url: server.url }, { maxConnections: 4 });
  if (await fill(database)) late.push((await timeUpgrade(database)) > MOST_WRITER_MS);
  await database.close();
  late.push(await timePage());
} finally {
  await server.stop();
}
process.exit(late.includes(true) ? 1 : 0);

/** False where a kept database has its rows. */
async function fill(database: Database): Promise<boolean> {
  const migrations = (await readShippedMigrations()).filter(({ name }) => name <= LAST_BEFORE);
  await migrateDatabase(database.client, { migrations, onWarning: console.warn });
  const [found] = await database.client`select 1 from gateway_logs limit 1`;
  if (found !== undefined) return false;
  const startMs = performance.now();
  const onDay = (done: number) => console.error(`${done} rows, ${Math.round((performance.now() - startMs) / 1000)} s`);
  await generateRows(database, { rows, days: DAYS, nowMs: Date.now(), onDay });
  return true;
}

/** The longest that a row had to wait for being written while the migrations ran, in milliseconds. */
async function timeUpgrade(database: Database): Promise<number> {
  const old = await database.client.reserve();
  let isDone = false;
  let longestMs = 0;
  const write = async () => {
    while (!isDone) {
      const startMs = performance.now();
      // As a process of the version before does: it knows no column and no table that is new.
      await old`insert into gateway_logs (id, request_id, created_at, project_id, api_key_id, dialect, model, requested_model,
          tokens_in, tokens_out, tokens_total, tokens_cache_read, tokens_cache_write, tokens_reasoning, cost_usd, saved_usd,
          cost_estimated, latency_ms, stream, cache_hit, semantic_cache_hit, failover_count, failover_occurred, status, http_status)
        select gen_random_uuid(), gen_random_uuid(), now(), project_id, api_key_id, dialect, model, requested_model,
          0, 0, 0, 0, 0, 0, 0, 0, false, 1, false, false, false, 0, false, status, http_status
        from gateway_logs limit 1`;
      longestMs = Math.max(longestMs, performance.now() - startMs);
    }
  };
  const writing = write();
  const startMs = performance.now();
  const applied = await migrateDatabase(database.client, { onWarning: console.warn });
  const migratedMs = performance.now() - startMs;
  while ((await indexNextPartition(database.db)) !== null);
  const indexedMs = performance.now() - startMs - migratedMs;
  isDone = true;
  await writing;
  old.release();
  // From now on rows are written as this version does.
  await insertLogRecords(database.db, [sampleRecord()]);
  const shown = [migratedMs, indexedMs, longestMs].map((ms) => `${ms.toFixed(0)} ms`);
  console.log(`${applied.join(', ')}: ${shown[0]}; indexes of partitions: ${shown[1]}`);
  console.log(`a row waited at most ${shown[2]} (may: ${MOST_WRITER_MS} ms)`);
  return longestMs;
}

/** True where a statement took longer than it may. */
async function timePage(): Promise<boolean> {
  const gateway = await startGateway({ env: { DATABASE_URL: server.url, DISABLE_BACKGROUND_WORKERS: 'true' } });
  const lines: string[][] = [];
  const time = async ({ name, range, mostMs, path }: RequestsCall) => {
    const { tookMs, status, body } = await askInTime(gateway, path, mostMs);
    const isLate = tookMs > mostMs;
    lines.push([name, range, tookMs.toFixed(0), String(mostMs), `${isLate ? 'LATE ' : ''}${describe(status, body)}`]);
    console.error(lines.at(-1)?.join(', '));
    return { isLate, next: name.startsWith('sort') ? body.next_cursor : undefined };
  };
  let late = 0;
  try {
    for (const call of requestsCalls(Date.now())) {
      const { isLate, next } = await time(call);
      if (isLate) late++;
      if (typeof next !== 'string') continue;
      const path = `${call.path}&cursor=${encodeURIComponent(next)}`;
      if ((await time({ ...call, name: `next page, ${call.name}`, path })).isLate) late++;
    }
  } finally {
    await gateway.stop();
  }
  console.log(renderTable(['statement', 'range', 'ms', 'may', 'said'], lines, ['statement', 'range', 'said']));
  console.log(`${lines.length} statements, ${late} late`);
  return late > 0;
}

/** The least time of some, or the first that is in time. */
async function askInTime({ url, adminToken }: GatewayProcess, path: string, mostMs: number) {
  const headers = { authorization: `Bearer ${adminToken}`, 'cache-control': 'no-cache' };
  let tookMs = Number.POSITIVE_INFINITY;
  for (let time = 1; ; time++) {
    const startMs = performance.now();
    const answer = await fetch(`${url}/admin/v1${path}`, { headers });
    const body = (await answer.json()) as Body;
    tookMs = Math.min(tookMs, performance.now() - startMs);
    if (tookMs <= mostMs || time === TIMES) return { tookMs, status: answer.status, body };
  }
}

interface Body {
  readonly data?: readonly unknown[];
  readonly count?: { readonly rows: number; readonly is_exact: boolean };
  readonly partial?: boolean;
  readonly next_cursor?: string | null;
  readonly error?: { readonly message: string };
}

/** Whether it is all that was asked for, or says that it is less. */
function describe(status: number, { data, count, partial, error }: Body): string {
  if (error !== undefined) return `${status} ${error.message}`;
  const counted = count === undefined ? [] : [`${count.is_exact ? '' : 'at least '}${count.rows}`];
  return [...counted, ...(data === undefined ? [] : [`${data.length} shown`]), ...(partial ? ['partial'] : [])].join(
    ', ',
  );
}
