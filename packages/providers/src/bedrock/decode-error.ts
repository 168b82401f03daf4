import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { createErrorDecoders, type ErrorAnswer } from '../transport/error-body';
import { PROVIDER } from './wire';

/**
 * Status by exception name in headers and streams: an error that may pass elsewhere or later must not look like the
 * caller's. Source:
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html#API_runtime_ConverseStream_Errors
 */
const STATUS_BY_EXCEPTION: Readonly<Record<string, number>> = {
  AccessDeniedException: 403,
  ExpiredTokenException: 401,
  InternalServerException: 500,
  InvalidSignatureException: 401,
  IncompleteSignature: 401,
  ModelErrorException: 500,
  ModelNotReadyException: 503,
  ModelStreamErrorException: 500,
  ModelTimeoutException: 504,
  ResourceNotFoundException: 404,
  ServiceQuotaExceededException: 429,
  ServiceUnavailableException: 503,
  ThrottlingException: 429,
  UnrecognizedClientException: 401,
  ValidationException: 400,
};

const ERRORS = createErrorDecoders({ provider: PROVIDER, statusByType: STATUS_BY_EXCEPTION });
export const { decodeErrorObject } = ERRORS;
/** Validation error that means an unknown model. */
const UNKNOWN_MODEL = /model identifier is invalid/i;

/** Any answer other than 2xx → one clear error. */
export function decodeError(answer: ErrorAnswer): GatewayError {
  // `ThrottlingException:http://internal.amazon.com/…`
  const exception = answer.headers.get('x-amzn-errortype')?.split(/[:,]/)[0] ?? '';
  const isUnknownModel = answer.status === 400 && UNKNOWN_MODEL.test(answer.body);
  const named = Object.hasOwn(STATUS_BY_EXCEPTION, exception) ? STATUS_BY_EXCEPTION[exception] : undefined;
  return ERRORS.decodeError({ ...answer, status: isUnknownModel ? 404 : (named ?? answer.status) });
}

/** `throttlingException`, as streams write it → `ThrottlingException`. */
export function exceptionName(name: string): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}
