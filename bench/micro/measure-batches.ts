import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeLogRecord } from '@llm0/core/logs/decode-log-record';
import type { Database } from '@llm0/drizzle/client';
import { openDatabase } from '@llm0/drizzle/open-database';
import { insertLogBatch } from '@llm0/drizzle/queries/logs/log-batches';
import { storeLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { BatchSums } from '@llm0/drizzle/queries/stats/write/batch-sums';
import { factOf } from '@llm0/drizzle/queries/stats/write/rollup-deltas';
import { startPostgres } from '@llm0/testing/stores/start-postgres';
import { median } from '../report/rows';
import { spreadRecords } from './measure-drain';

export interface BatchCost {
  readonly store: string;
  /** Milliseconds of a whole batch of the drain, and of what numbers it (`log_batches`) alone; medians. */
  readonly batchMs: number;
  readonly numberingMs: number;
}

const ROWS = 1000;
const WARM_UP = 5;
const BATCHES = 40;

/** What it costs the drain that whoever watches misses nothing: in turns, so that a slow moment hits all alike. */
export async function measureBatches(): Promise<readonly BatchCost[]> {
  const server = await startPostgres();
  const dataDir = await mkdtemp(join(tmpdir(), 'llm0-bench-batches-'));
  try {
    const stores = { Postgres: { databaseUrl: server.url, dataDir }, embedded: { dataDir } };
    const costs: BatchCost[] = [];
    for (const [store, where] of Object.entries(stores)) {
      const database = await openDatabase({ ...where, onWarning: () => {} });
      costs.push({ store, ...(await measure(database)) });
      await database.close();
    }
    return costs;
  } finally {
    await rm(dataDir, { recursive: true, force: true });
    await server.stop();
  }
}

async function measure({ db }: Database): Promise<Omit<BatchCost, 'store'>> {
  const batchMs: number[] = [];
  const numberingMs: number[] = [];
  for (let batch = 0; batch < WARM_UP + BATCHES; batch++) {
    const records = spreadRecords(batch, ROWS);
    const decoded = records.map((record) => decodeLogRecord(record).record);
    const whole = await timeOf(() => storeLogRecords(db, records));
    const empty = await timeOf(() => db.transaction(async (tx) => void (await tx.execute('select 1'))));
    const alone = await timeOf(() =>
      db.transaction(async (tx) => {
        await tx.execute('select 1');
        const sums = new BatchSums();
        for (const record of decoded) sums.add(factOf(record));
        await insertLogBatch(tx, decoded, sums.bySecond());
      }),
    );
    if (batch < WARM_UP) continue;
    batchMs.push(whole);
    numberingMs.push(alone - empty);
  }
  return { batchMs: median(batchMs), numberingMs: median(numberingMs) };
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}
