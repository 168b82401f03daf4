import { type CacheControl, parseCacheControl, splitList } from './cache-control';
import {
  type AnswerHead,
  describeAnswer,
  type HeaderFields,
  hasValidator,
  type KeepRules,
  readDate,
  type StoredAnswer,
} from './stored-answer';

/** A request's fields, by name in any case. */
export interface RequestFields {
  get(name: string): string | null;
}

/** `fresh`; `stale`: usable during a background refresh; or only after validation. */
export type Usability = 'fresh' | 'stale' | 'validate';

/** Cache directives of a request, with the old header as a fallback. */
export function requestControl(fields: RequestFields): CacheControl {
  const text = fields.get('cache-control');
  return parseCacheControl(text ?? (/no-cache/i.test(fields.get('pragma') ?? '') ? 'no-cache' : null));
}

export const ageOf = ({ initialAgeMs, receivedAtMs }: StoredAnswer, nowMs: number): number =>
  initialAgeMs + Math.max(0, nowMs - receivedAtMs);

/** Usability of a stored answer for a request. Source: https://www.rfc-editor.org/rfc/rfc9111#section-4 */
export function usabilityOf(answer: StoredAnswer, control: CacheControl, nowMs: number): Usability {
  if (answer.isAlwaysValidated || control.has('no-cache')) return 'validate';
  const ageMs = ageOf(answer, nowMs);
  const overMs = ageMs - answer.lifetimeMs;
  if (ageMs > (control.ms('max-age') ?? Number.POSITIVE_INFINITY)) return 'validate';
  const freshMs = control.ms('min-fresh');
  if (freshMs !== undefined && -overMs < freshMs) return 'validate';
  if (overMs < 0) return 'fresh';
  if (answer.isNeverStale) return 'validate';
  if (overMs < answer.staleWhileRevalidateMs) return 'stale';
  const takesMs = control.unboundedMs('max-stale');
  return takesMs !== undefined && overMs <= takesMs ? 'stale' : 'validate';
}

/** True if it may replace a failed origin's answer. Source: https://www.rfc-editor.org/rfc/rfc5861#section-4 */
export function mayStandIn(answer: StoredAnswer, control: CacheControl, nowMs: number): boolean {
  if (answer.isNeverStale || answer.isAlwaysValidated || control.has('no-cache')) return false;
  const mostMs = Math.max(answer.staleIfErrorMs, control.ms('stale-if-error') ?? 0);
  return mostMs > 0 && ageOf(answer, nowMs) - answer.lifetimeMs < mostMs;
}

/** Storage time: as long as it is usable, plus a day if it can be revalidated. */
export function keptMs(answer: Omit<StoredAnswer, 'body'>): number {
  const { lifetimeMs, initialAgeMs, staleWhileRevalidateMs, staleIfErrorMs } = answer;
  const usableMs = lifetimeMs - initialAgeMs + Math.max(staleWhileRevalidateMs, staleIfErrorMs);
  return Math.max(0, usableMs) + (hasValidator(answer) ? DAY_MS : 0);
}

const DAY_MS = 86_400_000;

/** Freshness lifetime. */
export const usableMs = (answer: Omit<StoredAnswer, 'body'>): number =>
  answer.isAlwaysValidated ? 0 : answer.lifetimeMs - answer.initialAgeMs + answer.staleWhileRevalidateMs;

/** Headers for revalidation; empty without a validator. */
export function validationFields({ headers }: StoredAnswer): Readonly<Record<string, string>> {
  const { etag, 'last-modified': lastModified } = headers;
  return {
    ...(etag === undefined ? {} : { 'if-none-match': etag }),
    ...(lastModified === undefined ? {} : { 'if-modified-since': lastModified }),
  };
}

/** Fields of the stored body or of the connection. */
const KEPT_FIELDS: ReadonlySet<string> = new Set([
  ...['content-length', 'content-encoding', 'content-type', 'content-range', 'transfer-encoding', 'set-cookie'],
]);

/**
 * The stored answer renewed by a 304; undefined if that is about another one. Source:
 * https://www.rfc-editor.org/rfc/rfc9111#section-4.3.4
 */
export function renewAnswer(answer: StoredAnswer, validated: HeaderFields, rules: KeepRules): StoredAnswer | undefined {
  const { etag } = validated;
  if (etag !== undefined && (answer.headers.etag === undefined || !isSameTag(etag, answer.headers.etag)))
    return undefined;
  const { age: _age, ...before } = answer.headers;
  const news = Object.entries(validated).filter(([name]) => !KEPT_FIELDS.has(name));
  const head: AnswerHead = { status: answer.status, headers: { ...before, ...Object.fromEntries(news) } };
  const described = describeAnswer(head, rules);
  return described === undefined ? undefined : { ...described, body: answer.body };
}

const opaque = (tag: string): string => tag.trim().replace(/^W\//, '');
/** The weak comparison of https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3.2 */
const isSameTag = (one: string, other: string): boolean => opaque(one) === opaque(other);

/** True where the caller has this very answer already. Source: https://www.rfc-editor.org/rfc/rfc9110#section-13.2.2 */
export function isKnownToCaller({ status, headers }: AnswerHead, fields: RequestFields): boolean {
  if (status !== 200) return false;
  const tags = fields.get('if-none-match');
  if (tags !== null) {
    const { etag } = headers;
    return tags.trim() === '*' || (etag !== undefined && splitList(tags).some((tag) => isSameTag(tag, etag)));
  }
  const since = readDate(fields.get('if-modified-since') ?? undefined);
  const modified = readDate(headers['last-modified'] ?? headers.date);
  return since !== undefined && modified !== undefined && modified <= since;
}

const NOT_MODIFIED_FIELDS = ['cache-control', 'content-location', 'date', 'etag', 'expires', 'vary', 'last-modified'];

/** Fields of the answer that goes out, with its age; of a 304 those that it has to have. */
export function fieldsOf(answer: StoredAnswer, nowMs: number, isNotModified: boolean): Record<string, string> {
  const { headers } = answer;
  const age = { age: String(Math.floor(ageOf(answer, nowMs) / 1000)) };
  if (!isNotModified) return { ...headers, ...age };
  const own = NOT_MODIFIED_FIELDS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]));
  return { ...(Object.fromEntries(own) as Record<string, string>), ...age };
}
