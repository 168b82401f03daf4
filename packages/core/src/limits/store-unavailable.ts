import { GatewayError } from '../errors/gateway-error';

/** The hot store cannot decide; stores recover by themselves, so a second later is worth a try. */
export function storeUnavailable(why: string, cause?: unknown): GatewayError {
  return new GatewayError('store_unavailable', `Limits cannot be checked right now (${why}). Try again shortly.`, {
    retryAfterMs: 1_000,
    ...(cause === undefined ? {} : { cause }),
  });
}
