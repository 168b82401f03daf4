import type { ErrorKind } from './gateway-error';

// The one rule for what counts as failed: alerts, statistics, logs and the dashboard all use it.

/** Error codes for which the provider is at fault: not the caller, a limit or the gateway. */
export const PROVIDER_FAILURES = [
  'upstream_error',
  'upstream_unavailable',
  'upstream_rate_limited',
  'upstream_timeout',
] as const satisfies readonly ErrorKind[];
/** Error codes for which the gateway is at fault. */
const GATEWAY_FAILURES = ['internal', 'overloaded', 'store_unavailable', 'gateway_lost'] as const;

/** Codes of refusals by rate or spend: their rows have statuses of their own. */
const POLICY: readonly string[] = [
  'rate_limit_exceeded',
  'spend_cap_exceeded',
  'key_budget_exceeded',
  'label_budget_exceeded',
  'team_budget_exceeded',
  'user_budget_exceeded',
  'run_budget_exceeded',
  'run_stopped',
  'customer_spend_limit',
  'request_over_limit',
] satisfies readonly ErrorKind[];

/** Error codes of failures: callers can't avoid them. */
export const FAILURE_CODES: readonly string[] = [...PROVIDER_FAILURES, ...GATEWAY_FAILURES];

/** Codes of requests whose caller left, or asked for a cached answer only. */
const ABORTED: readonly string[] = ['client_closed', 'not_cached'] satisfies readonly ErrorKind[];

export type ErrorDomain = 'caller' | 'aborted' | 'policy' | 'provider' | 'gateway';

/** Fault of a failed or refused request, by its error code. */
export function domainOf(code: string): ErrorDomain {
  if (POLICY.includes(code)) return 'policy';
  if (ABORTED.includes(code)) return 'aborted';
  if (!FAILURE_CODES.includes(code)) return 'caller';
  return PROVIDER_FAILURES.some((one) => one === code) ? 'provider' : 'gateway';
}

/** As rows have it. */
export const STATUSES = ['success', 'rate_limited', 'cap_exceeded', 'aborted', 'error'] as const;
export const statusOf = (status: string) => STATUSES.find((known) => known === status) ?? 'error';

/** What became of a request: the status, where `error` is a failure, `caller_error` one that the caller has to mend. */
export const OUTCOMES = ['success', 'rate_limited', 'cap_exceeded', 'aborted', 'caller_error', 'error'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Outcome of a row by its status and error code. An error without a code is a failure. */
export function outcomeOf(status: string, errorCode: string | null): Outcome {
  if (status === 'error' && errorCode !== null && !FAILURE_CODES.includes(errorCode)) return 'caller_error';
  return OUTCOMES.find((known) => known === status) ?? 'error';
}

/** Share of failures among answers and failures; what callers or limits stopped doesn't count. Null without any. */
export const failureRate = ({ success, failures }: { readonly success: number; readonly failures: number }) =>
  success + failures === 0 ? null : failures / (success + failures);
