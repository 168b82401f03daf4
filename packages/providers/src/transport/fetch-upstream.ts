// A failed upstream fails the attempt with one `GatewayError`; no retry here.

import { mapInSlices } from '@llm0/core/async/time-slices';
import { joinInSlices } from '@llm0/core/chat/write-json-in-slices';
import { GatewayError, givenUp } from '@llm0/core/errors/gateway-error';
import type { EndpointRequest } from '../provider-request';
import { LargeJson } from '../translation/json-body';
import { UnusableAnswerError } from './bounded-fetch';
import { isNotHttp, notConnected, upstreamFailure } from './upstream-failure';
import { watchConnecting } from './watch-connecting';

export interface FetchUpstreamOptions {
  /** Named in messages. */
  readonly provider: string;
  readonly request: EndpointRequest;
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
/** Speech is played while it arrives. */
const SMALL_AUDIO_BYTES = 64 * 1024;

/**
 * Sends one request and waits for its headers (and a small plain body). Throws failure `timeout` or `connection`, or
 * `client_closed`. Messages never hold the URL or the key.
 */
export async function fetchUpstream(options: FetchUpstreamOptions): Promise<FetchedAnswer> {
  const { provider, request, fetch } = options;
  const { body, headers } = request.body instanceof LargeJson ? await writeLarge(request, request.body) : request;
  const exchange = async (wait: HeadersWait): Promise<FetchedAnswer> => {
    wait.start();
    const response = await fetch(request.url, {
      method: request.method,
      headers,
      body,
      redirect: 'manual',
      signal: wait.signal,
      // The runtime's idle limit would cut long reasoning; the body's reader has its own.
      timeout: false,
    } as RequestInit);
    if (!response.ok) refuseRedirect(provider, response);
    return isSmallPlain(response) ? { response, bytes: await response.bytes() } : { response };
  };
  return untilHeaders(options, exchange, request.url);
}

async function writeLarge({ headers, sign }: EndpointRequest, json: LargeJson) {
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

type WaitOptions = Pick<FetchUpstreamOptions, 'provider' | 'timeoutMs' | 'connectTimeoutMs' | 'signal'>;

/** The wait for one answer's headers: one timer, whatever may take too long, and no closures. */
export class HeadersWait {
  private readonly controller = new AbortController();
  /** Aborts the exchange. */
  readonly signal = this.controller.signal;
  private late: GatewayError | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private stopWatching: (() => void) | undefined;

  constructor(
    private readonly options: WaitOptions,
    /** URL of the connection; absent without a connect time-out. */
    private readonly url?: string,
  ) {
    options.signal.addEventListener('abort', this);
  }

  /** The time begins. */
  start(): void {
    if (this.timer !== undefined) return;
    const { timeoutMs, connectTimeoutMs = timeoutMs } = this.options;
    if (this.url === undefined || connectTimeoutMs >= timeoutMs) this.timer = setTimeout(giveUp, timeoutMs, this);
    else this.timer = setTimeout(watchConnection, connectTimeoutMs / 2, this, this.url, connectTimeoutMs);
  }

  /** No answer after half of the time to connect: the other half shows whether the host is there. */
  watchConnection(url: string, connectTimeoutMs: number): void {
    const { provider, timeoutMs } = this.options;
    const withinMs = connectTimeoutMs / 2;
    const onFailed = () => this.giveUp(notConnected(provider, connectTimeoutMs));
    this.timer = setTimeout(giveUp, timeoutMs - withinMs, this);
    this.stopWatching = watchConnecting({ url, withinMs, onFailed });
  }

  giveUp(error = noAnswer(this.options.provider, this.options.timeoutMs)): void {
    this.late ??= error;
    this.controller.abort();
  }

  /** The caller left. */
  handleEvent(): void {
    this.controller.abort();
  }

  /** The error to tell of when the exchange failed with `cause`. */
  failureOf(cause: unknown): GatewayError {
    if (cause instanceof GatewayError) return cause;
    if (this.options.signal.aborted) return givenUp(this.options.signal);
    return this.late ?? connectionError(this.options.provider, cause);
  }

  end(): void {
    clearTimeout(this.timer);
    this.stopWatching?.();
    this.options.signal.removeEventListener('abort', this);
  }
}

const giveUp = (wait: HeadersWait): void => wait.giveUp();
const watchConnection = (wait: HeadersWait, url: string, ms: number): void => wait.watchConnection(url, ms);

const noAnswer = (provider: string, ms: number) =>
  upstreamFailure('timeout', provider, `did not answer within ${Math.round(ms)} ms.`);

/** One exchange that ends when the caller leaves or in time after the wait was started, with the matching error. */
export async function untilHeaders<T>(
  options: WaitOptions,
  exchange: (wait: HeadersWait) => Promise<T>,
  url?: string,
): Promise<T> {
  if (options.signal.aborted) throw givenUp(options.signal);
  const wait = new HeadersWait(options, url);
  try {
    return await exchange(wait);
  } catch (error) {
    throw wait.failureOf(error);
  } finally {
    wait.end();
  }
}

/** Throws for statuses that no client understands. */
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
  const type = response.ok ? (response.headers.get('content-type') ?? '') : '';
  const isAudio = type.startsWith('audio/');
  if (!isAudio && !type.startsWith('application/json')) return false;
  const length = response.headers.get('content-length');
  return length !== null && Number(length) <= (isAudio ? SMALL_AUDIO_BYTES : SMALL_BODY_BYTES);
}

/** A connection that failed or broke, named by its error code only: messages of the runtime may hold the URL. */
export function connectionError(provider: string, error: unknown): GatewayError {
  if (error instanceof UnusableAnswerError) return upstreamFailure('malformed', provider, error.message, error);
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const shown = code !== undefined && /^[A-Za-z_0-9]{2,40}$/.test(code) ? ` (${code})` : '';
  const what = isNotHttp(code) ? "didn't answer in HTTP" : 'could not be reached or closed the connection';
  return upstreamFailure('connection', provider, `${what}${shown}.`, error);
}
