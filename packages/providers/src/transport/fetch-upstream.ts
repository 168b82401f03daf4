// A failed upstream fails the attempt with one `GatewayError`; no retry here.

import { mapInSlices } from '@llm0/core/async/time-slices';
import { joinInSlices } from '@llm0/core/chat/write-json-in-slices';
import { clientClosed, GatewayError } from '@llm0/core/errors/gateway-error';
import type { UpstreamRequest } from '../provider-request';
import { LargeJson } from '../translation/json-body';
import { UnusableAnswerError } from './bounded-fetch';
import { isNotHttp, notConnected, upstreamFailure } from './upstream-failure';
import { watchConnecting } from './watch-connecting';

export interface FetchUpstreamOptions {
  /** Named in messages. */
  readonly provider: string;
  readonly request: UpstreamRequest;
  /** Milliseconds until the answer's headers must be there. */
  readonly timeoutMs: number;
  /** Milliseconds to connect, where headers may take longer. */
  readonly connectTimeoutMs?: number | undefined;
  /** The caller left; fires at most until the headers are there. */
  readonly signal: AbortSignal;
  readonly fetch: typeof globalThis.fetch;
}

/** An upstream's answer; a small body with a known length is already read. */
export interface FetchedAnswer {
  readonly response: Response;
  readonly bytes?: Uint8Array;
}

/** Up to here a plain body of known length is taken whole, which costs a fraction of reading a stream. */
const SMALL_BODY_BYTES = 1024 * 1024;

/**
 * Sends one request and waits for its headers (and a small plain body). Throws failure `timeout` or `connection`, or
 * `client_closed`. Messages never hold the URL or the key.
 */
export async function fetchUpstream(options: FetchUpstreamOptions): Promise<FetchedAnswer> {
  const { provider, request, fetch } = options;
  const { body, headers } = request.body instanceof LargeJson ? await writeLarge(request, request.body) : request;
  const take = (response: Response): FetchedAnswer | Promise<FetchedAnswer> => {
    refuseRedirect(provider, response);
    return isSmallPlain(response) ? response.bytes().then((bytes) => ({ response, bytes })) : { response };
  };
  return untilHeaders({ ...options, url: request.url }, (signal, startTimer) => {
    startTimer();
    return fetch(request.url, {
      method: request.method,
      headers,
      body,
      redirect: 'manual',
      signal,
      // The runtime's idle limit would cut long reasoning; the body's reader has its own.
      timeout: false,
    } as RequestInit).then(take);
  });
}

async function writeLarge({ headers, sign }: UpstreamRequest, json: LargeJson) {
  const pieces = await json.pieces();
  const signature = sign?.(await hashInSlices(pieces));
  return { body: await joinInSlices(pieces), headers: { ...headers, ...signature } };
}

/** SHA-256, hex. */
export async function hashInSlices(pieces: readonly Uint8Array[]): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256');
  await mapInSlices(pieces, (piece) => void hasher.update(piece));
  return hasher.digest('hex');
}

interface HeadersWait extends Pick<FetchUpstreamOptions, 'provider' | 'timeoutMs' | 'connectTimeoutMs' | 'signal'> {
  /** URL of the connection; absent without a connect time-out. */
  readonly url?: string;
}

const noAnswer = (provider: string, ms: number) =>
  upstreamFailure('timeout', provider, `did not answer within ${Math.round(ms)} ms.`);

/** One exchange that ends when the caller leaves or `timeoutMs` after `startTimer`, with the matching error. */
export async function untilHeaders<T>(
  { provider, timeoutMs, connectTimeoutMs, url, signal }: HeadersWait,
  exchange: (signal: AbortSignal, startTimer: () => void) => Promise<T>,
): Promise<T> {
  if (signal.aborted) throw clientClosed();
  const controller = new AbortController();
  const onAbort = () => controller.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  let late: GatewayError | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const giveUp = (error: GatewayError) => {
    late ??= error;
    controller.abort();
  };
  let stopWatching: (() => void) | undefined;
  const startTimer = () => {
    if (timer !== undefined) return;
    timer = setTimeout(() => giveUp(noAnswer(provider, timeoutMs)), timeoutMs);
    if (url === undefined || connectTimeoutMs === undefined || connectTimeoutMs >= timeoutMs) return;
    const onFailed = () => giveUp(notConnected(provider, connectTimeoutMs));
    stopWatching = watchConnecting({ url, withinMs: connectTimeoutMs, onFailed });
  };
  try {
    return await exchange(controller.signal, startTimer);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    if (signal.aborted) throw clientClosed();
    if (late !== undefined) throw late;
    throw connectionError(provider, error);
  } finally {
    clearTimeout(timer);
    stopWatching?.();
    signal.removeEventListener('abort', onAbort);
  }
}

/** Statuses that no client understands. */
export function refuseOddStatus(provider: string, response: Response): void {
  const { status } = response;
  if (status >= 200 && status <= 599) return;
  void response.body?.cancel().catch(() => {});
  throw upstreamFailure('malformed', provider, `answered with the invalid status ${status}.`);
}

/** A redirect could carry the key to another host. */
export function refuseRedirect(provider: string, response: Response): void {
  const { status } = response;
  refuseOddStatus(provider, response);
  if (status < 300 || status >= 400) return;
  void response.body?.cancel().catch(() => {});
  throw upstreamFailure('malformed', provider, `answered with a redirect (${status}), which is refused.`);
}

function isSmallPlain(response: Response): boolean {
  if (!response.ok || response.headers.get('content-type')?.startsWith('application/json') !== true) return false;
  const length = response.headers.get('content-length');
  return length !== null && Number(length) <= SMALL_BODY_BYTES;
}

/** A connection that failed or broke, named by its error code only: messages of the runtime may hold the URL. */
export function connectionError(provider: string, error: unknown): GatewayError {
  if (error instanceof UnusableAnswerError) return upstreamFailure('malformed', provider, error.message, error);
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const shown = code !== undefined && /^[A-Za-z_0-9]{2,40}$/.test(code) ? ` (${code})` : '';
  const what = isNotHttp(code) ? "didn't answer in HTTP" : 'could not be reached or closed the connection';
  return upstreamFailure('connection', provider, `${what}${shown}.`, error);
}
