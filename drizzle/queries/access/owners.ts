import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { findCall } from '../clickhouse/call-rows';
import { findRow } from '../clickhouse/find-rows';
import { rowsBefore } from '../clickhouse/log-engine';

/** Projects of a row by its id. A request may have a row in the log, among tool calls, and kept bodies. */
const OWNERS = {
  request: (id) => sql`select project_id from gateway_logs where request_id = ${id}::uuid
    union select project_id from tool_calls where request_id = ${id}::uuid
    union select project_id from gateway_log_bodies where request_id = ${id}::uuid`,
  alias: (id) => sql`select project_id from aliases where id = ${id}::uuid`,
  alert: (id) => sql`select project_id from alerts where id = ${id}::uuid`,
  annotation: (id) => sql`select project_id from annotations where id = ${id}::uuid`,
  label_budget: (id) => sql`select project_id from label_budgets where id = ${id}::uuid`,
} as const satisfies Record<string, (id: string) => SQL>;

export type OwnedRow = keyof typeof OWNERS;
export const isOwnedRow = (kind: string): kind is OwnedRow => kind in OWNERS;

/** null is of no project; empty without such a row. */
export async function findOwnersOfRow(db: Db, kind: OwnedRow, id: string): Promise<readonly (string | null)[]> {
  const rows = await db.execute<{ project_id: string | null }>(OWNERS[kind](id));
  if (rows.length > 0 || kind !== 'request') return rows.map((row) => row.project_id);
  const elsewhere = await rowsBefore(db);
  const row =
    elsewhere === undefined ? null : ((await findRow(elsewhere.ask, id)) ?? (await findCall(elsewhere.ask, id)));
  return row === null ? [] : [row.projectId];
}

/** The person of a key; undefined without such a key. */
export async function findUserOfKey(
  db: Db,
  path: { readonly projectId: string; readonly keyId: string },
): Promise<{ readonly userId: string | null; readonly isSignOn: boolean } | undefined> {
  const [row] = await db.execute<{ userId: string | null; isSignOn: boolean }>(
    sql`select user_id as "userId", is_sign_on as "isSignOn" from api_keys where id = ${path.keyId}::uuid and project_id = ${path.projectId}::uuid`,
  );
  return row;
}
