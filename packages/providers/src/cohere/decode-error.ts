import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { createErrorDecoders, type ErrorAnswer } from '../transport/error-body';
import { PROVIDER } from './wire';

const ERRORS = createErrorDecoders({ provider: PROVIDER, statusByType: {} });
export const { decodeErrorObject } = ERRORS;

/** The vendor's own status for a key that is none. Source: https://docs.cohere.com/reference/errors */
const INVALID_TOKEN = 498;

/** Any answer other than 2xx → one clear error. */
export function decodeError(answer: ErrorAnswer): GatewayError {
  return ERRORS.decodeError({ ...answer, status: answer.status === INVALID_TOKEN ? 401 : answer.status });
}
