import type { CustomerLimits } from '@llm0/core/limits/hot-store';
import { and, eq, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { customerLimits } from '../../schema/customers';

export interface CustomerPath {
  readonly projectId: string;
  readonly customerId: string;
}

export interface StoredCustomerLimits extends CustomerPath {
  readonly limits: CustomerLimits;
  readonly version: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

type Row = typeof customerLimits.$inferSelect;

function toStored(row: Row): StoredCustomerLimits {
  const { id: _, projectId, customerId, version, modelLimits, createdAt, updatedAt, ...limits } = row;
  const modelRequestsPerDay: Record<string, number> = {};
  for (const [model, limit] of Object.entries(modelLimits)) {
    if (typeof limit.requests_per_day === 'number') modelRequestsPerDay[model] = limit.requests_per_day;
  }
  return {
    projectId,
    customerId,
    limits: { ...limits, modelRequestsPerDay },
    version,
    createdAtMs: createdAt.getTime(),
    updatedAtMs: updatedAt.getTime(),
  };
}

export async function getCustomerLimits(db: Db, path: CustomerPath): Promise<StoredCustomerLimits | null> {
  const [row] = await db.select().from(customerLimits).where(at(path));
  return row === undefined ? null : toStored(row);
}

/** Replaces all limits of the customer and raises `version`. Throws (foreign key) when the project does not exist. */
export async function putCustomerLimits(
  db: Db,
  path: CustomerPath,
  limits: CustomerLimits,
): Promise<StoredCustomerLimits> {
  const { modelRequestsPerDay, ...columns } = limits;
  const modelLimits = Object.fromEntries(
    Object.entries(modelRequestsPerDay).map(([model, perDay]) => [model, { requests_per_day: perDay }]),
  );
  const [row] = await db
    .insert(customerLimits)
    .values({ projectId: path.projectId, customerId: path.customerId, ...columns, modelLimits })
    .onConflictDoUpdate({
      target: [customerLimits.projectId, customerLimits.customerId],
      set: { ...columns, modelLimits },
    })
    .returning();
  if (row === undefined) throw new Error('upsert into customer_limits returned no row');
  return toStored(row);
}

/** False when the customer had none. */
export async function deleteCustomerLimits(db: Db, path: CustomerPath): Promise<boolean> {
  const rows = await db.delete(customerLimits).where(at(path)).returning({ id: customerLimits.id });
  return rows.length > 0;
}

/** Everything the hot store mirrors. */
export async function listAllCustomerLimits(db: Db): Promise<readonly StoredCustomerLimits[]> {
  const rows = await db
    .select()
    .from(customerLimits)
    .where(sql`exists (select 1 from projects p where p.id = ${customerLimits.projectId} and p.deleted_at is null)`);
  return rows.map(toStored);
}

const at = (path: CustomerPath) =>
  and(eq(customerLimits.projectId, path.projectId), eq(customerLimits.customerId, path.customerId));
