import { type CacheControl, parseCacheControl, readSecondsMs } from './cache-control';

/** Header fields by name in lower case. */
export type HeaderFields = Readonly<Record<string, string>>;

/** An answer without its body. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: HeaderFields;
}

/** Epoch milliseconds. */
export interface AnswerTimes {
  readonly requestedAtMs: number;
  readonly receivedAtMs: number;
}

/** Stored GET answer with its lifetimes in milliseconds. */
export interface StoredAnswer extends AnswerHead {
  readonly body: Uint8Array;
  readonly receivedAtMs: number;
  /** Age on arrival. */
  readonly initialAgeMs: number;
  readonly lifetimeMs: number;
  /** Time after the lifetime: during a background refresh, and during failures of the origin. */
  readonly staleWhileRevalidateMs: number;
  readonly staleIfErrorMs: number;
  /** Each use has to be validated first (`no-cache`). */
  readonly isAlwaysValidated: boolean;
  /** True if it must never be served stale. */
  readonly isNeverStale: boolean;
  /** Request fields that chose it (`Vary`). */
  readonly vary: readonly string[];
}

/** Statuses understood here; partial answers and validations can't be stored. */
const UNDERSTOOD: ReadonlySet<number> = new Set([
  ...[200, 203, 204, 300, 301, 302, 303, 307, 308],
  ...[404, 405, 410, 414, 451, 501],
]);
/** Statuses with a default lifetime. Errors have none, or they would outlive their cause. */
const KEPT_BY_DEFAULT: ReadonlySet<number> = new Set([200, 203, 204, 300, 301, 308, 410]);
const MAX_VARY = 16;

/** True if an answer to GET may be stored for any time. Source: https://www.rfc-editor.org/rfc/rfc9111#section-3 */
function mayKeep({ status, headers }: AnswerHead, control: CacheControl): boolean {
  if (!UNDERSTOOD.has(status) || control.has('no-store') || control.has('private')) return false;
  if (headers['content-range'] !== undefined) return false;
  // An answer with a cookie is private unless it says otherwise.
  return headers['set-cookie'] === undefined || control.has('public') || control.has('s-maxage');
}

export interface KeepRules extends AnswerTimes {
  /** Default lifetime of answers without their own. */
  readonly defaultTtlMs: number;
  readonly alwaysVary: readonly string[];
}

/** Cacheable part of a GET answer without its body; undefined if not cacheable. */
export function describeAnswer(head: AnswerHead, rules: KeepRules): Omit<StoredAnswer, 'body'> | undefined {
  const { status, headers } = head;
  const control = controlOf(headers);
  const vary = varyOf(headers, rules.alwaysVary);
  if (vary === undefined || !mayKeep(head, control)) return undefined;
  const lifetimeMs = lifetimeOf(head, control, rules);
  if (lifetimeMs === undefined) return undefined;
  const isNeverStale = ['must-revalidate', 'proxy-revalidate', 's-maxage'].some((name) => control.has(name));
  const known = {
    ...{ status, headers, vary, lifetimeMs, isNeverStale },
    receivedAtMs: rules.receivedAtMs,
    initialAgeMs: initialAgeOf(headers, rules),
    staleWhileRevalidateMs: isNeverStale ? 0 : (control.ms('stale-while-revalidate') ?? 0),
    staleIfErrorMs: isNeverStale ? 0 : (control.ms('stale-if-error') ?? 0),
    isAlwaysValidated: control.has('no-cache') || isPragmaNoCache(headers),
  };
  return isOfUse(known) ? known : undefined;
}

const isPragmaNoCache = (headers: HeaderFields): boolean =>
  headers['cache-control'] === undefined && parseCacheControl(headers.pragma).has('no-cache');

/** True if a stale answer can be revalidated or served after a failure. */
function isOfUse(answer: Omit<StoredAnswer, 'body'>): boolean {
  const isUsable = answer.lifetimeMs > answer.initialAgeMs && !answer.isAlwaysValidated;
  return isUsable || answer.staleWhileRevalidateMs > 0 || answer.staleIfErrorMs > 0 || hasValidator(answer);
}

