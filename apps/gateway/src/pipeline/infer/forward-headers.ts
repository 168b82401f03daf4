import type { Backend } from '@llm0/core/backends/backend';
import type { RequestFields } from '@llm0/core/http-cache/use-answer';

/** Headers that belong to one connection. Source: https://www.rfc-editor.org/rfc/rfc9110#field.connection */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
  ...['proxy-authenticate', 'proxy-authorization', 'http2-settings'],
]);

/** Forwarded headers: representation, body and cache control, never identity or another path. */
const USUAL_REQUEST: ReadonlySet<string> = new Set([
  ...['accept', 'accept-charset', 'accept-encoding', 'accept-language', 'user-agent', 'prefer', 'last-event-id'],
  ...['content-type', 'content-encoding', 'content-language', 'content-disposition', 'content-range'],
  ...['content-md5', 'content-digest', 'repr-digest', 'digest', 'cache-control', 'pragma', 'range', 'if-range'],
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'],
]);

export const isUsualRequestHeader = (name: string): boolean => USUAL_REQUEST.has(name);

/** Response headers that a backend may not set. */
const OWN_RESPONSE: ReadonlySet<string> = new Set([
  ...['set-cookie', 'set-cookie2', 'strict-transport-security', 'alt-svc', 'server', 'via', 'clear-site-data'],
  ...['x-request-id', 'x-cache', 'x-provider', 'x-model', 'x-overhead-ms', 'x-cost-usd', 'x-warning', 'x-failover'],
  ...['x-original-provider', 'x-idempotent-replay', 'x-downgraded-from'],
  // Orders to the proxy before the gateway.
  ...['x-accel-redirect', 'x-accel-expires', 'x-accel-limit-rate', 'x-accel-charset', 'x-sendfile'],
  ...['x-lighttpd-send-file', 'x-reproxy-url'],
]);
const OWN_RESPONSE_PREFIXES = [
  ...['access-control-', 'x-ratelimit-', 'x-spend-', 'x-customer-', 'x-llm0-', 'x-tokens-', 'x-cache-', 'proxy-'],
] as const;

export type FieldTable = Record<string, string>;

/** The caller's headers for the backend: the usual ones and those that the operator named, and the operator's over all. */
export function requestFields(
  headers: Headers,
  backend: Pick<Backend, 'headers' | 'forwardHeaders'>,
  requestId: string,
): FieldTable {
  const { forwardHeaders } = backend;
  const kept = keep(headers, (name) => USUAL_REQUEST.has(name) || forwardHeaders.includes(name));
  dropLookalikes(kept, backend.headers);
  // By default, request no encoding that the caller can't read.
  kept['accept-encoding'] ??= 'identity';
  kept['x-request-id'] = requestId;
  return Object.assign(kept, backend.headers);
}

/** Forwardable headers of the backend; reports its cookies, so that nobody caches such an answer. */
export function responseFields(headers: Headers): { readonly fields: FieldTable; readonly setsCookie: boolean } {
  return { fields: keep(headers, (name) => responseNames.fits(name)), setsCookie: headers.has('set-cookie') };
}

function keep(headers: Headers, isWanted: (name: string) => boolean): FieldTable {
  const connection = headers.get('connection');
  const named = connection?.split(',').map((name) => name.trim().toLowerCase());
  const kept: FieldTable = {};
  headers.forEach((value, name) => {
    if (isWanted(name) && named?.includes(name) !== true) kept[name] = value;
  });
  return kept;
}

/** Names that are asked for again and again; callers may invent others without end. */
const MAX_NAMES = 500;
const MAX_NAME_LENGTH = 64;

/** Matches header names and caches the result for each name. */
class NameRule {
  private readonly known = new Map<string, boolean>();

  /** `read`: the name as the least careful server reads it. */
  constructor(private readonly fitsRead: (read: string) => boolean) {}

  fits(name: string): boolean {
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const fits = this.fitsRead(asRead(name));
    if (this.known.size < MAX_NAMES && name.length <= MAX_NAME_LENGTH) this.known.set(name, fits);
    return fits;
  }
}

const responseNames = new NameRule(
  (read) =>
    !HOP_BY_HOP.has(read) && !OWN_RESPONSE.has(read) && !OWN_RESPONSE_PREFIXES.some((start) => read.startsWith(start)),
);

const ODD = /[^a-z0-9-]/g;

/** CGI and WSGI take `x_user` and `x-user` for one name, and some servers every other sign as well. */
export const asRead = (name: string): string => (name.search(ODD) === -1 ? name : name.replace(ODD, '-'));

/** The operator's header replaces every spelling of it. */
function dropLookalikes(fields: FieldTable, operators: Readonly<FieldTable>): void {
  const names = Object.keys(operators);
  if (names.length === 0) return;
  const reads = new Set(names.map(asRead));
  for (const name of Object.keys(fields)) if (reads.has(asRead(name))) delete fields[name];
}

/** Reads fields from a table. */
export const fieldsIn = (table: Readonly<FieldTable>): RequestFields => ({ get: (name) => table[name] ?? null });

/**
 * Rewrites a redirect for the gateway's callers; an external or already correct one stays. `path`: of the request below
 * the backend's URL.
 */
export function redirectPath(location: string, { name, url }: Pick<Backend, 'name' | 'url'>, path: string): string {
  const base = new URL(url);
  const root = base.pathname.replace(/\/$/, '');
  const target = URL.parse(location, `${base.origin}${root}${path}`);
  if (target === null || target.origin !== base.origin) return location;
  const isBelow = root === '' || target.pathname === root || target.pathname.startsWith(`${root}/`);
  const rest = `${target.search}${target.hash}`;
  // A URL relative to a backend's page would lead to another backend.
  if (!isBelow) return location.startsWith('/') || URL.canParse(location) ? location : `${target.pathname}${rest}`;
  const told = `/infer/${name}${target.pathname.slice(root.length)}${rest}`;
  const followed = URL.parse(location, `http://gateway/infer/${name}${path}`);
  const isThere = followed?.host === 'gateway' && `${followed.pathname}${followed.search}${followed.hash}` === told;
  return isThere ? location : told;
}
