import type { ErrorKind, GatewayError, UpstreamFailure } from './gateway-error';

/** Row status in `gateway_logs` (contract: storage). */
export type LogStatus = 'success' | 'rate_limited' | 'cap_exceeded' | 'aborted' | 'error';

interface ErrorRow {
  readonly status: number;
  /** OpenAI's `error.type`. */
  readonly type: string;
  readonly logStatus: LogStatus;
}

const row = (status: number, type: string, logStatus: LogStatus = 'error'): ErrorRow => ({ status, type, logStatus });

/** Status and type of each kind on the wire and in the log. `code` is the kind itself. */
export const ERROR_TABLE = {
  invalid_json: row(400, 'invalid_request_error'),
  invalid_request: row(400, 'invalid_request_error'),
  unsupported_parameter: row(400, 'invalid_request_error'),
  model_not_priced: row(400, 'invalid_request_error'),
  request_over_limit: row(400, 'invalid_request_error', 'cap_exceeded'),
  context_length_exceeded: row(400, 'invalid_request_error'),
  guardrail_blocked: row(400, 'invalid_request_error'),
  missing_api_key: row(401, 'authentication_error'),
  invalid_api_key: row(401, 'authentication_error'),
  key_expired: row(403, 'permission_error'),
  model_not_allowed: row(403, 'permission_error'),
  project_inactive: row(403, 'permission_error'),
  permission_denied: row(403, 'permission_error'),
  sign_in_again: row(403, 'permission_error'),
  spend_cap_exceeded: row(402, 'insufficient_quota', 'cap_exceeded'),
  key_budget_exceeded: row(402, 'insufficient_quota', 'cap_exceeded'),
  label_budget_exceeded: row(402, 'insufficient_quota', 'cap_exceeded'),
  team_budget_exceeded: row(402, 'insufficient_quota', 'cap_exceeded'),
  user_budget_exceeded: row(402, 'insufficient_quota', 'cap_exceeded'),
  run_budget_exceeded: row(402, 'insufficient_quota', 'cap_exceeded'),
  run_stopped: row(402, 'insufficient_quota', 'cap_exceeded'),
  model_not_found: row(404, 'invalid_request_error'),
  not_found: row(404, 'invalid_request_error'),
  method_not_allowed: row(405, 'invalid_request_error'),
  conflict: row(409, 'invalid_request_error'),
  idempotency_conflict: row(409, 'invalid_request_error'),
  request_too_large: row(413, 'invalid_request_error'),
  rate_limit_exceeded: row(429, 'rate_limit_error', 'rate_limited'),
  customer_spend_limit: row(429, 'insufficient_quota', 'cap_exceeded'),
  upstream_rejected: row(400, 'invalid_request_error'),
  upstream_error: row(502, 'api_error'),
  upstream_unavailable: row(503, 'api_error'),
  upstream_rate_limited: row(429, 'rate_limit_error'),
  upstream_timeout: row(504, 'api_error'),
  // The caller asked for cached answers only: nobody failed.
  not_cached: row(504, 'invalid_request_error', 'aborted'),
  overloaded: row(503, 'api_error'),
  store_unavailable: row(503, 'api_error'),
  client_closed: row(499, 'api_error', 'aborted'),
  internal: row(500, 'api_error'),
} as const satisfies Record<ErrorKind, ErrorRow>;

interface FailureRow {
  /** May another target be tried? */
  readonly failover: boolean;
  /** May the same target be tried once more? */
  readonly retrySameTarget: boolean;
  /** Does it count against the target's circuit breaker? */
  readonly countsAgainstTarget: boolean;
}

/** Routing's reaction to each failure of an attempt (contract: routing). */
export const FAILURE_TABLE = {
  rate_limited: { failover: true, retrySameTarget: false, countsAgainstTarget: false },
  server_error: { failover: true, retrySameTarget: true, countsAgainstTarget: true },
  auth: { failover: true, retrySameTarget: false, countsAgainstTarget: true },
  not_found: { failover: true, retrySameTarget: false, countsAgainstTarget: false },
  timeout: { failover: true, retrySameTarget: false, countsAgainstTarget: true },
  connection: { failover: true, retrySameTarget: true, countsAgainstTarget: true },
  rejected: { failover: false, retrySameTarget: false, countsAgainstTarget: false },
  malformed: { failover: true, retrySameTarget: false, countsAgainstTarget: true },
  truncated: { failover: true, retrySameTarget: false, countsAgainstTarget: true },
} as const satisfies Record<UpstreamFailure, FailureRow>;

/** HTTP status of an error: the upstream's if present, else the table's. */
export function errorStatus(error: GatewayError): number {
  return error.status ?? ERROR_TABLE[error.kind].status;
}
