import { closeSync, openSync, readSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { openDatabase } from '@llm0/drizzle/open-database';
import { storeLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { startPostgres } from '@llm0/testing/stores/start-postgres';
import { readCpu } from '../machine/process-stats';
import { makeBacklogRecord } from '../scenarios/backlog';

export interface DrainResult {
  /** CPU of this process, all threads, without that of Postgres. */
  readonly cpuUsPerRow: number;
  /** CPU of Postgres, all its processes. */
  readonly postgresUsPerRow: number;
  /** Of each batch, the longest time in which nothing else had its turn. */
  readonly stretchMs: readonly number[];
}

const ROWS = 1000;
const WARM_UP = 10;
const BATCHES = 50;
/** As many as a busy gateway has; a row every 5 ms. */
const PROJECTS = 20;
const KEYS = 100;
const CUSTOMERS = 2000;
const ROW_EVERY_MS = 5;

/** How long batches of the log drain hold up everything else. Linux only: by the main thread's own CPU time. */
export async function measureDrain(): Promise<DrainResult> {
  const server = await startPostgres();
  const dataDir = await mkdtemp(join(tmpdir(), 'llm0-bench-drain-'));
  try {
    const { db, close } = await openDatabase({ databaseUrl: server.url, dataDir, onWarning: () => {} });
    const clock = openThreadClock();
    try {
      const batches = Array.from({ length: WARM_UP + BATCHES }, (_, batch) => spreadRecords(batch, ROWS));
      for (const batch of batches.slice(0, WARM_UP)) await storeLogRecords(db, batch);
      const stretchMs: number[] = [];
      const before = process.cpuUsage();
      const postgres = () => readCpu({ postgres: server.pid }).postgres ?? 0;
      const postgresBefore = postgres();
      for (const batch of batches.slice(WARM_UP)) {
        stretchMs.push(await longestStretch(() => storeLogRecords(db, batch), clock.nowMs));
      }
      const used = process.cpuUsage(before);
      const postgresUsPerRow = ((postgres() - postgresBefore) * 1e6) / (BATCHES * ROWS);
      return { cpuUsPerRow: (used.user + used.system) / (BATCHES * ROWS), postgresUsPerRow, stretchMs };
    } finally {
      clock.close();
      await close();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
    await server.stop();
  }
}

const uuidOf = (kind: number, index: number) => `0000000${kind}-0000-4000-8000-${String(index).padStart(12, '0')}`;
/** Always the same: a number from 0 to 1, most of them small. */
const skewed = (index: number, prime: number) => (((index * prime) % 10_007) / 10_007) ** 2;

const BEGAN_MS = Date.now() - (WARM_UP + BATCHES) * ROWS * ROW_EVERY_MS;

/** A batch as the queue has it. */
export const spreadRecords = (batch: number, rows: number): readonly string[] =>
  Array.from({ length: rows }, (_, row) => JSON.stringify(spreadRecord(BEGAN_MS, batch * rows + row)));

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
