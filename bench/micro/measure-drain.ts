import { closeSync, openSync, readSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { openDatabase } from '@llm0/drizzle/open-database';
import { storeLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { RowsThread } from '@llm0/gateway/threads/rows-thread';
import { startPostgres } from '@llm0/testing/stores/start-postgres';
import { readCpu } from '../machine/process-stats';
import { makeBacklogRecord } from '../scenarios/backlog';

export interface DrainResult {
  readonly name: string;
  /** CPU of this process, all threads, without that of Postgres. */
  readonly cpuUsPerRow: number;
  readonly mainThreadUsPerRow: number;
  /** CPU of Postgres, all its processes. */
  readonly postgresUsPerRow: number;
  /** Of each batch, the longest time in which nothing else had its turn. */
  readonly stretchMs: readonly number[];
}

const ROWS = 1000;
const WARM_UP = 10;
const BATCHES = 50;
/** Looking for stretches takes CPU time, so other batches are measured for it. */
const ALL_BATCHES = WARM_UP + 2 * BATCHES;
/** As many as a busy gateway has; a row every 5 ms. */
const PROJECTS = 20;
const KEYS = 100;
const CUSTOMERS = 2000;
const ROW_EVERY_MS = 5;

type Store = (records: readonly string[]) => Promise<unknown>;

/** What batches of the log drain cost, in the main thread and in the thread for rows. Linux only. */
export async function measureDrain(): Promise<readonly DrainResult[]> {
  const server = await startPostgres();
  const dataDir = await mkdtemp(join(tmpdir(), 'llm0-bench-drain-'));
  try {
    const { db, close } = await openDatabase({ databaseUrl: server.url, dataDir, onWarning: () => {} });
    const thread = new RowsThread({ databaseUrl: server.url });
    const clock = openThreadClock();
    try {
      const measure = (from: number, store: Store) => measureBatches({ from, store, clock, postgresPid: server.pid });
      return [
        { name: 'in the main thread', ...(await measure(0, (records) => storeLogRecords(db, records))) },
        { name: 'in the thread', ...(await measure(ALL_BATCHES, (records) => thread.storeRecords(records, {}))) },
      ];
    } finally {
      clock.close();
      thread.stop();
      await close();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
    await server.stop();
  }
}

interface Measured {
  /** Number of the first batch. */
  readonly from: number;
  readonly store: Store;
  readonly clock: ReturnType<typeof openThreadClock>;
  readonly postgresPid: number;
}

async function measureBatches({ from, store, clock, postgresPid }: Measured): Promise<Omit<DrainResult, 'name'>> {
  const batches = Array.from({ length: ALL_BATCHES }, (_, batch) => spreadRecords(from + batch, ROWS));
  for (const batch of batches.slice(0, WARM_UP)) await store(batch);
  const postgres = () => readCpu({ postgres: postgresPid }).postgres ?? 0;
  const before = { cpu: process.cpuUsage(), mainMs: clock.nowMs(), postgres: postgres() };
  for (const batch of batches.slice(WARM_UP, -BATCHES)) await store(batch);
  const { user, system } = process.cpuUsage(before.cpu);
  const rows = BATCHES * ROWS;
  const cpu = {
    cpuUsPerRow: (user + system) / rows,
    mainThreadUsPerRow: ((clock.nowMs() - before.mainMs) * 1e3) / rows,
    postgresUsPerRow: ((postgres() - before.postgres) * 1e6) / rows,
  };
  const stretchMs: number[] = [];
  for (const batch of batches.slice(-BATCHES)) stretchMs.push(await longestStretch(() => store(batch), clock.nowMs));
  return { ...cpu, stretchMs };
}

const uuidOf = (kind: number, index: number) => `0000000${kind}-0000-4000-8000-${String(index).padStart(12, '0')}`;
/** Always the same: a number from 0 to 1, most of them small. */
const skewed = (index: number, prime: number) => (((index * prime) % 10_007) / 10_007) ** 2;

const BEGAN_MS = Date.now() - 2 * ALL_BATCHES * ROWS * ROW_EVERY_MS;

/** A batch as the queue has it; `from`: number of its first row. */
export const spreadRecords = (batch: number, rows: number, from = batch * rows): readonly string[] =>
  Array.from({ length: rows }, (_, row) => JSON.stringify(spreadRecord(BEGAN_MS, from + row)));

/** Of many keys and customers, a few of which send most. */
function spreadRecord(startMs: number, index: number): LogRecord {
  const key = Math.floor(KEYS * skewed(index, 7919));
  const latencyMs = 200 + 4000 * skewed(index, 6841);
  return {
    ...makeBacklogRecord(uuidOf(1, key % PROJECTS), uuidOf(2, key), index),
    createdAtMs: startMs + index * ROW_EVERY_MS,
    customerId: `customer-${Math.floor(CUSTOMERS * skewed(index, 5381))}`,
    latencyMs,
    ttftMs: latencyMs / 3,
    upstreamMs: latencyMs - 6,
  };
}

async function longestStretch(work: () => Promise<unknown>, nowMs: () => number): Promise<number> {
  let last = nowMs();
  let longest = 0;
  const look = () => {
    const now = nowMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 0);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  look();
  return longest;
}

/** CPU time of the main thread: on a busy machine, time on the wall is also that of others. */
function openThreadClock(): { readonly nowMs: () => number; readonly close: () => void } {
  const file = openSync('/proc/self/schedstat', 'r');
  const text = Buffer.alloc(64);
  const nowMs = () => Number.parseInt(text.toString('latin1', 0, readSync(file, text, 0, text.length, 0)), 10) / 1e6;
  return { nowMs, close: () => closeSync(file) };
}
