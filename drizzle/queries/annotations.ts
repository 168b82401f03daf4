import { and, desc, gte, inArray, lt, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../client';
import { adminAudit, annotations, systemLogs } from '../schema/operations';
import type { StoredAuditEntry } from './access/audit-trail';
import { type StoredSystemLog, systemLogRows } from './logs/system-logs';
import { Rows, type Stored } from './rows';

export { ANNOTATION_KINDS } from '../schema/operations';
export const annotationRows = new Rows(annotations);
export type StoredAnnotation = Stored<typeof annotationRows>;

/** Epoch milliseconds, end exclusive; with a project, other projects' events are left out. */
export interface Happening {
  readonly fromMs: number;
  readonly toMs: number;
  readonly projectId?: string;
}

/** Written at every start of a gateway. */
export const STARTED = 'gateway_started';

/** Annotations within a stretch of time, for lists that are narrowed to one. */
export const happenedWithin = ({
  fromMs,
  toMs,
}: {
  readonly fromMs?: number;
  readonly toMs?: number;
}): SQL | undefined =>
  and(
    fromMs === undefined ? undefined : gte(annotations.atMs, fromMs),
    toMs === undefined ? undefined : lt(annotations.atMs, toMs),
  );

/** Newest first, up to the limit. */
export async function listHappened(db: Db, stretch: Happening, limit: number): Promise<readonly StoredAnnotation[]> {
  const { projectId } = stretch;
  const ofProject =
    projectId === undefined
      ? undefined
      : sql`(${annotations.projectId} is null or ${annotations.projectId} = ${projectId})`;
  return db
    .select()
    .from(annotations)
    .where(and(happenedWithin(stretch), ofProject))
    .orderBy(desc(annotations.atMs))
    .limit(limit);
}

/** Audited changes of these kinds of things within a stretch, the newest first. */
export async function listChanges(
  db: Db,
  { fromMs, toMs, projectId }: Happening,
  { resources, limit }: { readonly resources: readonly string[]; readonly limit: number },
): Promise<readonly StoredAuditEntry[]> {
  const { createdAtMs, before, after, resource, resourceId } = adminAudit;
  // Limits of a customer are named by project and customer.
  const named = sql`case when ${resource} in ('project', 'customer_limits') then split_part(${resourceId}, '/', 1) end`;
  const owner = sql`coalesce(${after}->>'project_id', ${before}->>'project_id', ${named})`;
  return db
    .select({
      ...{ id: adminAudit.id, createdAtMs, actor: adminAudit.actor, action: adminAudit.action, resource, resourceId },
      beforeJson: sql<string | null>`${before}::text`,
      afterJson: sql<string | null>`${after}::text`,
    })
    .from(adminAudit)
    .where(
      and(
        gte(createdAtMs, fromMs),
        lt(createdAtMs, toMs),
        inArray(resource, [...resources]),
        // Routes and providers are global.
        projectId === undefined ? undefined : sql`coalesce(${owner}, ${projectId}) = ${projectId}`,
      ),
    )
    .orderBy(desc(createdAtMs))
    .limit(limit);
}

/** Starts of gateways within a stretch, the newest first. */
export async function listStarts(
  db: Db,
  { fromMs, toMs }: Happening,
  limit: number,
): Promise<readonly StoredSystemLog[]> {
  const { createdAtMs, eventType } = systemLogs;
  const found = and(sql`${eventType} = ${STARTED}`, gte(createdAtMs, fromMs), lt(createdAtMs, toMs));
  return (await systemLogRows.list(db, { limit }, {}, found)).data;
}
