import type { Db } from '../../client';
import { systemLogs } from '../../schema/operations';
import { Rows, type Stored } from '../rows';

/** Runs of jobs, and what else an operator must learn of. */
export const systemLogRows = new Rows(systemLogs);
export type StoredSystemLog = Stored<typeof systemLogRows>;

/** Ids ascend, so that entries of one millisecond keep their order in lists. */
export async function addSystemLog(db: Db, entry: Omit<StoredSystemLog, 'id' | 'createdAtMs'>): Promise<void> {
  const message = entry.message.replaceAll('\0', '').toWellFormed();
  await db.insert(systemLogs).values({ ...entry, id: Bun.randomUUIDv7(), message });
}
