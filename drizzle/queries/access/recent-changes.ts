import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import type { CustomerPath } from '../limits/customer-limits';

/** What the admin API changed lately, as it is now: deleted projects and keys included. */
export interface RecentChanges {
  readonly projects: readonly { readonly id: string; readonly version: number }[];
  readonly keys: readonly { readonly id: string; readonly projectId: string; readonly version: number }[];
  readonly customers: readonly CustomerPath[];
}

/** From the audit, whose rows are committed with the changes themselves. */
export async function listRecentChanges(db: Db, sinceMs: number): Promise<RecentChanges> {
  const changed = (resource: string) => sql`
    select distinct resource_id from admin_audit
    where resource = ${resource} and created_at >= to_timestamp(${sinceMs}::bigint / 1000.0)`;
  const projects = await db.execute<{ id: string; version: string }>(
    sql`select id, version from projects where id::text in (${changed('project')})`,
  );
  const keys = await db.execute<{ id: string; project_id: string; version: string }>(
    sql`select id, project_id, version from api_keys where id::text in (${changed('key')})`,
  );
  const customers = await db.execute<{ resource_id: string }>(changed('customer_limits'));
  return {
    projects: projects.map((row) => ({ id: row.id, version: Number(row.version) })),
    keys: keys.map((row) => ({ id: row.id, projectId: row.project_id, version: Number(row.version) })),
    customers: customers.map(({ resource_id: name }) => ({
      projectId: name.slice(0, name.indexOf('/')),
      customerId: name.slice(name.indexOf('/') + 1),
    })),
  };
}
