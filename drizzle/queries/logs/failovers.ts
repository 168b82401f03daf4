import { eq } from 'drizzle-orm';
import type { Db } from '../../client';
import { failoverLogs } from '../../schema/gateway-logs';
import { Rows, type Stored } from '../rows';

/** Switches from one target to the next. */
export const failoverRows = new Rows(failoverLogs);
export type StoredFailover = Stored<typeof failoverRows>;

/** The switches of one request, in order. */
export function listFailovers(db: Db, requestId: string): Promise<readonly StoredFailover[]> {
  return failoverRows.find(db, eq(failoverLogs.requestId, requestId), failoverLogs.switchIndex);
}
