/** Directives of a `Cache-Control` field, by name in lower case. Source: https://www.rfc-editor.org/rfc/rfc9111#section-5.2 */
export class CacheControl {
  constructor(private readonly directives: ReadonlyMap<string, string | undefined>) {}

  has(name: string): boolean {
    return this.directives.has(name);
  }

  /** Milliseconds of a directive; undefined if absent. An invalid number counts as 0, so the answer is stale. */
  ms(name: string): number | undefined {
    if (!this.directives.has(name)) return undefined;
    return readSecondsMs(this.directives.get(name)) ?? 0;
  }

  /** Like `ms`, but unbounded without a value. */
  unboundedMs(name: string): number | undefined {
    const isBare = this.directives.has(name) && this.directives.get(name) === undefined;
    return isBare ? Number.POSITIVE_INFINITY : this.ms(name);
  }
}

/** Larger values mean as much: https://www.rfc-editor.org/rfc/rfc9111#section-1.2.2 */
const MAX_SECONDS = 2 ** 31;
const MAX_DIRECTIVES = 100;

/** Milliseconds of a `delta-seconds`; undefined for anything else. */
export function readSecondsMs(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,20}$/.test(text)) return undefined;
  return Math.min(Number(text), MAX_SECONDS) * 1000;
}

const NOTHING = new CacheControl(new Map());

/** Backends repeat their values; callers may send any. */
const MAX_KNOWN = 200;
const MAX_KNOWN_LENGTH = 200;
const known = new Map<string, CacheControl>();

export function parseCacheControl(text: string | null | undefined): CacheControl {
  if (text === null || text === undefined || text === '') return NOTHING;
  const before = known.get(text);
  if (before !== undefined) return before;
  const parsed = parse(text);
  if (text.length <= MAX_KNOWN_LENGTH) {
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(text, parsed);
  }
  return parsed;
}

function parse(text: string): CacheControl {
  const directives = new Map<string, string | undefined>();
  // Some separate them by semicolons, which other caches take for commas, or the whole for nothing.
  for (const part of splitList(text, ',;')) {
    const equals = part.indexOf('=');
    const name = (equals === -1 ? part : part.slice(0, equals)).trim().toLowerCase();
    if (name === '' || directives.size >= MAX_DIRECTIVES) continue;
    const value = equals === -1 ? undefined : unquote(part.slice(equals + 1).trim());
    directives.set(name, directives.has(name) ? lower(directives.get(name), value) : value);
  }
  return new CacheControl(directives);
}

/** The stricter of two equal directives counts. */
function lower(one: string | undefined, other: string | undefined): string | undefined {
  return (readSecondsMs(one) ?? 0) <= (readSecondsMs(other) ?? 0) ? one : other;
}

/** Elements of a list; separators in quoted strings are none. */
export function splitList(text: string, separators = ','): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isQuoted && character === '\\') at++;
    else if (character === '"') isQuoted = !isQuoted;
    else if (character !== undefined && separators.includes(character) && !isQuoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

const unquote = (text: string): string =>
  text.length >= 2 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1).replaceAll('\\', '') : text;
