// A question that takes too long: `QuestionTooLargeError`, with the code that Postgres has for it. The embedded Postgres knows
// no time-outs: there it is noticed between two statements.
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../../client';

/** Leaves time to write the answer within 3 s. */
const LIMIT_MS = 2800;
/** SQLSTATE query_canceled. */
export const CANCELED = '57014';

/** Time limit of all questions; each statement gets the remainder. */
export class QuestionTooLargeError extends Error {
  readonly code = CANCELED;
}

/** Runs one statement of a question. */
export type Ask = <T extends Record<string, unknown>>(query: SQL) => Promise<readonly T[]>;

export const askOf =
  (tx: Db): Ask =>
  async <T extends Record<string, unknown>>(query: SQL) =>
    (await tx.execute<T>(query)) as unknown as readonly T[];

/**
 * One transaction for an expensive question, within 3 s by default. Raises work memory, because 4 MB would sort groups
 * on disk. Disables JIT, which costs more than it gains, and parallel workers, which take cores from requests.
 */
export function askInTime<T>(db: Db, work: (ask: Ask) => Promise<T>, limitMs = LIMIT_MS): Promise<T> {
  const endMs = performance.now() + limitMs;
  return db.transaction(async (tx) => {
    await tx.execute(sql`select set_config('work_mem', '48MB', true), set_config('jit', 'off', true),
      set_config('max_parallel_workers_per_gather', '0', true)`);
    const ask = askOf(tx);
    return work(async <R extends Record<string, unknown>>(query: SQL) => {
      const leftMs = Math.ceil(endMs - performance.now());
      if (leftMs <= 0) throw new QuestionTooLargeError('the time for this question is up');
      // Both go out at once: one connection answers them in turn.
      const limited = ask(sql`select set_config('statement_timeout', ${String(leftMs)}, true)`);
      const [, rows] = await Promise.all([limited, ask<R>(query)]);
      return rows;
    });
  });
}
