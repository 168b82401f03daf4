// Without the hot store: 503 `store_unavailable`, whatever its client threw.
import { GatewayError } from '@llm0/core/errors/gateway-error';

const RETRY_AFTER_MS = 1000;

/** Runs calls to the hot store; a failure means that it is unreachable. */
export async function askHotStore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    const message = 'The hot store is unreachable. Try again.';
    throw new GatewayError('store_unavailable', message, { cause, retryAfterMs: RETRY_AFTER_MS });
  }
}
