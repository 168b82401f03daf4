// `bun bench/time-dashboard.ts [rows]`: every call of every page, over millions of rows in a Postgres of its own, and how long the
// gateway's loop did nothing else. BENCH_POSTGRES_DIR names a folder that keeps the rows. It ends with 1 where a page waits too long.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectDatabase } from '@llm0/drizzle/client';
import { migrateDatabase } from '@llm0/drizzle/migrate';
import { watchedLoop, worstBlockMs } from '@llm0/testing/e2e/watch-gateway';
import { startGateway } from '@llm0/testing/stores/start-gateway';
import { startPostgres } from '@llm0/testing/stores/start-postgres';
import { dashboardCalls } from './generate/dashboard-calls';
import { generateRows } from './generate/generate-rows';
import { timeCall } from './generate/time-queries';
import { renderTable } from './report/render-table';

const DAYS = 90;
const TIMES = 3;
const MOST_MS = 300;
const MOST_BLOCK_MS = 50;

const rows = Number(process.argv[2] ?? 10_000_000);
const kept = process.env.BENCH_POSTGRES_DIR;
const server = await startPostgres(kept === undefined ? {} : { dataDir: kept });
let isLate = true;
try {
  await fill();
  isLate = await timePages();
} finally {
  await server.stop();
}
process.exit(isLate ? 1 : 0);

/** Nothing where a kept database has its rows. */
async function fill(): Promise<void> {
  const database = connectDatabase({ url: server.url }, { maxConnections: 4 });
  await migrateDatabase(database.client, { onWarning: console.warn });
  const [found] = await database.client`select 1 from gateway_logs limit 1`;
  const startMs = performance.now();
  const onDay = (done: number) => console.error(`${done} rows, ${Math.round((performance.now() - startMs) / 1000)} s`);
  if (found === undefined) await generateRows(database, { rows, days: DAYS, nowMs: Date.now(), onDay });
  await database.close();
}

/** True where a call or the loop took longer than it may. */
async function timePages(): Promise<boolean> {
  const file = join(tmpdir(), `llm0-loop-${process.pid}`);
  const gateway = await startGateway({ env: { DATABASE_URL: server.url, ...watchedLoop(file) } });
  const startMs = Date.now();
  const lines: string[][] = [];
  try {
    for (const { name, range, path } of dashboardCalls(startMs)) {
      const tookMs: number[] = [];
      for (let time = 0; time < TIMES; time++) {
        tookMs.push(await timeCall(gateway, path, { 'cache-control': 'no-cache' }));
      }
      const leastMs = Math.min(...tookMs);
      const againMs = await timeCall(gateway, path);
      lines.push([name, range, leastMs.toFixed(0), againMs.toFixed(0), leastMs > MOST_MS ? 'LATE' : '']);
    }
    const blockMs = await worstBlockMs(gateway, file, startMs);
    const late = lines.filter(([, , , , said]) => said !== '').length;
    console.log(renderTable(['call', 'range', 'ms', 'again', 'said'], lines, ['call', 'range', 'said']));
    console.log(
      `${lines.length} calls, ${late} over ${MOST_MS} ms; the loop did nothing else for ${blockMs} ms at most`,
    );
    return late > 0 || blockMs > MOST_BLOCK_MS;
  } finally {
    await gateway.stop();
  }
}