/** Size of all fields in characters, about their memory. */
export function fieldsLength(headers: HeaderFields): number {
  let length = 0;
  for (const name in headers) length += name.length + (headers[name]?.length ?? 0);
  return length;
}

export const hasValidator = ({ headers }: AnswerHead): boolean =>
  headers.etag !== undefined || headers['last-modified'] !== undefined;

/** Variants of `Cache-Control` for caches between: https://www.rfc-editor.org/rfc/rfc9213 and its predecessors. */
const isForCaches = (name: string): boolean =>
  name.endsWith('-cache-control') || name === 'surrogate-control' || name === 'edge-control';

/** The strictest cache directive counts. */
function controlOf(headers: HeaderFields): CacheControl {
  let said = headers['cache-control'];
  for (const name in headers) if (isForCaches(name)) said = `${said ?? ''},${headers[name]}`;
  return parseCacheControl(said);
}

function saysMore(headers: HeaderFields): boolean {
  for (const name in headers) if (isForCaches(name)) return true;
  return false;
}

/** Source: https://www.rfc-editor.org/rfc/rfc9111#section-4.2.1. undefined = not storable. */
function lifetimeOf({ status, headers }: AnswerHead, control: CacheControl, rules: KeepRules): number | undefined {
  const shared = control.ms('s-maxage');
  const any = control.ms('max-age');
  // With several fields, their source doesn't matter.
  const said = saysMore(headers) && shared !== undefined && any !== undefined ? Math.min(shared, any) : (shared ?? any);
  if (said !== undefined) return said;
  if (headers.expires !== undefined) {
    const expiresMs = readDate(headers.expires);
    if (expiresMs === undefined) return 0;
    return Math.max(0, expiresMs - (readDate(headers.date) ?? rules.receivedAtMs));
  }
  if (control.has('no-cache') || isPragmaNoCache(headers)) return 0;
  if (isEndless(headers)) return undefined;
  return KEPT_BY_DEFAULT.has(status) || control.has('public') ? rules.defaultTtlMs : undefined;
}

/** Endless event streams have no storable state. */
const isEndless = (headers: HeaderFields): boolean =>
  headers['content-type']?.toLowerCase().startsWith('text/event-stream') === true;

/** Source: https://www.rfc-editor.org/rfc/rfc9111#section-4.2.3 */
function initialAgeOf(headers: HeaderFields, { requestedAtMs, receivedAtMs }: AnswerTimes): number {
  const dateMs = readDate(headers.date) ?? receivedAtMs;
  const apparentMs = Math.max(0, receivedAtMs - dateMs);
  const [first] = splitAge(headers.age);
  return Math.max(apparentMs, (readSecondsMs(first) ?? 0) + Math.max(0, receivedAtMs - requestedAtMs));
}

/** With values of several proxies, the first counts. */
const splitAge = (text: string | undefined): readonly string[] => (text ?? '').split(',').map((part) => part.trim());

/** Epoch milliseconds; undefined for an invalid HTTP date. */
export function readDate(text: string | undefined): number | undefined {
  if (text === undefined || !/^[A-Za-z]{3,9},? .*\d/.test(text.slice(0, 64))) return undefined;
  const ms = Date.parse(text.slice(0, 64));
  return Number.isNaN(ms) ? undefined : ms;
}

/** Names in lower case, sorted; undefined where no request ever matches (`*`). */
function varyOf(headers: HeaderFields, always: readonly string[]): readonly string[] | undefined {
  if (headers.vary === undefined && headers['content-encoding'] === undefined) return always;
  const names = (headers.vary ?? '').toLowerCase().split(',');
  const given = new Set(names.map((name) => name.trim()).filter((name) => name !== ''));
  // A compressed answer depends on `Accept-Encoding`, declared or not.
  if (headers['content-encoding'] !== undefined) given.add('accept-encoding');
  if (given.has('*') || given.size > MAX_VARY) return undefined;
  for (const name of always) given.add(name);
  return [...given].sort();
}
