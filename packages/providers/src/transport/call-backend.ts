// A failed backend gives one `GatewayError`; no retry here.
import { refuseOddStatus, untilHeaders } from './fetch-upstream';
import { notingEnd } from './native/noting-end';
import { upstreamFailure } from './upstream-failure';

export { checkPath } from './native/native-path';
export { UpstreamBody } from './read-body';
export { readRetryAfterMs } from './retry-after';
export { wasMalformed, wasNeverSent } from './upstream-failure';

export interface BackendCall {
  /** Named in messages. */
  readonly backend: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly stream?: ReadableStream<Uint8Array>;
  /** Milliseconds until the answer's headers (and a small body) must be there once the body was sent, and for taking each part of it. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly fetch: typeof globalThis.fetch;
  /** Called once the status is there, before anything of the body is read. */
  readonly onStatus?: (status: number) => void;
}

/** A backend's answer; a small body with a known length is already read. */
export interface BackendAnswer {
  readonly response: Response;
  readonly bytes?: Uint8Array;
}

/** Read at once: a stream costs more than the whole of it. */
const SMALL_BODY_BYTES = 64 * 1024;

/** Sends one request and waits for the answer's headers (and a small body). Redirects are answers as others are. */
export function callBackend(call: BackendCall): Promise<BackendAnswer> {
  const { backend: provider, method, url, headers, fetch } = call;
  if (call.stream === undefined) {
    return untilHeaders({ ...call, provider }, async (wait) => {
      wait.start();
      return readSmall(call, await fetch(url, { method, headers, ...OPTIONS, signal: wait.signal } as RequestInit));
    });
  }
  return sendBody(call, call.stream);
}

const OPTIONS = { redirect: 'manual', timeout: false, decompress: false } as const;

function sendBody(call: BackendCall, stream: ReadableStream<Uint8Array>): Promise<BackendAnswer> {
  const { backend: provider, method, url, headers, timeoutMs, fetch } = call;
  return untilHeaders({ ...call, provider }, async (wait) => {
    const stalled = new AbortController();
    const late = Promise.withResolvers<never>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const body = notingEnd(stream, {
      onWanted: () => clearTimeout(timer),
      onTaken: () => {
        timer = setTimeout(() => {
          late.reject(upstreamFailure('timeout', provider, `read nothing of the body for ${timeoutMs} ms.`));
          stalled.abort();
        }, timeoutMs);
      },
      onEnd: () => wait.start(),
    });
    const init = {
      method,
      headers,
      body,
      duplex: 'half',
      ...OPTIONS,
      signal: AbortSignal.any([wait.signal, stalled.signal]),
    };
    try {
      return await readSmall(call, await Promise.race([fetch(url, init as RequestInit), late.promise]));
    } finally {
      clearTimeout(timer);
      late.promise.catch(() => {});
    }
  });
}

async function readSmall({ backend, onStatus }: BackendCall, response: Response): Promise<BackendAnswer> {
  refuseOddStatus(backend, response);
  onStatus?.(response.status);
  const length = response.headers.get('content-length');
  if (length === null || Number(length) > SMALL_BODY_BYTES || response.body === null) return { response };
  return { response, bytes: await response.bytes() };
}
