import { type AttemptSummary, GatewayError, type UpstreamFailure } from '@llm0/core/errors/gateway-error';
import type { LogAttempt } from '@llm0/core/logs/log-record';
import { isUnresolved, KIND_BY_FAILURE } from '@llm0/providers/transport/call-provider';

/** How the last attempt's failure is told to the caller (contract: errors; last cause wins). */
const FINAL_KIND = {
  ...KIND_BY_FAILURE,
  not_found: 'model_not_found',
} as const satisfies Record<UpstreamFailure, GatewayError['kind']>;

const DEFAULT_RETRY_AFTER_MS = 1000;

/** The one error of all attempts; last cause wins. `soonestRetryMs`: Infinity where no vendor named a time. */
export function finalFailure(
  error: GatewayError,
  attempts: readonly LogAttempt[],
  soonestRetryMs: number,
): GatewayError {
  const kind = kindOf(error);
  const soonestMs = Number.isFinite(soonestRetryMs) ? soonestRetryMs : DEFAULT_RETRY_AFTER_MS;
  return new GatewayError(kind, error.message, {
    param: error.param,
    retryAfterMs: kind === 'upstream_unavailable' ? soonestMs : error.retryAfterMs,
    status: kind === 'upstream_rejected' ? (error.status ?? error.upstreamStatus) : undefined,
    failure: error.failure,
    upstreamStatus: error.upstreamStatus,
    attempts: attempts.map(summarize),
    cause: error.cause,
  });
}

/** A host whose name leads nowhere is away, as one that is switched off. */
function kindOf(error: GatewayError): GatewayError['kind'] {
  if (error.failure === undefined) return error.kind;
  return error.failure === 'connection' && isUnresolved(error) ? 'upstream_unavailable' : FINAL_KIND[error.failure];
}

function summarize({ outcome, latencyMs, ...attempt }: LogAttempt): AttemptSummary {
  return { ...attempt, failure: outcome, latencyMs: Math.round(latencyMs) };
}
