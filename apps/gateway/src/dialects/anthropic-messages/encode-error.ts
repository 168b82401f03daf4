import { errorStatus } from '@llm0/core/errors/error-table';
import type { ErrorKind, GatewayError } from '@llm0/core/errors/gateway-error';
import { encodeErrorDetails } from '../encode-error-details';

/** The format's words for errors. Source: https://platform.claude.com/docs/en/api/errors */
type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'billing_error'
  | 'permission_error'
  | 'not_found_error'
  | 'request_too_large'
  | 'rate_limit_error'
  | 'api_error'
  | 'timeout_error'
  | 'overloaded_error';

const ERROR_TYPES = {
  invalid_json: 'invalid_request_error',
  invalid_request: 'invalid_request_error',
  unsupported_parameter: 'invalid_request_error',
  model_not_priced: 'invalid_request_error',
  request_over_limit: 'invalid_request_error',
  context_length_exceeded: 'invalid_request_error',
  missing_api_key: 'authentication_error',
  invalid_api_key: 'authentication_error',
  key_expired: 'permission_error',
  model_not_allowed: 'permission_error',
  project_inactive: 'permission_error',
  permission_denied: 'permission_error',
  spend_cap_exceeded: 'billing_error',
  key_budget_exceeded: 'billing_error',
  model_not_found: 'not_found_error',
  not_found: 'not_found_error',
  method_not_allowed: 'invalid_request_error',
  conflict: 'invalid_request_error',
  idempotency_conflict: 'invalid_request_error',
  request_too_large: 'request_too_large',
  rate_limit_exceeded: 'rate_limit_error',
  customer_spend_limit: 'rate_limit_error',
  upstream_rejected: 'invalid_request_error',
  upstream_error: 'api_error',
  upstream_unavailable: 'overloaded_error',
  upstream_timeout: 'timeout_error',
  overloaded: 'overloaded_error',
  store_unavailable: 'api_error',
  client_closed: 'api_error',
  internal: 'api_error',
} as const satisfies Record<ErrorKind, ErrorType>;

const TOO_LARGE = 413;

/** The format's envelope, with what the gateway tells of every error inside `error`. */
export function encodeError(error: GatewayError, requestId?: string): string {
  const type: ErrorType = errorStatus(error) === TOO_LARGE ? 'request_too_large' : ERROR_TYPES[error.kind];
  return JSON.stringify({
    type: 'error',
    error: { type, message: error.message, ...encodeErrorDetails(error) },
    request_id: requestId ?? null,
  });
}
