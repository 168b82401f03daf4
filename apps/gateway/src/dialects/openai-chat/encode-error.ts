import type { JsonObject } from '@llm0/core/chat/json';
import { ERROR_TABLE } from '@llm0/core/errors/error-table';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { encodeErrorDetails } from '../encode-error-details';

/** The format's error envelope. */
export function encodeErrorBody(error: GatewayError): JsonObject {
  return { error: { message: error.message, type: ERROR_TABLE[error.kind].type, ...encodeErrorDetails(error) } };
}

export function encodeError(error: GatewayError): string {
  return JSON.stringify(encodeErrorBody(error));
}
