import type { JsonObject } from '@llm0/core/chat/json';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { createErrorDecoders } from '../transport/error-body';
import { PROVIDER } from './wire';

/** Source: https://platform.claude.com/docs/en/api/errors */
const ERRORS = createErrorDecoders({
  provider: PROVIDER,
  statusByType: {
    invalid_request_error: 400,
    authentication_error: 401,
    billing_error: 402,
    permission_error: 403,
    not_found_error: 404,
    request_too_large: 413,
    rate_limit_error: 429,
    api_error: 500,
    timeout_error: 504,
    overloaded_error: 529,
  },
});

export const { decodeError } = ERRORS;

/** An error object inside a 200, or an event that is one; undefined when there is none. */
export function decodeErrorObject(value: JsonObject): GatewayError | undefined {
  return ERRORS.decodeErrorObject(value.type === 'error' && value.error === undefined ? { error: value } : value);
}
