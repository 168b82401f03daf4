// Upstream unreachable, slow or redirecting: the attempt fails with one `GatewayError`; nothing is retried here.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { UpstreamRequest } from '../provider-request';
import { upstreamFailure } from './upstream-failure';

export interface FetchUpstreamOptions {
  /** Named in messages. */
  readonly provider: string;
  readonly request: UpstreamRequest;
  /** Milliseconds until the answer's headers must be there. */
  readonly timeoutMs: number;
  /** The caller left; fires at most until the headers are there. */
  readonly signal: AbortSignal;
  readonly fetch: typeof globalThis.fetch;
}

export function clientClosed(): GatewayError {
  return new GatewayError('client_closed', 'The caller closed the connection.');
}

/** An upstream's answer; where its body is small and its length known, the body is there already. */
export interface FetchedAnswer {
  readonly response: Response;
  readonly bytes?: Uint8Array;
}

/** Up to here a plain body of known length is taken whole, which costs a fraction of reading a stream. */
const SMALL_BODY_BYTES = 1024 * 1024;

/**
 * Sends one request and waits for its headers (and a small plain body). Redirects are refused: they could carry the key to another host.
 * Throws failure `timeout` or `connection`, or `client_closed`. Messages never hold the URL or the key.
 */
export async function fetchUpstream(options: FetchUpstreamOptions): Promise<FetchedAnswer> {
  const { provider, request, timeoutMs, signal } = options;
  if (signal.aborted) throw clientClosed();
  const controller = new AbortController();
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    controller.abort();
  }, timeoutMs);
  const onAbort = () => controller.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const response = await options.fetch(request.url, {
      method: request.method,
      headers: request.headers,
      body: request.body,
      redirect: 'manual',
      signal: controller.signal,
      // The runtime's own idle limit would cut long thinking short; ours is kept by the reader of the body.
      timeout: false,
    } as RequestInit);
    if (response.status >= 300 && response.status < 400) {
      void response.body?.cancel().catch(() => {});
      throw upstreamFailure('malformed', provider, `answered with a redirect (${response.status}), which is refused.`);
    }
    return isSmallPlain(response) ? { response, bytes: await response.bytes() } : { response };
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    if (signal.aborted) throw clientClosed();
    if (timedOut) throw upstreamFailure('timeout', provider, `did not answer within ${timeoutMs} ms.`, error);
    throw connectionError(provider, error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

function isSmallPlain(response: Response): boolean {
  if (!response.ok || response.headers.get('content-type')?.startsWith('application/json') !== true) return false;
  const length = response.headers.get('content-length');
  return length !== null && Number(length) <= SMALL_BODY_BYTES;
}

/** A connection that failed or broke, named by its error code only: messages of the runtime may hold the URL. */
export function connectionError(provider: string, error: unknown): GatewayError {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const shown = code !== undefined && /^[A-Za-z_0-9]{2,40}$/.test(code) ? ` (${code})` : '';
  return upstreamFailure('connection', provider, `could not be reached or closed the connection${shown}.`, error);
}
