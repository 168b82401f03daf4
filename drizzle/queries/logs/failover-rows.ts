import type { LogAttempt, LogRecord } from '@llm0/core/logs/log-record';
import { sql } from 'drizzle-orm';
import type { Db } from '../../client';

const SUCCEEDED = 'ok';

/** One row of `failover_logs` for each switch from a target to another one. */
export function switchesOf(record: LogRecord) {
  const attempts = record.attempts ?? [];
  const rows = [];
  for (const [index, fallback] of attempts.entries()) {
    const original = attempts[index - 1];
    // After a success, only an abandoned hedge follows.
    if (original === undefined || original.outcome === SUCCEEDED || sameTarget(original, fallback)) continue;
    const succeeded = fallback.outcome === SUCCEEDED;
    rows.push({
      created_at_ms: record.createdAtMs,
      project_id: record.projectId,
      request_id: record.id,
      switch_index: rows.length,
      original_provider: original.provider,
      original_model: original.model,
      fallback_provider: fallback.provider,
      fallback_model: fallback.model,
      trigger_reason: original.outcome,
      trigger_status_code: original.status,
      original_attempt_latency_ms: original.latencyMs,
      fallback_latency_ms: fallback.latencyMs,
      total_latency_ms: record.latencyMs,
      fallback_succeeded: succeeded,
      fallback_error_message: succeeded ? undefined : fallback.outcome,
    });
  }
  return rows;
}

export type SwitchRow = ReturnType<typeof switchesOf>[number];

const sameTarget = (a: LogAttempt, b: LogAttempt) => a.provider === b.provider && a.model === b.model;

/** Idempotent by request and switch. */
export async function insertFailovers(tx: Db, rows: readonly SwitchRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.execute(sql`
    insert into failover_logs (created_at, project_id, request_id, switch_index, original_provider, original_model,
      fallback_provider, fallback_model, trigger_reason, trigger_status_code, original_attempt_latency_ms,
      fallback_latency_ms, total_latency_ms, fallback_succeeded, fallback_error_message)
    select to_timestamp(r.created_at_ms / 1000.0), r.project_id, r.request_id, r.switch_index, r.original_provider,
      r.original_model, r.fallback_provider, r.fallback_model, r.trigger_reason, r.trigger_status_code,
      r.original_attempt_latency_ms, r.fallback_latency_ms, r.total_latency_ms, r.fallback_succeeded,
      r.fallback_error_message
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(created_at_ms bigint, project_id uuid, request_id uuid,
      switch_index integer, original_provider text, original_model text, fallback_provider text, fallback_model text,
      trigger_reason text, trigger_status_code integer, original_attempt_latency_ms double precision,
      fallback_latency_ms double precision, total_latency_ms double precision, fallback_succeeded boolean,
      fallback_error_message text)
    on conflict (request_id, switch_index) do nothing`);
}
