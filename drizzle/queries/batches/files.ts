import { and, asc, desc, eq, gt, inArray, isNull, lt, lte, ne, not, or, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { batches, files } from '../../schema/batches';
import { instant } from '../instant';
import { Rows, type Stored } from '../rows';

const rows = new Rows(files);
export type StoredFile = Stored<typeof rows>;
export const createFile = (db: Db, file: Omit<StoredFile, 'createdAtMs'> & { readonly createdAtMs?: number }) =>
  rows.put(db, ['id'], file);

/** Purpose of files on their way in: they take their place in the store, and nobody sees them. Expired ones were cut off. */
export const ARRIVING = 'arriving';

/**
 * Creates a file, or changes one, if the files of its project stay within `mostBytes`; else null. Two uploads at once don't
 * both get the last place.
 */
export function createFileWithin(
  db: Db,
  file: Parameters<typeof createFile>[1],
  mostBytes: number,
): Promise<StoredFile | null> {
  const { id, projectId } = file;
  return db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`files ${projectId}`}, 0))`);
    const used = await sumOthers(tx, { projectId, id });
    return used + file.bytes > mostBytes ? null : createFile(tx, file);
  });
}

/** Bytes of all other files of the project. */
async function sumOthers(db: Pick<Db, 'execute'>, { projectId, id }: OwnFile): Promise<number> {
  const [row] = await db.execute<{ bytes: number }>(sql`
    select coalesce(sum(bytes), 0)::float8 as bytes from files where project_id = ${projectId}::uuid and id <> ${id}::uuid`);
  return row?.bytes ?? 0;
}

const isLive = (nowMs: number): SQL | undefined =>
  and(or(isNull(files.expiresAtMs), gt(files.expiresAtMs, nowMs)), ne(files.purpose, ARRIVING));

/** A file as its project sees it; null for any other one's. */
export interface OwnFile {
  readonly projectId: string;
  readonly id: string;
}

export async function findFile(db: Db, { projectId, id }: OwnFile, nowMs: number): Promise<StoredFile | null> {
  const own = and(eq(files.id, id), eq(files.projectId, projectId), isLive(nowMs));
  return (await rows.first(db, 1, own))[0] ?? null;
}

/** A page of a list as vendors have it: behind or before the row of an id. */
export interface ListRequest {
  readonly projectId: string;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  readonly after?: string | undefined;
}

/** Ids are in the order of their times. */
export async function listFiles(
  db: Db,
  { projectId, limit, order, after, purpose }: ListRequest & { readonly purpose?: string | undefined },
  nowMs: number,
): Promise<{ readonly data: readonly StoredFile[]; readonly hasMore: boolean }> {
  const behind = after === undefined ? undefined : order === 'asc' ? gt(files.id, after) : lt(files.id, after);
  const wanted = purpose === undefined ? not(eq(files.purpose, INNER)) : eq(files.purpose, purpose);
  const found = await rows.first(
    db,
    limit + 1,
    and(eq(files.projectId, projectId), behind, wanted, isLive(nowMs)),
    order === 'asc' ? asc(files.id) : desc(files.id),
  );
  return { data: found.slice(0, limit), hasMore: found.length > limit };
}

/** Purpose of files that batches without an input file of their own have; lists leave them out. */
export const INNER = 'batch_requests';

/** False if there is none, or a batch under way reads it. */
export async function deleteFile(db: Db, { projectId, id }: OwnFile): Promise<boolean> {
  const gone = await db
    .delete(files)
    .where(and(eq(files.id, id), eq(files.projectId, projectId), not(isRead)))
    .returning({ id: files.id });
  return gone.length > 0;
}

const isRead = sql`exists (select from ${batches} b where b.input_file_id = ${files.id} and b.ended_at is null)`;

/** Expired files that no batch reads. */
export async function findExpiredFiles(db: Db, nowMs: number, limit: number): Promise<readonly string[]> {
  const found = await rows.first(db, limit, and(lte(files.expiresAtMs, nowMs), not(isRead)));
  return found.map(({ id }) => id);
}

export async function forgetFiles(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await db.delete(files).where(inArray(files.id, [...ids]));
}

/** Lines of batches that ended before that time leave; the batches stay. */
export async function deleteOldLines(db: Db, beforeMs: number): Promise<number> {
  const gone = await db.execute(sql`with gone as (delete from batch_lines l using batches b
    where b.id = l.batch_id and b.ended_at < ${instant(beforeMs)} returning 1)
    select count(*)::int as count from gone`);
  return Number(gone[0]?.count ?? 0);
}
