import { closeSync, openSync, readSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '@llm0/drizzle/open-database';
import { storeLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { startPostgres } from '@llm0/testing/stores/start-postgres';
import { makeBacklogRecord } from '../scenarios/backlog';

export interface DrainResult {
  /** CPU of this process, all threads, without that of Postgres. */
  readonly cpuUsPerRow: number;
  /** Of each batch, the longest time in which nothing else had its turn. */
  readonly stretchMs: readonly number[];
}

const ROWS = 1000;
const WARM_UP = 10;
const BATCHES = 30;

/** How long batches of the log drain hold up everything else. Linux only: by the main thread's own CPU time. */
export async function measureDrain(): Promise<DrainResult> {
  const server = await startPostgres();
  const dataDir = await mkdtemp(join(tmpdir(), 'llm0-bench-drain-'));
  try {
    const { db, close } = await openDatabase({ databaseUrl: server.url, dataDir, onWarning: () => {} });
    const clock = openThreadClock();
    try {
      const ids = [crypto.randomUUID(), crypto.randomUUID()] as const;
      const batches = Array.from({ length: WARM_UP + BATCHES }, (_batch, batch) =>
        Array.from({ length: ROWS }, (_row, row) => JSON.stringify(makeBacklogRecord(...ids, batch * ROWS + row))),
      );
      for (const batch of batches.slice(0, WARM_UP)) await storeLogRecords(db, batch);
      const stretchMs: number[] = [];
      const before = process.cpuUsage();
      for (const batch of batches.slice(WARM_UP)) {
        stretchMs.push(await longestStretch(() => storeLogRecords(db, batch), clock.nowMs));
      }
      const used = process.cpuUsage(before);
      return { cpuUsPerRow: (used.user + used.system) / (BATCHES * ROWS), stretchMs };
    } finally {
      clock.close();
      await close();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
    await server.stop();
  }
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
