// Without Postgres, every call throws; the body log keeps its batch and retries.
import type { LoggedBodies } from '@llm0/core/logs/body-log';
import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { rejectingBadData } from '../../sql-state';
import { fromJsonb, toJsonb } from '../jsonb-text';

/** Idempotent by request id, in one statement. */
export async function writeLogBodies(db: Db, bodies: readonly LoggedBodies[]): Promise<void> {
  const byRequest = new Map(bodies.map((one) => [one.requestId, one]));
  await rejectingBadData(() =>
    db.execute(sql`
      insert into gateway_log_bodies (request_id, created_at, project_id, request_body, upstream_request_body,
        response_body)
      select r.request_id, to_timestamp(r.created_at_ms / 1000.0), r.project_id, r.request_body,
        r.upstream_request_body, r.response_body
      from jsonb_to_recordset(${`[${[...byRequest.values()].map(toRow).join(',')}]`}::jsonb)
        as r(request_id uuid, created_at_ms bigint, project_id uuid, request_body jsonb,
          upstream_request_body jsonb, response_body jsonb)
      on conflict (request_id) do nothing`),
  );
}

/** Bodies are JSON text already and go in as they are. */
function toRow({ requestId, projectId, createdAtMs, request, upstreamRequest, response }: LoggedBodies): string {
  const columns = { request_id: requestId, project_id: projectId, created_at_ms: Math.floor(createdAtMs) };
  const bodies = { request_body: request, upstream_request_body: upstreamRequest, response_body: response };
  const texts = Object.entries(bodies).map(([name, text]) => `"${name}":${toJsonb(text ?? 'null')}`);
  return `${JSON.stringify(columns).slice(0, -1)},${texts.join(',')}}`;
}

/** Callers' requests and the answers to them, by request id; of requests without any there is no entry. */
export async function listLogBodies(
  db: Db,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, Pick<LoggedBodies, 'request' | 'response'>>> {
  if (requestIds.length === 0) return new Map();
  const rows = await db.execute<{ id: string; request: string | null; response: string | null }>(sql`
    select request_id as id, nullif(request_body, 'null')::text as request,
      nullif(response_body, 'null')::text as response
    from gateway_log_bodies where request_id in (select value::uuid
      from jsonb_array_elements_text(${JSON.stringify(requestIds)}::jsonb))`);
  const read = (text: string | null) => (text === null ? null : fromJsonb(text));
  return new Map(rows.map(({ id, request, response }) => [id, { request: read(request), response: read(response) }]));
}

/** null if not stored, or deleted. */
export async function getLogBodies(db: Db, requestId: string): Promise<LoggedBodies | null> {
  const [row] = await db.execute<{
    project_id: string;
    created_at_ms: number;
    request: string | null;
    upstream_request: string | null;
    response: string | null;
  }>(sql`
    select project_id, (extract(epoch from created_at) * 1000)::float8 as created_at_ms,
      nullif(request_body, 'null')::text as request,
      nullif(upstream_request_body, 'null')::text as upstream_request, nullif(response_body, 'null')::text as response
    from gateway_log_bodies where request_id = ${requestId}::uuid`);
  if (row === undefined) return null;
  return {
    requestId,
    projectId: row.project_id,
    createdAtMs: row.created_at_ms,
    request: row.request === null ? null : fromJsonb(row.request),
    upstreamRequest: row.upstream_request === null ? null : fromJsonb(row.upstream_request),
    response: row.response === null ? null : fromJsonb(row.response),
  };
}
