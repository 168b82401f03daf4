import type { JsonObject } from '@llm0/core/chat/json';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { formatUsdShort } from '@llm0/core/pricing/format-usd';

/** Common fields of error envelopes. `retry_after`: whole seconds, rounded up. */
export function encodeErrorDetails(error: GatewayError): JsonObject {
  const details: JsonObject = {
    code: error.kind,
    param: error.param === undefined || error.param === '' ? null : error.param,
  };
  if (error.retryAfterMs !== undefined) details.retry_after = Math.max(1, Math.ceil(error.retryAfterMs / 1000));
  if (error.budget !== undefined) {
    details.spent_usd = Number(formatUsdShort(error.budget.spentNanoUsd));
    details.reserved_usd = Number(formatUsdShort(error.budget.heldNanoUsd));
    details.budget_usd = Number(formatUsdShort(error.budget.limitNanoUsd));
  }
  if (error.attempts !== undefined && error.attempts.length > 0) {
    details.attempts = error.attempts.map((attempt) => ({
      provider: attempt.provider,
      model: attempt.model,
      failure: attempt.failure,
      ...(attempt.status === undefined ? {} : { status: attempt.status }),
      latency_ms: attempt.latencyMs,
    }));
  }
  return details;
}
