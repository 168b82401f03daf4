import type { PricedModel } from '@llm0/core/pricing/price-book';
import { sql } from 'drizzle-orm';
import type { Db } from '../client';
import { keyRows } from '../queries/access/api-keys';
import { projectRows } from '../queries/access/projects';
import { type LimitColumns, limitRows } from '../queries/limits/customer-limits';
import { getPrice, putPrice } from '../queries/routing/model-pricing';
import { legacyKeys } from '../schema/legacy-keys';
import type { convertKey, convertProject } from './convert-rows';

/** Existing objects stay: a repeated import changes nothing. All return whether it was new. */
export async function addProject(db: Db, project: ReturnType<typeof convertProject>): Promise<boolean> {
  return (await projectRows.createUnlessThere(db, project)) !== null;
}

export function addKey(db: Db, { key, legacy }: ReturnType<typeof convertKey>): Promise<boolean> {
  return db.transaction(async (tx) => {
    if ((await keyRows.createUnlessThere(tx, key)) === null) return false;
    await tx.insert(legacyKeys).values(legacy);
    return true;
  });
}

export async function addLimits(
  db: Db,
  at: { readonly projectId: string; readonly customerId: string },
  limits: LimitColumns,
): Promise<boolean> {
  return (await limitRows.createUnlessThere(db, { ...at, ...limits })) !== null;
}

/** An operator's own price stays. */
export async function addPrice(db: Db, price: PricedModel): Promise<boolean> {
  if ((await getPrice(db, price))?.edited === true) return false;
  await putPrice(db, price);
  return true;
}

/** `rows`: JSON of the Go project's rows. Returns how many were new. */
export async function addFailovers(db: Db, rows: readonly string[]): Promise<number> {
  if (rows.length === 0) return 0;
  const columns = sql.raw(`id, created_at, project_id, request_id, original_provider, original_model, fallback_provider,
    fallback_model, trigger_reason, trigger_status_code, trigger_error_message, original_attempt_latency_ms,
    fallback_latency_ms, total_latency_ms, fallback_succeeded, fallback_error_message`);
  const added = await db.execute(sql`
    insert into failover_logs (switch_index, ${columns})
    select 0, ${columns} from jsonb_to_recordset(${`[${rows.join()}]`}::jsonb) as r(id uuid, created_at timestamptz,
      project_id uuid, request_id uuid, original_provider text, original_model text, fallback_provider text,
      fallback_model text, trigger_reason text, trigger_status_code integer, trigger_error_message text,
      original_attempt_latency_ms float8, fallback_latency_ms float8, total_latency_ms float8, fallback_succeeded boolean,
      fallback_error_message text)
    on conflict do nothing returning 1`);
  return added.length;
}
