import type { GuardrailMark } from '@llm0/core/guardrails/policy';
import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { executePrepared } from '../execute-prepared';

/** Guardrail facts of a written row. */
export interface MarkedRow {
  readonly createdAtMs: number;
  readonly projectId: string;
  readonly guardrails?: readonly GuardrailMark[];
}

/** Outcome of a finding. */
export type GuardrailOutcome = 'done' | 'watched' | 'failed' | 'timeout';

const HOUR_MS = 3_600_000;
const ROLLUPS = [
  { table: 'rollup_guardrail_hour', bucketMs: HOUR_MS },
  { table: 'rollup_guardrail_day', bucketMs: 24 * HOUR_MS },
] as const;

interface Place {
  readonly bucketMs: number;
  readonly projectId: string;
  readonly rule: string;
  readonly side: string;
  readonly check: string;
  readonly action: string;
  readonly outcome: GuardrailOutcome;
}

interface Sums {
  requests: number;
  matches: number;
  ms: number;
}

export const outcomeOf = ({ error, shadow }: GuardrailMark): GuardrailOutcome =>
  error ?? (shadow === true ? 'watched' : 'done');

/**
 * Adds rows' guardrail marks to the roll-ups, in the same transaction. Rows of the reaper have none, so corrections
 * subtract nothing.
 */
export async function writeGuardrailRollups(tx: Db, rows: readonly MarkedRow[]): Promise<void> {
  const marked = rows.filter(({ guardrails }) => guardrails !== undefined && guardrails.length > 0);
  if (marked.length === 0) return;
  for (const { table, bucketMs } of ROLLUPS)
    await executePrepared(tx, upsert(table, JSON.stringify(sumsOf(marked, bucketMs))));
}

/** One change for each place, in the order of places: no two transactions wait for each other. */
function sumsOf(rows: readonly MarkedRow[], bucketMs: number) {
  const groups = new Map<string, { readonly at: Place; readonly sums: Sums }>();
  for (const { createdAtMs, projectId, guardrails = [] } of rows) {
    const seen = new Set<string>();
    for (const mark of guardrails) {
      const { rule, on: side, check, action } = mark;
      const bucket = createdAtMs - (createdAtMs % bucketMs);
      const at = {
        bucketMs: bucket,
        projectId: projectId.toLowerCase(),
        rule,
        side,
        check,
        action,
        outcome: outcomeOf(mark),
      };
      const id = JSON.stringify(Object.values(at));
      const { sums } = groups.getOrInsertComputed(id, () => ({ at, sums: { requests: 0, matches: 0, ms: 0 } }));
      // A rule that finds something in two parts of a request does so in one request.
      if (!seen.has(id)) sums.requests += 1;
      seen.add(id);
      sums.matches += mark.count;
      sums.ms += mark.ms;
    }
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { at, sums }]) => ({ ...at, ...sums }));
}

const upsert = (table: string, json: string) => sql`
  insert into ${sql.identifier(table)} as t (bucket, project_id, rule, side, check_type, action, outcome, requests, matches, ms)
  select to_timestamp(r."bucketMs" / 1000.0), r."projectId", r.rule, r.side, r."check", r.action, r.outcome, r.requests,
    r.matches, r.ms
  from json_to_recordset(${json}::json) as r("bucketMs" bigint, "projectId" uuid, rule text, side text, "check" text,
    action text, outcome text, requests bigint, matches bigint, ms double precision)
  on conflict (bucket, project_id, rule, side, check_type, action, outcome) do update set
    requests = t.requests + excluded.requests, matches = t.matches + excluded.matches, ms = t.ms + excluded.ms`;
