import type { UpstreamFailure } from '@llm0/core/errors/gateway-error';
import type { PROVIDER_FAILURES } from '@llm0/core/errors/outcome';
import { eq, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { failoverLogs } from '../../schema/gateway-logs';
import { Rows, type Stored } from '../rows';

/** Switches from one target to the next. */
export const failoverRows = new Rows(failoverLogs);
export type StoredFailover = Stored<typeof failoverRows>;

/** The switches of one request, in order. */
export function listFailovers(db: Db, requestId: string): Promise<readonly StoredFailover[]> {
  return failoverRows.find(db, eq(failoverLogs.requestId, requestId), failoverLogs.switchIndex);
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
