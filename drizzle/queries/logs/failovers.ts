import type { UpstreamFailure } from '@llm0/core/errors/gateway-error';
import { PROVIDER_FAILURES } from '@llm0/core/errors/outcome';
import { eq, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { failoverLogs } from '../../schema/gateway-logs';
import { innerRow } from '../inner-names';
import { ofProjects, type ProjectScope } from '../of-projects';
import { Rows, type Stored } from '../rows';
import { askInTime } from '../stats/read/time-limit';

/** Switches from one target to the next. */
export const failoverRows = new Rows(failoverLogs);
export type StoredFailover = Stored<typeof failoverRows>;

/** The switches of one request, in order. */
export function listFailovers(db: Db, requestId: string): Promise<readonly StoredFailover[]> {
  return failoverRows.find(db, eq(failoverLogs.requestId, requestId), failoverLogs.switchIndex);
}

/** Equal switches from one target to the next. */
export interface FailoverGroup
  extends Pick<
    StoredFailover,
    | 'originalProvider'
    | 'originalModel'
    | 'fallbackProvider'
    | 'fallbackModel'
    | 'triggerReason'
    | 'triggerStatusCode'
    | 'fallbackSucceeded'
  > {
  readonly times: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** Median time of the failed attempts; null where targets were skipped, which takes no time. */
  readonly lostMs: number | null;
}

export interface FailoverQuery {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly projectId?: ProjectScope;
}

/** All switches of a range, the latest group first. */
export async function groupFailovers(
  db: Db,
  { fromMs, toMs, projectId }: FailoverQuery,
): Promise<readonly FailoverGroup[]> {
  const at = (ms: number) => sql`to_timestamp(${ms}::bigint / 1000.0)`;
  const msOf = (which: 'min' | 'max') => sql`(extract(epoch from ${sql.raw(which)}(created_at)) * 1000)::float8`;
  const rows = await askInTime(db, (ask) =>
    ask(sql`select original_provider, original_model, fallback_provider, fallback_model, trigger_reason,
        trigger_status_code, fallback_succeeded, count(*)::float8 as times,
        ${msOf('min')} as first_at, ${msOf('max')} as last_at,
        (percentile_disc(0.5) within group (order by original_attempt_latency_ms)
          filter (where original_attempt_latency_ms > 0))::float8 as lost_ms
      from failover_logs where created_at >= ${at(fromMs)} and created_at < ${at(toMs)} and ${ofProjects(projectId)}
      group by 1, 2, 3, 4, 5, 6, 7 order by last_at desc, 1, 2, 3, 4, 5, 6, 7`),
  );
  return rows.map((row) => innerRow<FailoverGroup>(row));
}

/** Error codes by the failure of an attempt. Rejected requests and unknown models are errors of callers. */
const CODES = {
  rate_limited: 'upstream_rate_limited',
  timeout: 'upstream_timeout',
  server_error: 'upstream_error',
  auth: 'upstream_error',
  connection: 'upstream_error',
  malformed: 'upstream_error',
  truncated: 'upstream_error',
} as const satisfies Record<Exclude<UpstreamFailure, 'rejected' | 'not_found'>, (typeof PROVIDER_FAILURES)[number]>;

const codes = new Map<string, string>(Object.entries(CODES));
/** Error code of an attempt that failed by the provider's fault; null for other outcomes. */
export const codeOfAttempt = (outcome: string): string | null => codes.get(outcome) ?? null;

/** Failures of attempts by the provider's fault, for an SQL list. */
export const ATTEMPT_FAILURES = sql.raw([...codes.keys()].map((name) => `'${name}'`).join(', '));

/** Of a row `f` of `failover_logs`: the provider failed, and the request moved on. A skipped target has latency 0. */
export const IS_FAILED_ATTEMPT = sql`(f.original_attempt_latency_ms > 0 and f.trigger_reason in (${ATTEMPT_FAILURES}))`;

/** Of the same row: or it was paused for its failures. */
export const HAS_LEFT = sql`(${IS_FAILED_ATTEMPT} or f.trigger_reason in ('breaker_open', 'cooling_down'))`;

/** Error codes that are a provider's fault, for an SQL list. */
export const FAILURES = sql.raw([...PROVIDER_FAILURES].map((name) => `'${name}'`).join(', '));

/** Of the same row: it failed at the provider. */
export const failedAt = (provider: string): SQL => sql`f.original_provider = ${provider} and ${IS_FAILED_ATTEMPT}`;

/** Of a row of the log: its last provider failed by its own fault. */
export const HAS_FAILED = sql`(status = 'error' and error_code in (${FAILURES}))`;

/** Of a row of the log: its last provider answered, or failed by its own fault. */
export const WAS_JUDGED = sql`((status = 'success' and not cache_hit and not semantic_cache_hit) or ${HAS_FAILED})`;

/** A switch as `FailoverGroup` tells them apart; what is undefined may be anything. */
export interface Switch extends Pick<FailoverGroup, 'originalProvider' | 'originalModel'> {
  readonly fallbackProvider: string;
  readonly fallbackModel: string;
  readonly triggerReason?: string;
  readonly triggerStatusCode?: number | null;
  readonly fallbackSucceeded?: boolean;
}

/** Of a row `f` of `failover_logs`: it is such a switch. */
export function isSwitch(wanted: Switch): SQL {
  const { triggerReason: reason, triggerStatusCode: status, fallbackSucceeded: succeeded } = wanted;
  const conditions = [
    sql`f.original_provider = ${wanted.originalProvider} and f.original_model = ${wanted.originalModel}`,
    sql`f.fallback_provider = ${wanted.fallbackProvider} and f.fallback_model = ${wanted.fallbackModel}`,
    reason === undefined ? undefined : sql`f.trigger_reason = ${reason}`,
    status === undefined ? undefined : sql`f.trigger_status_code is not distinct from ${status}`,
    succeeded === undefined ? undefined : sql`f.fallback_succeeded = ${succeeded}`,
  ];
  return sql.join(
    conditions.filter((one) => one !== undefined),
    sql` and `,
  );
}
