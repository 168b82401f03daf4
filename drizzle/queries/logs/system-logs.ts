import { and, eq, gte, lte } from 'drizzle-orm';
import type { Db } from '../../client';
import { systemLogs } from '../../schema/operations';
import { Rows, type Stored } from '../rows';

/** Runs of jobs, and what else an operator must learn of. */
export const systemLogRows = new Rows(systemLogs);
export type StoredSystemLog = Stored<typeof systemLogRows>;

/** When jobs failed, oldest first; epoch milliseconds. */
export async function listFailedJobs(db: Db, range: { fromMs: number; toMs: number }): Promise<readonly number[]> {
  const { createdAtMs, outcome } = systemLogs;
  const isMeant = and(eq(outcome, 'error'), gte(createdAtMs, range.fromMs), lte(createdAtMs, range.toMs));
  const rows = await db.select({ createdAtMs }).from(systemLogs).where(isMeant).orderBy(createdAtMs);
  return rows.map((row) => row.createdAtMs);
}

/** Ids ascend, so that entries of one millisecond keep their order in lists. */
export async function addSystemLog(db: Db, entry: Omit<StoredSystemLog, 'id' | 'createdAtMs'>): Promise<void> {
  const message = entry.message.replaceAll('\0', '').toWellFormed();
  await db.insert(systemLogs).values({ ...entry, id: Bun.randomUUIDv7(), message });
}
