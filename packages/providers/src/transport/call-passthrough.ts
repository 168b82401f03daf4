// An unreachable, slow or redirecting upstream gives one `GatewayError`; no retry, because the body may be consumed.
import type { NativeRequest, PassthroughPart } from '../passthrough';
import type { Provider } from '../provider';
import type { ProviderConnection } from '../provider-request';
import { type HeadersWait, refuseRedirect, untilHeaders } from './fetch-upstream';
import { badPath, checkPath } from './native/native-path';
import { notingEnd } from './native/noting-end';

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
export { hashInSlices } from './fetch-upstream';
export { hideSecrets } from './hide-secrets';
export { readStart, UpstreamBody } from './read-body';
export { mayBeBilled } from './upstream-failure';

/** A provider with a native API. */
export type PassthroughProvider = Provider & { readonly passthrough: PassthroughPart };

export function passesThrough(provider: Provider): provider is PassthroughProvider {
  return provider.passthrough !== undefined;
}

/** The caller's part of the URL, after the provider's name. */
export interface NativePath {
  /** Begins with a slash. */
  readonly path: string;
  readonly query: URLSearchParams;
}

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

export interface NativeCall {
  readonly provider: Provider;
  readonly request: NativeRequest;
  readonly stream?: ReadableStream<Uint8Array>;
  /** Milliseconds until the answer's headers must be there, once the body was sent. */
  readonly timeoutMs: number;
  /** Milliseconds to connect. */
  readonly connectTimeoutMs?: number | undefined;
  /** Aborts when the caller leaves, also while the answer is read. */
  readonly signal: AbortSignal;
  readonly fetch: typeof globalThis.fetch;
}

/** Sends one request unchanged and waits for the headers. */
export function callPassthrough(call: NativeCall): Promise<Response> {
  const { request, fetch } = call;
  const provider = call.provider.name;
  const exchange = async (wait: HeadersWait) => {
    const stream = call.stream === undefined ? undefined : notingEnd(call.stream, { onEnd: () => wait.start() });
    if (stream === undefined) wait.start();
    const response = await fetch(request.url.href, {
      method: request.method,
      headers: { ...request.headers },
      body: stream ?? request.body,
      ...(stream === undefined ? {} : { duplex: 'half' }),
      ...{ redirect: 'manual', timeout: false, signal: wait.signal },
    } as RequestInit);
    if (response.status !== 304) refuseRedirect(provider, response);
    return response;
  };
  return untilHeaders({ ...call, provider }, exchange, request.url.href);
}
