import { and, asc, desc, eq, gt, inArray, isNull, lt, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { type BatchDialect, type BatchStatus, batches } from '../../schema/batches';
import { ofProjects, type ProjectScope } from '../of-projects';
import type { Page, PageRequest } from '../page';
import { ofLiveProject, Rows, type Stored } from '../rows';
import type { ListRequest, OwnFile } from './files';

export type {
  BatchDialect,
  BatchStatus,
  ForwardedBatch,
  ForwardedPart,
  LineFault,
  LineState,
} from '../../schema/batches';

const rows = new Rows(batches);
export type StoredBatch = Stored<typeof rows>;
type NewBatch = Parameters<typeof rows.create>[1];

export const createBatch = (db: Db, batch: NewBatch): Promise<StoredBatch> => rows.create(db, batch);
export const readBatch = (db: Db, id: string): Promise<StoredBatch | null> => rows.get(db, { id });

interface OwnBatch extends OwnFile {
  readonly dialect: BatchDialect;
}

/** null for another project's or another API's. */
export const findBatch = (db: Db, own: OwnBatch): Promise<StoredBatch | null> => rows.get(db, { ...own });

/** Ids are in the order of their times. */
export async function listBatches(
  db: Db,
  { projectId, dialect, limit, order, after }: ListRequest & { readonly dialect: BatchDialect },
): Promise<{ readonly data: readonly StoredBatch[]; readonly hasMore: boolean }> {
  const behind = after === undefined ? undefined : order === 'asc' ? gt(batches.id, after) : lt(batches.id, after);
  const own = and(eq(batches.projectId, projectId), eq(batches.dialect, dialect), behind);
  const found = await rows.first(db, limit + 1, own, order === 'asc' ? asc(batches.id) : desc(batches.id));
  return { data: found.slice(0, limit), hasMore: found.length > limit };
}

/** For operators: newest first, without those of deleted projects. */
export const pageOfBatches = (
  db: Db,
  page: PageRequest,
  { projectId, status }: { readonly projectId?: ProjectScope; readonly status?: BatchStatus | undefined },
): Promise<Page<StoredBatch>> => rows.list(db, page, { projectId, status }, ofLiveProject(batches.projectId));

export async function findAnyBatch(db: Db, id: string, scope?: ProjectScope): Promise<StoredBatch | null> {
  const found = await rows.first(db, 1, and(eq(batches.id, id), ofProjects(scope, sql`${batches.projectId}`)));
  return found[0] ?? null;
}

export const listOpenBatches = (db: Db): Promise<readonly StoredBatch[]> =>
  rows.find(db, isNull(batches.endedAtMs), asc(batches.createdAtMs));

/** Moves on a batch that is in one of these states; null if it isn't. */
export async function moveBatch(
  db: Db,
  { id, from }: { readonly id: string; readonly from: readonly BatchStatus[] },
  to: Parameters<typeof rows.update>[2],
): Promise<StoredBatch | null> {
  return rows.update(db, { id, status: from }, to);
}

/** Deletes an ended batch with its lines; null if there is none. */
export async function deleteBatch(db: Db, { projectId, dialect, id }: OwnBatch): Promise<StoredBatch | null> {
  const own = and(eq(batches.id, id), eq(batches.projectId, projectId), eq(batches.dialect, dialect), IS_ENDED);
  const [gone] = await db.delete(batches).where(own).returning();
  return gone ?? null;
}

const IS_ENDED: SQL = sql`${batches.endedAtMs} is not null`;

/** Those that still go on. */
export const OPEN: readonly BatchStatus[] = ['validating', 'in_progress', 'finalizing', 'cancelling'];
export const isOneOfBatches = (ids: readonly string[]): SQL => inArray(batches.id, [...ids]);
