import { and, eq, gte, lte } from 'drizzle-orm';
import type { Db } from '../../client';
import { systemLogs } from '../../schema/operations';
import { Rows, type Stored } from '../rows';

/** Job runs, and events for the operator. */
export const systemLogRows = new Rows(systemLogs);
export type StoredSystemLog = Stored<typeof systemLogRows>;

/** Failed jobs, oldest first; epoch milliseconds. */
export async function listFailedJobs(db: Db, range: { fromMs: number; toMs: number }): Promise<readonly number[]> {
  const { createdAtMs, outcome } = systemLogs;
  const isMeant = and(eq(outcome, 'error'), gte(createdAtMs, range.fromMs), lte(createdAtMs, range.toMs));
  const rows = await db.select({ createdAtMs }).from(systemLogs).where(isMeant).orderBy(createdAtMs);
  return rows.map((row) => row.createdAtMs);
}

/** Ids ascend, so that entries of one millisecond stay in order. */
export async function addSystemLog(db: Db, entry: Omit<StoredSystemLog, 'id' | 'createdAtMs'>): Promise<void> {
  const message = entry.message.replaceAll('\0', '').toWellFormed();
  await db.insert(systemLogs).values({ ...entry, id: Bun.randomUUIDv7(), message });
}
