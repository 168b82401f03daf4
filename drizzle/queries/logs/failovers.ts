import { and, eq } from 'drizzle-orm';
import type { Db } from '../../client';
import { failoverLogs } from '../../schema/gateway-logs';
import { afterCursor, newestFirst, type Page, type PageRequest, toPage } from '../page';

export interface FailoverEntry extends Omit<typeof failoverLogs.$inferSelect, 'createdAt'> {
  readonly createdAtMs: number;
}

/** Switches from one target to the next, newest first. */
export async function listAllFailovers(
  db: Db,
  page: PageRequest & { readonly projectId?: string; readonly provider?: string },
): Promise<Page<FailoverEntry>> {
  const rows = await db
    .select()
    .from(failoverLogs)
    .where(
      and(
        page.projectId === undefined ? undefined : eq(failoverLogs.projectId, page.projectId),
        page.provider === undefined ? undefined : eq(failoverLogs.originalProvider, page.provider),
        afterCursor(page, failoverLogs.createdAt, failoverLogs.id),
      ),
    )
    .orderBy(...newestFirst(failoverLogs.createdAt, failoverLogs.id))
    .limit(page.limit + 1);
  const entries = rows.map(({ createdAt, ...row }) => ({ ...row, createdAtMs: createdAt.getTime() }));
  return toPage(entries, page.limit);
}
