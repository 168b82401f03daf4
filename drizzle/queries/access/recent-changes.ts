import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { apiKeys } from '../../schema/api-keys';
import { projects } from '../../schema/projects';
import type { CustomerPath } from '../limits/customer-limits';

/** Recent changes through the admin API, deleted projects and keys included. */
export interface RecentChanges {
  readonly projects: readonly { readonly id: string; readonly version: number }[];
  readonly keys: readonly { readonly id: string; readonly projectId: string; readonly version: number }[];
  readonly customers: readonly CustomerPath[];
}

/** From the audit, and from rows, which commit with each change: a change of a user, role or level changes those below. */
export async function listRecentChanges(db: Db, sinceMs: number): Promise<RecentChanges> {
  const since = sql`to_timestamp(${sinceMs}::bigint / 1000.0)`;
  const changed = (...resources: string[]) => sql`
    select distinct resource_id from admin_audit
    where resource in (${sql.join(
      resources.map((resource) => sql`${resource}`),
      sql`, `,
    )}) and resource_id is not null and created_at >= ${since}`;
  const { id, projectId, version } = apiKeys;
  const changedKeys = await db
    .select({ id, projectId, version })
    .from(apiKeys)
    .where(sql`${apiKeys.updatedAtMs} >= ${since} or ${id}::text in (${changed('key')})`);
  const changedProjects = await db
    .select({ id: projects.id, version: projects.version })
    .from(projects)
    .where(sql`${projects.updatedAtMs} >= ${since} or ${projects.id}::text in (${changed('project', 'guardrails')})`);
  const customers = await db.execute<{ resource_id: string }>(changed('customer_limits'));
  return {
    projects: changedProjects,
    keys: changedKeys,
    customers: customers.map(({ resource_id: name }) => ({
      projectId: name.slice(0, name.indexOf('/')),
      customerId: name.slice(name.indexOf('/') + 1),
    })),
  };
}
