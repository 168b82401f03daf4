import type { JsonObject } from '@llm0/core/chat/json';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { decodeErrorAnswer, decodeErrorObject as decodeObject, type ErrorAnswer } from '../transport/error-body';

const STATUS_BY_TYPE: Readonly<Record<string, number>> = {
  rate_limit_exceeded: 429,
  rate_limit_error: 429,
  insufficient_quota: 429,
  invalid_request_error: 400,
  overloaded_error: 529,
};

/** Any answer other than 2xx. Source: https://platform.openai.com/docs/guides/error-codes */
export function decodeError(provider: string, answer: ErrorAnswer): GatewayError {
  return decodeErrorAnswer({ provider, statusByType: STATUS_BY_TYPE }, answer);
}

/** An error object inside a 200 (a chunk of a stream, or a whole body); undefined when there is none. */
export function decodeErrorObject(provider: string, value: JsonObject): GatewayError | undefined {
  return decodeObject({ provider, statusByType: STATUS_BY_TYPE }, value);
}
