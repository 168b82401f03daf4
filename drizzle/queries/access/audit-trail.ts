import type { AuditAction, AuditResource } from '@llm0/core/access/audit-names';
import { and, desc, eq, getTableColumns, gt, gte, lt, ne, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { adminAudit } from '../../schema/operations';
import { namesProjects, ofProjects, type ProjectScope } from '../of-projects';
import { afterCursor, newestFirst, type Page, type PageRequest, toPage } from '../page';

type Entry = typeof adminAudit.$inferSelect;

/** One change made through the admin API. `before` and `after`: the resource as the API shows it, without secrets. */
export interface AuditEntry extends Readonly<Pick<Entry, 'actor' | 'resourceId'>> {
  readonly action: AuditAction;
  readonly resource: AuditResource;
  readonly before?: unknown;
  readonly after?: unknown;
}

const AUDIT_LOCK = 7_107_330_040;

export interface StoredAuditEntry extends Readonly<Omit<Entry, 'before' | 'after'>> {
  /** JSON text, so that numbers stay exact. */
  readonly beforeJson: string | null;
  readonly afterJson: string | null;
}

export async function addAuditEntry(db: Db, entry: AuditEntry): Promise<void> {
  const { actor, action, resource, resourceId } = entry;
  const shown = { before: toJsonb(entry.before), after: toJsonb(entry.after) };
  // Serializes entries in time order, so that a reader continues from an entry without gaps.
  await db.execute(sql`select pg_advisory_xact_lock(${sql.raw(String(AUDIT_LOCK))})`);
  const createdAtMs = sql`greatest(clock_timestamp(), (select max(created_at) + interval '1 ms' from admin_audit))`;
  await db.insert(adminAudit).values({ createdAtMs, actor, action, resource, resourceId, ...shown });
}

/** Events after an instant, the oldest first. */
export async function listAuditEntriesAfter(db: Db, ms: number, limit: number): Promise<readonly StoredAuditEntry[]> {
  return selectEntries(db).where(gt(adminAudit.createdAtMs, ms)).orderBy(adminAudit.createdAtMs).limit(limit);
}

/** 0 where nothing was changed yet. */
export async function findLastAuditMs(db: Db): Promise<number> {
  const [row] = await db
    .select({ ms: adminAudit.createdAtMs })
    .from(adminAudit)
    .orderBy(desc(adminAudit.createdAtMs))
    .limit(1);
  return row?.ms ?? 0;
}

function selectEntries(db: Db) {
  const { before, after, ...columns } = getTableColumns(adminAudit);
  const beforeJson = sql<string | null>`${before}::text`;
  return db.select({ ...columns, beforeJson, afterJson: sql<string | null>`${after}::text` }).from(adminAudit);
}

export interface AuditPageRequest extends PageRequest {
  readonly actor?: string;
  readonly action?: string;
  readonly actionNot?: string;
  readonly resource?: string;
  readonly resourceId?: string;
  readonly projectId?: ProjectScope;
  /** Inclusive. */
  readonly fromMs?: number;
  /** Exclusive. */
  readonly toMs?: number;
}

/** Newest first. */
export async function listAuditEntries(db: Db, page: AuditPageRequest): Promise<Page<StoredAuditEntry>> {
  const { actor, action, actionNot, resource, resourceId, projectId, fromMs, toMs } = page;
  const rows = await selectEntries(db)
    .where(
      and(
        actor === undefined ? undefined : eq(adminAudit.actor, actor),
        action === undefined ? undefined : eq(adminAudit.action, action),
        actionNot === undefined ? undefined : ne(adminAudit.action, actionNot),
        resource === undefined ? undefined : eq(adminAudit.resource, resource),
        resourceId === undefined ? undefined : eq(adminAudit.resourceId, resourceId),
        projectId === undefined ? undefined : concerns(projectId),
        fromMs === undefined ? undefined : gte(adminAudit.createdAtMs, fromMs),
        toMs === undefined ? undefined : lt(adminAudit.createdAtMs, toMs),
        afterCursor(page, adminAudit.createdAtMs, adminAudit.id),
      ),
    )
    .orderBy(...newestFirst(adminAudit.createdAtMs, adminAudit.id))
    .limit(page.limit + 1);
  return toPage(rows, page.limit);
}

/** Entries of the projects, and of the teams that own them. */
const concerns = (projectId: ProjectScope) => sql`(${namesProjects(projectId, PROJECT_OF_ENTRY)}
  or ${TEAM_OF_ENTRY} in
    (select team_id::text from projects where ${ofProjects(projectId, sql`id`)}))`;

/** Closings of a whole organization tell of other teams, too. */
const TEAM_OF_ENTRY = sql`case ${adminAudit.resource} when 'closing' then ${adminAudit.after}->>'team_id'
  when 'team' then ${adminAudit.resourceId} when 'member' then split_part(${adminAudit.resourceId}, '/', 1) end`;

/** null for what belongs to no project. Limits of a customer are named by project and customer. */
export const PROJECT_OF_ENTRY = sql`coalesce(${adminAudit.after}->>'project_id', ${adminAudit.before}->>'project_id',
  case when ${adminAudit.resource} in ('project', 'guardrails', 'customer_limits')
    then split_part(${adminAudit.resourceId}, '/', 1) end)`;

const toJsonb = (value: unknown) =>
  value === undefined || value === null ? null : sql`${JSON.stringify(value)}::jsonb`;
