import { ERROR_TABLE, errorStatus } from '@llm0/core/errors/error-table';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { encodeErrorDetails } from '../encode-error-details';

/** The format's words for errors by status; others are the request's own fault. Source: https://platform.claude.com/docs/en/api/errors */
const TYPE_BY_STATUS: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  499: 'api_error',
  500: 'api_error',
  502: 'api_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};
const TOO_LARGE = 413;

function typeOf(error: GatewayError): string {
  if (errorStatus(error) === TOO_LARGE) return 'request_too_large';
  // The gateway's own store is no sign that the vendor is busy.
  if (error.kind === 'store_unavailable') return 'api_error';
  return TYPE_BY_STATUS[ERROR_TABLE[error.kind].status] ?? 'invalid_request_error';
}

/** The format's envelope, with the gateway's error fields inside `error`. */
export function encodeError(error: GatewayError, requestId?: string): string {
  return JSON.stringify({
    type: 'error',
    error: { type: typeOf(error), message: error.message, ...encodeErrorDetails(error) },
    request_id: requestId ?? null,
  });
}
