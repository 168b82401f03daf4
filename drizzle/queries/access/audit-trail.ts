import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { adminAudit } from '../../schema/operations';
import { afterCursor, newestFirst, type Page, type PageRequest, toPage } from '../page';

type Entry = typeof adminAudit.$inferSelect;

/** One change made through the admin API. `before` and `after`: the resource as the API shows it, without secrets. */
export interface AuditEntry extends Readonly<Pick<Entry, 'actor' | 'action' | 'resource' | 'resourceId'>> {
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface StoredAuditEntry extends Readonly<Omit<Entry, 'before' | 'after'>> {
  /** JSON text, so that numbers stay exact. */
  readonly beforeJson: string | null;
  readonly afterJson: string | null;
}

export async function addAuditEntry(db: Db, entry: AuditEntry): Promise<void> {
  const { actor, action, resource, resourceId } = entry;
  const shown = { before: toJsonb(entry.before), after: toJsonb(entry.after) };
  await db.insert(adminAudit).values({ actor, action, resource, resourceId, ...shown });
}

/** Newest first. */
export async function listAuditEntries(
  db: Db,
  page: PageRequest & { readonly actor?: string; readonly resource?: string; readonly resourceId?: string },
): Promise<Page<StoredAuditEntry>> {
  const { actor, resource, resourceId } = page;
  const { before, after, ...columns } = getTableColumns(adminAudit);
  const beforeJson = sql<string | null>`${before}::text`;
  const rows = await db
    .select({ ...columns, beforeJson, afterJson: sql<string | null>`${after}::text` })
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
