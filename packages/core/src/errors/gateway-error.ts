/** Closed list of errors; `error-table.ts` maps each for the client and for routing. */
export type ErrorKind =
  | 'invalid_json'
  | 'invalid_request'
  | 'unsupported_parameter'
  | 'model_not_priced'
  | 'request_over_limit'
  | 'context_length_exceeded'
  | 'guardrail_blocked'
  | 'missing_api_key'
  | 'invalid_api_key'
  | 'key_expired'
  | 'model_not_allowed'
  | 'project_inactive'
  | 'permission_denied'
  | 'sign_in_again'
  | 'spend_cap_exceeded'
  | 'key_budget_exceeded'
  | 'label_budget_exceeded'
  | 'team_budget_exceeded'
  | 'user_budget_exceeded'
  | 'run_budget_exceeded'
  | 'run_stopped'
  | 'model_not_found'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'idempotency_conflict'
  | 'request_too_large'
  | 'rate_limit_exceeded'
  | 'customer_spend_limit'
  | 'upstream_rejected'
  | 'upstream_error'
  | 'upstream_unavailable'
  | 'upstream_rate_limited'
  | 'upstream_timeout'
  | 'not_cached'
  | 'overloaded'
  | 'store_unavailable'
  | 'client_closed'
  | 'internal';

/** Reason for a failed upstream attempt; only on upstream errors. */
export type UpstreamFailure =
  | 'rate_limited'
  | 'server_error'
  | 'auth'
  | 'not_found'
  | 'timeout'
  | 'connection'
  | 'rejected'
  | 'malformed'
  | 'truncated';

export interface AttemptSummary {
  readonly provider: string;
  readonly model: string;
  readonly failure: string;
  readonly status?: number;
  readonly latencyMs: number;
  /** Milliseconds from the request's start. */
  readonly startMs?: number;
  /** Nano-USD that the vendor bills for it, if reported. */
  readonly costNanoUsd?: number;
}

export interface GatewayErrorOptions {
  /** The request field at fault, or the scope of a limit (`key`, `customer`, `tokens`, …). */
  readonly param?: string;
  /** True remaining milliseconds until a retry can succeed. */
  readonly retryAfterMs?: number;
  /** Overrides the table's status: an upstream's own 400/413/422. */
  readonly status?: number;
  readonly failure?: UpstreamFailure;
  /** Status code the upstream answered with, when it answered. */
  readonly upstreamStatus?: number;
  readonly attempts?: readonly AttemptSummary[];
  /** Of a refusal by a budget; nano-USD. */
  readonly budget?: { readonly spentNanoUsd: number; readonly heldNanoUsd: number; readonly limitNanoUsd: number };
  readonly cause?: unknown;
}

/** The gateway's only error type. `message` goes to the client: problem and remedy, never a secret. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly kind: ErrorKind;
  readonly param: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;
  readonly failure: UpstreamFailure | undefined;
  readonly upstreamStatus: number | undefined;
  readonly attempts: readonly AttemptSummary[] | undefined;
  readonly budget: GatewayErrorOptions['budget'];

  constructor(kind: ErrorKind, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.param = options.param;
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
    this.failure = options.failure;
    this.upstreamStatus = options.upstreamStatus;
    this.attempts = options.attempts;
    this.budget = options.budget;
  }
}

/** An invalid request; `param` is the field at fault. */
export function invalidRequest(param: string, message: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', message, { param, cause });
}

export function clientClosed(cause?: unknown): GatewayError {
  return new GatewayError('client_closed', 'The caller closed the connection.', { cause });
}

export const runStopped = (runId: string): GatewayError =>
  new GatewayError('run_stopped', `The run "${runId}" was stopped by an operator. Begin another run.`, {
    param: 'run',
  });

/** Why a call was given up: the reason of its signal, else its caller left. */
export const givenUp = ({ reason }: AbortSignal, cause?: unknown): GatewayError =>
  reason instanceof GatewayError ? reason : clientClosed(cause);
