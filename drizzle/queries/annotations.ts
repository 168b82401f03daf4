import { and, desc, gte, inArray, lt, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../client';
import { adminAudit, annotations, systemLogs } from '../schema/operations';
import { PROJECT_OF_ENTRY, type StoredAuditEntry } from './access/audit-trail';
import { type StoredSystemLog, systemLogRows } from './logs/system-logs';
import { namesProjects, ofProjects, type ProjectScope } from './of-projects';
import { Rows, type Stored } from './rows';

export { ANNOTATION_KINDS } from '../schema/operations';
export const annotationRows = new Rows(annotations);
export type StoredAnnotation = Stored<typeof annotationRows>;

/** Epoch milliseconds, end exclusive; with a project, other projects' events are left out. */
export interface Happening {
  readonly fromMs: number;
  readonly toMs: number;
  readonly projectId?: ProjectScope;
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
  const own = ofProjects(projectId, sql`${annotations.projectId}`);
  const ofProject = projectId === undefined ? undefined : sql`(${annotations.projectId} is null or ${own})`;
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
        projectId === undefined
          ? undefined
          : sql`(${PROJECT_OF_ENTRY} is null or ${namesProjects(projectId, PROJECT_OF_ENTRY)})`,
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
