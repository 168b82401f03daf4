import { sql } from 'drizzle-orm';
import type { Db } from '../client';

/**
 * A transaction for queries that add up much. Groups stay in memory: with the server's usual 4 MB they would be sorted on disk.
 * Compiling a query costs more than it gains, and workers beside it would take the other cores from the requests.
 */
export function withRoom<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.execute(sql`select set_config('work_mem', '48MB', true), set_config('jit', 'off', true),
      set_config('max_parallel_workers_per_gather', '0', true)`);
    return work(tx);
  });
}
