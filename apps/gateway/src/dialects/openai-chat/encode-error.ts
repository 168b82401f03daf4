import type { JsonObject } from '@llm0/core/chat/json';
import { ERROR_TABLE } from '@llm0/core/errors/error-table';
import type { GatewayError } from '@llm0/core/errors/gateway-error';

/** The format's error envelope. `retry_after` is in whole seconds, never less than what is left. */
export function encodeErrorBody(error: GatewayError): JsonObject {
  const body: JsonObject = {
    message: error.message,
    type: ERROR_TABLE[error.kind].type,
    code: error.kind,
    param: error.param === undefined || error.param === '' ? null : error.param,
  };
  if (error.retryAfterMs !== undefined) body.retry_after = Math.max(1, Math.ceil(error.retryAfterMs / 1000));
  if (error.attempts !== undefined && error.attempts.length > 0) {
    body.attempts = error.attempts.map((attempt) => ({
      provider: attempt.provider,
      model: attempt.model,
      failure: attempt.failure,
      ...(attempt.status === undefined ? {} : { status: attempt.status }),
      latency_ms: attempt.latencyMs,
    }));
  }
  return { error: body };
}

export function encodeError(error: GatewayError): string {
  return JSON.stringify(encodeErrorBody(error));
}
