import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { countGone, hasSemanticCache } from '../count-gone';
import { instant } from '../instant';

/** Rows deleted in one statement: short locks, short transactions. */
const BATCH = 10_000;

/** The last and first UTC days of months, on which months of every zone begin: statements need their hours for good. */
const ON_MONTHS_EDGE = sql.raw(
  `(extract(day from bucket at time zone 'UTC') = 1 or extract(day from bucket at time zone 'UTC' + interval '1 day') = 1)`,
);

/** Table → expired rows at the given instant. Partitions are dropped elsewhere. */
const EXPIRED = {
  rollup_minute: (ms: number) => sql`bucket < ${instant(ms)}`,
  rollup_hour: (ms: number) => sql`bucket < ${instant(ms)} and not ${ON_MONTHS_EDGE}`,
  rollup_modality_hour: (ms: number) => sql`bucket < ${instant(ms)} and not ${ON_MONTHS_EDGE}`,
  rollup_tool_hour: (ms: number) => sql`bucket < ${instant(ms)}`,
  rollup_guardrail_hour: (ms: number) => sql`bucket < ${instant(ms)}`,
  rollup_error: (ms: number) => sql`bucket < ${instant(ms)}`,
  gateway_log_bodies: (ms: number) => sql`created_at < ${instant(ms)}`,
  // The last batch stays: it proves to readers that they missed nothing. So do those that a sink still needs.
  log_batches: (ms: number) => sql`created_at < ${instant(ms)} and seq < (select max(seq) from log_batches)
    and seq <= coalesce((select min((value->>'seq')::bigint) from settings where starts_with(key, 'log_sink:')), seq)
    and seq < coalesce((select min(seq) from log_lines where lines is not null), seq + 1)`,
  system_logs: (ms: number) => sql`created_at < ${instant(ms)}`,
  alert_firings: (ms: number) => sql`ended_at < ${instant(ms)}`,
  exact_cache: (ms: number) => sql`expires_at < ${instant(ms)}`,
  semantic_matches: (ms: number) => sql`created_at < ${instant(ms)}`,
  idempotency_keys: (ms: number) => sql`expires_at < ${instant(ms)}`,
  kept_answers: (ms: number) => sql`expires_at < ${instant(ms)}`,
  realtime_secrets: (ms: number) => sql`expires_at < ${instant(ms)}`,
} as const satisfies Record<string, (ms: number) => SQL>;

export type ExpiringTable = keyof typeof EXPIRED;

/** Deletes rows before the instant in batches; returns their number. */
export async function deleteExpired(db: Db, table: ExpiringTable, beforeMs: number): Promise<number> {
  const name = sql.identifier(table);
  let total = 0;
  for (;;) {
    const batch = sql`select ctid from ${name} where ${EXPIRED[table](beforeMs)} limit ${sql.raw(String(BATCH))}`;
    const deleted = await countGone(db, sql`delete from ${name} where ctid in (${batch})`);
    total += deleted;
    if (deleted < BATCH) return total;
  }
}

/** Deletes expired rows of `semantic_cache`, which only exists with pgvector. */
export async function deleteExpiredSemantic(db: Db, nowMs: number): Promise<number> {
  if (!(await hasSemanticCache(db))) return 0;
  return countGone(db, sql`delete from semantic_cache where expires_at < ${instant(nowMs)}`);
}
