import type { JsonObject } from '@llm0/core/chat/json';
import { and, eq } from 'drizzle-orm';
import type { Db } from '../../client';
import { systemLogs } from '../../schema/operations';
import { afterCursor, newestFirst, type Page, type PageRequest, toPage } from '../page';

/** One run of a job, or one thing an operator must learn of. */
export interface SystemLogEntry {
  /** The job's name, or e.g. `log_record_set_aside`. */
  readonly eventType: string;
  readonly outcome: 'ok' | 'error';
  readonly durationMs: number | null;
  readonly message: string;
  readonly metadata: JsonObject;
}

export interface StoredSystemLog extends SystemLogEntry {
  readonly id: string;
  readonly createdAtMs: number;
}

/** Ids ascend, so that entries of one millisecond keep their order in lists. */
export async function addSystemLog(db: Db, entry: SystemLogEntry): Promise<void> {
  const message = entry.message.replaceAll('\0', '').toWellFormed();
  await db.insert(systemLogs).values({ ...entry, id: Bun.randomUUIDv7(), message });
}

/** Newest first. */
export async function listSystemLogs(
  db: Db,
  page: PageRequest & { readonly eventType?: string; readonly outcome?: 'ok' | 'error' },
): Promise<Page<StoredSystemLog>> {
  const rows = await db
    .select()
    .from(systemLogs)
    .where(
      and(
        page.eventType === undefined ? undefined : eq(systemLogs.eventType, page.eventType),
        page.outcome === undefined ? undefined : eq(systemLogs.outcome, page.outcome),
        afterCursor(page, systemLogs.createdAt, systemLogs.id),
      ),
    )
    .orderBy(...newestFirst(systemLogs.createdAt, systemLogs.id))
    .limit(page.limit + 1);
  const entries = rows.map(({ createdAt, metadata, ...row }) => ({
    ...row,
    metadata: metadata as JsonObject,
    createdAtMs: createdAt.getTime(),
  }));
  return toPage(entries, page.limit);
}
