import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { fromJsonb } from '../jsonb-text';
import { askInTime } from '../stats/read/time-limit';

/** Bodies of one request as JSON text; null if not stored. */
export interface KeptBodies {
  readonly requestId: string;
  readonly createdAtMs: number;
  readonly request: string | null;
  readonly response: string | null;
}

export interface KeptRange {
  readonly projectId: string;
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly limit: number;
  /** Only earlier rows. */
  readonly before?: { readonly createdAtMs: number; readonly requestId: string } | undefined;
}

/** Rows of a project, newest first. Throws `QuestionTooLargeError` after some seconds. */
export async function listKeptBodies(
  db: Db,
  { projectId, fromMs, toMs, limit, before }: KeptRange,
): Promise<readonly KeptBodies[]> {
  const isBefore =
    before === undefined
      ? sql`true`
      : sql`(created_at, request_id) < (to_timestamp(${before.createdAtMs} / 1000.0), ${before.requestId}::uuid)`;
  const rows = await askInTime(db, (ask) =>
    ask<{ id: string; ms: number; request: string | null; response: string | null }>(sql`
      select request_id as id, (extract(epoch from created_at) * 1000)::float8 as ms,
        nullif(request_body, 'null')::text as request, nullif(response_body, 'null')::text as response
      from gateway_log_bodies
      where project_id = ${projectId}::uuid and created_at >= to_timestamp(${fromMs} / 1000.0)
        and created_at < to_timestamp(${toMs} / 1000.0) and ${isBefore}
      order by created_at desc, request_id desc limit ${limit}`),
  );
  const read = (text: string | null) => (text === null ? null : fromJsonb(text));
  return rows.map(({ id, ms, request, response }) => ({
    ...{ requestId: id, createdAtMs: ms, request: read(request), response: read(response) },
  }));
}
