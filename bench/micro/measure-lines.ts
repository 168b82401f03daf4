import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attachLogDatabase } from '@llm0/drizzle/clickhouse/log-database';
import type { Db } from '@llm0/drizzle/client';
import { openDatabase } from '@llm0/drizzle/open-database';
import { endRows } from '@llm0/drizzle/queries/clickhouse/log-floor';
import { insertLines, toLineRow } from '@llm0/drizzle/queries/log-lines/line-batches';
import { insertLogBatch } from '@llm0/drizzle/queries/logs/log-batches';
import { storeLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { addSinks } from '@llm0/drizzle/queries/logs/log-sinks';
import type { JobContext } from '@llm0/gateway/jobs/job';
import { exportRows } from '@llm0/gateway/sinks/export-rows';
import { createWriteClickHouse } from '@llm0/gateway/sinks/write-clickhouse';
import { startChdb } from '@llm0/testing/clickhouse/start-chdb';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { startPostgres } from '@llm0/testing/stores/start-postgres';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { readCpu } from '../machine/process-stats';
import { spreadRecords } from './measure-drain';

/** Rows of a batch: as many as wait, up to the second. */
const SIZES = [10_000, 50_000] as const;
const WARM_UP_ROWS = 100_000;
const ROWS = 300_000;
const HOUR_MS = 3_600_000;

/** Rows that Postgres doesn't get (`LOG_POSTGRES_DAYS=0`), on their way to ClickHouse. Linux only. */
export interface LinesResult {
  readonly name: string;
  readonly rowsPerSecond: number;
  /** CPU of this process, all threads. */
  readonly cpuUsPerRow: number;
  readonly postgresUsPerRow: number;
}

export async function measureLines(): Promise<{
  readonly steps: readonly LinesResult[];
  readonly bytesPerRow: number;
}> {
  const server = await startPostgres();
  const clickHouse = await startChdb();
  const dataDir = await mkdtemp(join(tmpdir(), 'llm0-bench-lines-'));
  const { db, close } = await openDatabase({ databaseUrl: server.url, dataDir, onWarning: () => {} });
  try {
    const name = clickHouse.url;
    const url = clickHouse.url.replace('clickhouse:', 'http:').replace('/default', '');
    const options = { name, url, username: 'default', password: '', database: 'default' };
    attachLogDatabase(db, options);
    await begin(db, name);
    const sink = { kind: 'clickhouse', everyMs: 0, withBodies: false, ...options } as const;
    const job = exportRows(sink, [name], (_, part) => createWriteClickHouse()(sink, part as never));
    const copy = () =>
      job.run({ db, nowMs: () => Date.now() + HOUR_MS, log: pino({ level: 'silent' }) } as unknown as JobContext);
    const steps: LinesResult[] = [];
    let from = 0;
    const store = async (size: number, rows: number, run: Meter['measure']) => {
      for (let done = 0; done < rows; done += size) {
        const records = spreadRecords(0, size, from + done);
        await run(() => storeLogRecords(db, records));
      }
      from += rows;
    };
    await store(SIZES[0], WARM_UP_ROWS, async (work) => void (await work()));
    await copy();
    for (const size of SIZES) {
      const stored = meter(`${size / 1000},000 rows beside Postgres`, server.pid);
      await store(size, ROWS, stored.measure);
      const copied = meter('their way to ClickHouse', server.pid);
      await copied.measure(copy);
      steps.push(stored.result(), copied.result());
    }
    await clickHouse.ask('optimize table gateway_logs final').catch(() => {});
    const [size] = await clickHouse.ask<{ bytes: string; rows: string }>(
      "select sum(bytes_on_disk) as bytes, sum(rows) as rows from system.parts where table = 'gateway_logs' and active",
    );
    return { steps, bytesPerRow: Number(size?.bytes) / Number(size?.rows) };
  } finally {
    await close();
    await clickHouse.stop();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** As after some hours: only ids of the last minutes are looked for in ClickHouse. */
async function begin(db: Db, store: string): Promise<void> {
  await addSinks(db, [store]);
  await endRows(db, store, Date.now() - 3 * HOUR_MS);
  const record = sampleRecord({ createdAtMs: Date.now() - 3 * HOUR_MS });
  const seq = await insertLogBatch(db, [], []);
  await insertLines(db, { seq, rows: [toLineRow(record)], corrects: false });
  await db.execute(sql`update log_lines set stored_at = now() - interval '2 hours'`);
}

interface Meter {
  measure(work: () => Promise<unknown>): Promise<void>;
  result(): LinesResult;
}

function meter(name: string, postgresPid: number): Meter {
  const now = () => {
    const { user, system } = process.cpuUsage();
    return { cpuUs: user + system, postgres: readCpu({ postgres: postgresPid }).postgres ?? 0, ms: performance.now() };
  };
  const sums = { cpuUs: 0, postgres: 0, ms: 0 };
  return {
    async measure(work) {
      const before = now();
      await work();
      const after = now();
      for (const part of ['cpuUs', 'postgres', 'ms'] as const) sums[part] += after[part] - before[part];
    },
    result() {
      return {
        name,
        rowsPerSecond: (ROWS * 1000) / sums.ms,
        cpuUsPerRow: sums.cpuUs / ROWS,
        postgresUsPerRow: (sums.postgres * 1e6) / ROWS,
      };
    },
  };
}
