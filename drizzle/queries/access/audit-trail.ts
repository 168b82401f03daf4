import { and, eq, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { adminAudit } from '../../schema/operations';
import { afterCursor, newestFirst, type Page, type PageRequest, toPage } from '../page';

/** One change made through the admin API. `before` and `after`: the resource as the API shows it, without secrets. */
export interface AuditEntry {
  readonly actor: string;
  /** `create`, `update`, `delete`, `rotate`, `purge`. */
  readonly action: string;
  readonly resource: string;
  readonly resourceId: string | null;
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface StoredAuditEntry {
  readonly id: string;
  readonly createdAtMs: number;
  readonly actor: string;
  readonly action: string;
  readonly resource: string;
  readonly resourceId: string | null;
  /** JSON text, so that numbers stay exact. */
  readonly beforeJson: string | null;
  readonly afterJson: string | null;
}

export async function addAuditEntry(db: Db, entry: AuditEntry): Promise<void> {
  await db.insert(adminAudit).values({
    actor: entry.actor,
    action: entry.action,
    resource: entry.resource,
    resourceId: entry.resourceId,
    before: toJsonb(entry.before),
    after: toJsonb(entry.after),
  });
}

/** Newest first. */
export async function listAuditEntries(
  db: Db,
  page: PageRequest & { readonly actor?: string; readonly resource?: string; readonly resourceId?: string },
): Promise<Page<StoredAuditEntry>> {
  const { actor, resource, resourceId } = page;
  const rows = await db
    .select({
      id: adminAudit.id,
      createdAtMs: adminAudit.createdAtMs,
      actor: adminAudit.actor,
      action: adminAudit.action,
      resource: adminAudit.resource,
      resourceId: adminAudit.resourceId,
      beforeJson: sql<string | null>`${adminAudit.before}::text`,
      afterJson: sql<string | null>`${adminAudit.after}::text`,
    })
    .from(adminAudit)
    .where(
      and(
        actor === undefined ? undefined : eq(adminAudit.actor, actor),
        resource === undefined ? undefined : eq(adminAudit.resource, resource),
        resourceId === undefined ? undefined : eq(adminAudit.resourceId, resourceId),
        afterCursor(page, adminAudit.createdAtMs, adminAudit.id),
      ),
    )
    .orderBy(...newestFirst(adminAudit.createdAtMs, adminAudit.id))
    .limit(page.limit + 1);
  return toPage(rows, page.limit);
}

const toJsonb = (value: unknown) =>
  value === undefined || value === null ? null : sql`${JSON.stringify(value)}::jsonb`;
