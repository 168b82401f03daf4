// An error body that trickles for ever is omitted.
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Provider } from '../provider';
import type { ProviderConnection } from '../provider-request';
import { hideSecrets } from './hide-secrets';
import { readStart, UpstreamBody } from './read-body';

const MAX_ERROR_BYTES = 64 * 1024;
/** An error's own words are worth waiting for only briefly. */
const ERROR_BODY_TIMEOUT_MS = 5000;

export interface FailedAnswer {
  readonly provider: Provider;
  /** Connection whose secrets are removed from the vendor's text. */
  readonly connection: ProviderConnection;
  readonly signal: AbortSignal;
  /** Time limit for the error's body if below 5 s, in milliseconds. */
  readonly withinMs?: number;
}

/** An answer other than 2xx as the gateway's own error. */
export async function readFailure(response: Response, failed: FailedAnswer): Promise<GatewayError> {
  const { provider, connection, signal, withinMs } = failed;
  const idleTimeoutMs = Math.min(ERROR_BODY_TIMEOUT_MS, withinMs ?? ERROR_BODY_TIMEOUT_MS);
  const body = new UpstreamBody(response.body, { provider: provider.name, idleTimeoutMs, signal });
  const timer = setTimeout(() => body.close(), idleTimeoutMs);
  try {
    const text = hideSecrets(await readStart(body, MAX_ERROR_BYTES), connection);
    return provider.decodeError(response.status, response.headers, text);
  } finally {
    clearTimeout(timer);
    body.close();
  }
}
