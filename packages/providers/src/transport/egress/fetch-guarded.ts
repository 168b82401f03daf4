// A refused, unreachable, slow or oversized URL fails with one `invalid_request`; no retry.
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { untilGone } from '@llm0/core/async/until-gone';
import { GatewayError, givenUp } from '@llm0/core/errors/gateway-error';
import type { AddressSet } from './address-set';
import { isPrivateAddress } from './private-addresses';

/** All addresses of a host name. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

export interface EgressOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly resolve?: ResolveHost;
  /** Hosts (`name`, or `name:port`) that may be private; none by default. */
  readonly allowedHosts?: ReadonlySet<string>;
  /** Private addresses allowed for any name. */
  readonly allowedRanges?: AddressSet;
  /** Additional trusted certificates, as PEM. */
  readonly ca?: string;
}

export interface GuardedRequest extends EgressOptions {
  readonly url: string;
  /** Milliseconds for everything: names, redirects and the whole body. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Called for every chunk; throws beyond the limit. */
  readonly onBytes?: (bytes: number) => void;
  readonly signal: AbortSignal;
}

export interface GuardedAnswer {
  readonly bytes: Uint8Array;
  /** Lower-cased, without parameters; empty where none was sent. */
  readonly contentType: string;
}

const MAX_REDIRECTS = 3;

/**
 * Fetches an external URL. Resolves its name once and pins the address, so that it can't change after the check.
 * Refuses private, link-local and metadata addresses at every redirect.
 */
export async function fetchGuarded(request: GuardedRequest): Promise<GuardedAnswer> {
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const signal = AbortSignal.any([request.signal, timeout]);
  try {
    // A name look-up can't be cancelled, but the caller stops waiting.
    return await untilGone(followRedirects(request, signal), signal);
  } catch (error) {
    if (request.signal.aborted) throw givenUp(request.signal);
    if (timeout.aborted) throw refused(request.url, `did not answer within ${Math.round(request.timeoutMs)} ms`, error);
    throw error instanceof GatewayError ? error : refused(request.url, 'could not be fetched', error);
  }
}

async function followRedirects(request: GuardedRequest, signal: AbortSignal): Promise<GuardedAnswer> {
  let url = request.url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const target = await pinUrl(url, request);
    const response = await request.fetch(target.url, {
      headers: { host: target.host, accept: '*/*', 'accept-encoding': 'identity' },
      redirect: 'manual',
      signal,
      tls: { ...(target.serverName === undefined ? {} : { serverName: target.serverName }), ca: request.ca },
    } as RequestInit);
    const location = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && location !== null) {
      void response.body?.cancel().catch(() => {});
      url = resolveLocation(location, url);
      continue;
    }
    if (!response.ok) {
      void response.body?.cancel().catch(() => {});
      throw refused(request.url, `answered with status ${response.status}`);
    }
    const contentType = (response.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
    return { bytes: await readBounded(request, response), contentType };
  }
  throw refused(request.url, `redirects more than ${MAX_REDIRECTS} times`);
}

function resolveLocation(location: string, base: string): string {
  const url = URL.parse(location, base);
  if (url === null) throw refused(base, 'redirects to something that is no URL');
  return url.href;
}

/** A URL with a verified address as its host. */
export interface PinnedUrl {
  readonly url: string;
  /** For the `Host` header. */
  readonly host: string;
  /** Server name of the certificate; undefined for addresses. */
  readonly serverName?: string;
}

/** Checks where a URL leads and pins the address. Throws `invalid_request` for anything but public http(s). */
export async function pinUrl(
  text: string,
  options: Pick<EgressOptions, 'resolve' | 'allowedHosts' | 'allowedRanges'>,
): Promise<PinnedUrl> {
  const url = readUrl(text);
  const { host, hostname } = url;
  const name = hostname.replace(/^\[|\]$/g, '');
  const allowed = options.allowedHosts?.has(name) === true || options.allowedHosts?.has(host) === true;
  const isAddress = isIP(name) !== 0;
  const addresses = isAddress ? [name] : await resolveName(text, name, options.resolve ?? resolveWithSystem);
  // One private address among public ones is a trap: the next look-up might give that one.
  const isForbidden = (address: string) => isPrivateAddress(address) && options.allowedRanges?.holds(address) !== true;
  if (!allowed && addresses.some(isForbidden)) throw refused(text, 'leads to an address that is not public');
  const [address] = addresses;
  if (address === undefined) throw refused(text, 'names a host that could not be resolved');
  url.hostname = isIP(address) === 6 ? `[${address}]` : address;
  return { url: url.href, host, ...(isAddress ? {} : { serverName: name.replace(/\.$/, '') }) };
}

/** Throws `invalid_request` for an invalid URL, another protocol or credentials. */
export function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw refused(text, 'is not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refused(text, 'is not an http(s) URL');
  if (url.username !== '' || url.password !== '') throw refused(text, 'holds credentials');
  return url;
}

async function resolveName(url: string, name: string, resolve: ResolveHost): Promise<readonly string[]> {
  try {
    return await resolve(name);
  } catch (error) {
    throw refused(url, 'names a host that could not be resolved', error);
  }
}

async function resolveWithSystem(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

async function readBounded(request: GuardedRequest, response: Response): Promise<Uint8Array> {
  const { maxBytes, url } = request;
  const declared = Number(response.headers.get('content-length') ?? 0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    request.onBytes?.(chunk.byteLength);
    if (Math.max(size, declared) > maxBytes) throw refused(url, `is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const SHOWN_CHARACTERS = 200;

/** `reason` continues the name of the URL. */
export class RefusedUrl extends GatewayError {
  constructor(
    url: string,
    readonly reason: string,
    cause?: unknown,
  ) {
    super('invalid_request', `The URL "${shownUrl(url)}" ${reason}.`, { param: 'messages', cause });
  }
}

/** Without its query, which may hold a signature. */
const shownUrl = (url: string): string =>
  (url.split(/[?#]/)[0] ?? '').replace(/\/\/[^/@]*@/, '//').slice(0, SHOWN_CHARACTERS);

export const refused = (url: string, reason: string, cause?: unknown): RefusedUrl => new RefusedUrl(url, reason, cause);
