// `bun bench/time-log-api.ts [rows] [rows in Postgres]`: the log's questions through the admin API, when Postgres has the last
// days and ClickHouse (chdb) all others. It ends with 1 where an answer changes as Postgres drops its days.

import { createClient } from '@clickhouse/client';
import { connectDatabase } from '@llm0/drizzle/client';
import { migrateDatabase } from '@llm0/drizzle/migrate';
import { dropBelowFloor, raiseLogFloor } from '@llm0/drizzle/queries/clickhouse/log-floor';
import { startChdb } from '@llm0/testing/clickhouse/start-chdb';
import { callAdmin, startGateway } from '@llm0/testing/stores/start-gateway';
import { startPostgres } from '@llm0/testing/stores/start-postgres';
import { generateClickHouse } from './generate/generate-clickhouse';
import { generateRows } from './generate/generate-rows';
import { renderTable } from './report/render-table';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 35;
const KEPT_DAYS = 3;
const TIMES = 5;

const rows = Number(process.argv[2] ?? 10_000_000);
const rowsOfPostgres = Number(process.argv[3] ?? 200_000);
const nowMs = Date.now();
const clickhouse = await startChdb();
const server = await startPostgres({});
const database = connectDatabase({ url: server.url }, { maxConnections: 2 });
let code = 1;
try {
  code = await run();
} finally {
  await database.close();
  await server.stop();
  await clickhouse.stop();
}
process.exit(code);

async function run(): Promise<number> {
  await migrateDatabase(database.client, { onWarning: console.warn });
  await generateRows(database, { rows: rowsOfPostgres, days: DAYS, nowMs: nowMs - HOUR_MS });
  const gateway = await startGateway({ env: { DATABASE_URL: server.url, LOG_DATABASE_URL: clickhouse.url } });
  try {
    const state = () => callAdmin<{ name: string; state: string; rows: number }>(gateway, '/log-database');
    for (let moved = await state(); moved.state !== 'answers'; moved = await state()) {
      console.error(`${moved.state}: ${moved.rows} rows`);
      await Bun.sleep(5000);
    }
    const ask = (path: string) => callAdmin<unknown>(gateway, path);
    const paths = Object.values(questions(nowMs - 2 * HOUR_MS));
    const askAll = async () => {
      const answers: unknown[] = [];
      for (const path of paths) answers.push(await ask(path));
      return answers;
    };
    const before = await askAll();
    const store = (await state()).name;
    const floor = await raiseLogFloor(database.db, { store, beforeMs: nowMs - KEPT_DAYS * DAY_MS, nowMs });
    if (floor === null) throw new Error('no day was compared');
    const days = await dropBelowFloor(database.db, floor, { nowMs: nowMs + HOUR_MS });
    await Bun.sleep(2000);
    const after = await askAll();
    const changed = paths.filter((_, index) => !Bun.deepEquals(before[index], after[index]));
    console.error(`Postgres dropped ${days.length} days; ${changed.length} answers changed ${changed.join(' ')}`);
    const client = createClient({ url: clickhouse.url.replace('clickhouse:', 'http:') });
    await generateClickHouse(client, { rows, days: DAYS - KEPT_DAYS, nowMs: floor.ms });
    await client.close();
    const { buckets } = await callAdmin<{ buckets: { requests: number }[] }>(
      gateway,
      questions(nowMs)['spend by label over 30 days'] ?? '',
    );
    const found = buckets.reduce((sum, { requests }) => sum + requests, 0);
    console.error(`${found} requests have a label or none`);
    const lines: string[][] = [];
    for (const name of Object.keys(questions(nowMs))) lines.push([name, (await timeQuestion(ask, name)).toFixed(0)]);
    const head = `over ${rows} rows, through the API`;
    console.log(renderTable([head, 'ms'], lines, [head]));
    return changed.length === 0 && days.length > 20 && found > rows / 2 ? 0 : 1;
  } finally {
    await gateway.stop();
  }
}

/** Ranges end apart, so that no answer is a kept one. */
async function timeQuestion(ask: (path: string) => Promise<unknown>, name: string): Promise<number> {
  let leastMs = Number.POSITIVE_INFINITY;
  for (let nth = 0; nth < TIMES; nth++) {
    const path = questions(nowMs - 2 * HOUR_MS - nth * 1000)[name] ?? '';
    const startMs = performance.now();
    await ask(path);
    leastMs = Math.min(leastMs, performance.now() - startMs);
  }
  return leastMs;
}

function questions(toMs: number): Readonly<Record<string, string>> {
  const at = (ms: number) => encodeURIComponent(new Date(ms).toISOString());
  const month = `from=${at(toMs - 30 * DAY_MS)}&to=${at(toMs)}`;
  const older = `from=${at(toMs - 20 * DAY_MS)}&to=${at(toMs - 10 * DAY_MS)}`;
  return {
    'overview over 30 days': `/stats/overview?${month}`,
    'p99 by model over 30 days': `/stats/latency?${month}&group_by=model`,
    'p99 by model over 30 days, from rows': `/stats/latency?${month}&group_by=model&modality=text`,
    'spend by label over 30 days': `/stats/spend?${month}&group_by=label.team`,
    'spend by customer and model over 10 days': `/stats/spend-table?${older}&rows=customer&columns=model`,
    'flows over 10 days': `/stats/flows?${older}`,
    'provider health over 30 days': `/stats/health?${month}`,
    'newest 50 before ten days': `/logs?limit=50&${older}`,
    'histogram of errors over 10 days': `/logs/histogram?${older}&status=error`,
  };
}
