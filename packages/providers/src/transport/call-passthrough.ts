// Upstream unreachable, slow or redirecting: one `GatewayError`; nothing is tried again, as a body may be gone by then.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { NativeRequest, PassthroughPart } from '../passthrough';
import type { Provider } from '../provider';
import type { ProviderConnection } from '../provider-request';
import { refuseRedirect, untilHeaders } from './fetch-upstream';

export { isBilledStatus } from '../billing/billed-statuses';
export { UsageEventFilter } from '../billing/drop-usage-event';
export { createUsageTap, type UsageTap } from '../billing/usage-tap';
export {
  atLeast,
  countReferences,
  hasVendorTools,
  type NativeShape,
  type UsageReader,
} from '../passthrough';
export { allowsPath } from '../path-rules';
export { hashInTurns } from './fetch-upstream';
export { hideSecrets } from './hide-secrets';
export { readStart, UpstreamBody } from './read-body';
export { mayBeBilled } from './upstream-failure';

/** A provider whose native API can be passed through. */
export type PassthroughProvider = Provider & { readonly passthrough: PassthroughPart };

export function passesThrough(provider: Provider): provider is PassthroughProvider {
  return provider.passthrough !== undefined;
}

/** The caller's part of the URL: what stands behind the provider's name. */
export interface NativePath {
  /** Begins with a slash. */
  readonly path: string;
  readonly query: URLSearchParams;
}

const CONTROL_OR_BACKSLASH = /[\\\p{Cc}]/u;

/** The vendor's URL; throws `invalid_request` for a path that could leave the provider's root. */
export function nativeUrl(provider: PassthroughProvider, connection: ProviderConnection, native: NativePath): URL {
  const { passthrough } = provider;
  const root = passthrough.root(connection);
  checkPath(native.path);
  const url = new URL(`${root}${behindVersion(root, native.path)}`);
  const base = new URL(root);
  const isBelow = url.pathname.startsWith(`${base.pathname.replace(/\/$/, '')}/`);
  if (url.origin !== base.origin || !isBelow) throw badPath();
  for (const [name, value] of native.query) url.searchParams.append(name, value);
  for (const [name, value] of Object.entries(passthrough.query?.(connection) ?? {})) {
    if (!url.searchParams.has(name)) url.searchParams.set(name, value);
  }
  return url;
}

/** A base URL that ends in a version has it once, whether the caller's path begins with one or not. */
function behindVersion(root: string, path: string): string {
  return /\/v1(?:alpha|beta)?$/.test(root) ? path.replace(/^\/v1(?:alpha|beta)?(?=\/)/, '') : path;
}

/** Dots that go up, in any spelling, and anything that some server may take for a slash. */
function checkPath(path: string): void {
  let text = path;
  for (let round = 0; round < 3; round++) {
    // Servers differ in what they take for a slash or a dot, and some leave out what follows a semicolon.
    const plain = text.normalize('NFKC');
    const isUp = plain.split('/').some((segment) => /^\.{1,2}(?:;|$)/.test(segment));
    const isOdd = CONTROL_OR_BACKSLASH.test(plain) || slashes(plain) !== slashes(text);
    if (isUp || isOdd || text.includes('//')) throw badPath();
    const decoded = decodePath(text);
    if (decoded === text) break;
    text = decoded;
  }
  if (!path.startsWith('/') || /[?#]/.test(path)) throw badPath();
}

const slashes = (text: string): number => text.split('/').length;

function decodePath(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badPath();
  }
}

function badPath(): GatewayError {
  return new GatewayError('invalid_request', 'This path cannot be passed on: it must be a plain path of the vendor.');
}

export interface NativeCall {
  readonly provider: Provider;
  readonly request: NativeRequest;
  readonly stream?: ReadableStream<Uint8Array>;
  /** Milliseconds until the answer's headers must be there, once the body was sent. */
  readonly timeoutMs: number;
  /** Aborts when the caller leaves, also while the answer is read. */
  readonly signal: AbortSignal;
  readonly fetch: typeof globalThis.fetch;
}

/** Sends one request as it is and waits for the answer's headers. */
export function callPassthrough(call: NativeCall): Promise<Response> {
  const { request, fetch } = call;
  const provider = call.provider.name;
  return untilHeaders({ ...call, provider }, async (signal, startTimer) => {
    const stream = call.stream === undefined ? undefined : notingEnd(call.stream, startTimer);
    if (stream === undefined) startTimer();
    const response = await fetch(request.url.href, {
      method: request.method,
      headers: { ...request.headers },
      body: stream ?? request.body,
      ...(stream === undefined ? {} : { duplex: 'half' }),
      ...{ redirect: 'manual', timeout: false, signal },
    } as RequestInit);
    if (response.status !== 304) refuseRedirect(provider, response);
    return response;
  });
}

/** The same stream, read only as fast as it is sent on; `onEnd` once all of it was. */
function notingEnd(stream: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        onEnd();
        controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
