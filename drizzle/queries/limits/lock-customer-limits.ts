import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import type { CustomerPath } from './customer-limits';

/** Waits for, and holds until the transaction's end, the one right to mirror this customer's limits. */
export async function lockCustomerLimits(tx: Db, path: CustomerPath): Promise<void> {
  const name = `customer-limits ${path.projectId} ${path.customerId}`;
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
}
