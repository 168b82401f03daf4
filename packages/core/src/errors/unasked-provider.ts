import type { Target } from '../routing/target';
import { type ErrorKind, GatewayError } from './gateway-error';

/** Nobody knows when the operator undoes it. */
const DRAINED_RETRY_MS = 30_000;
const FULL_RETRY_MS = 1000;

/** Refusal of a request that only a drained provider may answer. */
export function drained(target: Target): GatewayError {
  const message =
    `The operator drained the provider "${target.provider}": it takes no new requests, and no other target may ` +
    'answer. Retry later, or name a model of another provider.';
  return unasked('upstream_unavailable', target, { message, failure: 'drained', retryAfterMs: DRAINED_RETRY_MS });
}

/** Refusal of a request that only a provider at its limit may answer. */
export function atLimit(target: Target): GatewayError {
  const message =
    `The provider "${target.provider}" has as many requests under way as the operator allows (max_concurrency), and ` +
    'no other target may answer. Retry shortly.';
  return unasked('upstream_rate_limited', target, {
    message,
    failure: 'concurrency_limit',
    retryAfterMs: FULL_RETRY_MS,
  });
}

interface Reason {
  readonly message: string;
  readonly failure: string;
  readonly retryAfterMs: number;
}

function unasked(kind: ErrorKind, { provider, model }: Target, { message, failure, retryAfterMs }: Reason) {
  const attempts = [{ provider, model, failure, latencyMs: 0 }];
  return new GatewayError(kind, message, { retryAfterMs, attempts });
}
